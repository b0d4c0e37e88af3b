// SPDX-License-Identifier: GPL-3.0-or-later
// Tags, notes and the archive of runs, changed by several hands: a quick one, another studio over
// the same folders, and Undo.
#include "core/train/record/annotations.h"
#include "tests/support/weft_test.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/models/run_table_model.h"
#include "ui/pages/runs/runs_page.h"
#include "ui/pages/runs/runs_table.h"

#include <QPushButton>

#include <algorithm>

namespace {

using namespace weft;
using test::kPatienceMs;
using train::Annotations;
using Kind = ui::RunColumn::Kind;
namespace fs = std::filesystem;

/// The one run of a studio in a table, as the Runs page has it.
class Hand {
public:
    explicit Hand(ui::Studio& studio) : model_(studio.index(), curves_) {
        std::vector<ui::RunColumn> columns(3);
        columns[1].kind = Kind::Tags;
        columns[2].kind = Kind::Notes;
        model_.setColumns(std::move(columns));
        studio.index().refresh();
    }
    bool sees(const QString& tags, const QString& notes) const {
        return model_.rowCount() == 1 && text(1) == tags && text(2) == notes;
    }
    bool types(Kind column, const QString& text) {
        return model_.setData(model_.index(0, column == Kind::Tags ? 1 : 2), text, Qt::EditRole);
    }

private:
    QString text(int column) const { return model_.index(0, column).data(Qt::EditRole).toString(); }

    ui::RunCurves curves_;
    ui::RunTableModel model_;
};

/// A studio with one run that trained once.
struct OneRun {
    OneRun() {
        test::write_file(folder / "config.json", "{}");
        train::RunInfo info;
        info.id = info.name = "a";
        info.state = "finished";
        train::write_run_info(folder, info);
        test::write_file(folder / "events.jsonl",
                         train::to_line({1, 100.0, train::StepEvent{}}) + "\n");
    }
    Annotations written() const { return train::read_annotations(folder, nullptr); }

    test::StudioFixture fixture;
    fs::path folder = fixture.root() / "runs" / "2026-01-01_a";
};

} // namespace

class AnnotationsTest : public QObject {
    Q_OBJECT
private slots:
    void a_note_typed_while_a_tag_is_being_written_keeps_the_tag() {
        OneRun run;
        Hand hand(run.fixture.studio());
        QTRY_VERIFY_WITH_TIMEOUT(hand.sees("", ""), kPatienceMs);
        QVERIFY(hand.types(Kind::Tags, "good"));
        QVERIFY(hand.types(Kind::Notes, "a thought"));
        QTRY_VERIFY_WITH_TIMEOUT(hand.sees("good", "a thought"), kPatienceMs);
        QCOMPARE(run.written(), (Annotations{{"good"}, "a thought", false}));
    }

    void what_another_studio_noted_since_stays() {
        OneRun run;
        ui::Studio other(run.fixture.studio().paths());
        Hand here(run.fixture.studio());
        Hand there(other);
        QTRY_VERIFY_WITH_TIMEOUT(here.sees("", "") && there.sees("", ""), kPatienceMs);
        QVERIFY(here.types(Kind::Tags, "good, first"));
        QTRY_VERIFY_WITH_TIMEOUT(here.sees("good, first", ""), kPatienceMs);
        QVERIFY(there.sees("", "")); // and does not know it
        QVERIFY(there.types(Kind::Notes, "a thought"));
        QTRY_VERIFY_WITH_TIMEOUT(there.sees("good, first", "a thought"), kPatienceMs);
        QVERIFY(here.types(Kind::Tags, "good"));
        QTRY_VERIFY_WITH_TIMEOUT(here.sees("good", "a thought"), kPatienceMs);
        QVERIFY(there.types(Kind::Tags, "good, first, wide"));
        QTRY_VERIFY_WITH_TIMEOUT(there.sees("good, wide", "a thought"), kPatienceMs);
        QCOMPARE(run.written(), (Annotations{{"good", "wide"}, "a thought", false}));
    }

    void undo_takes_back_its_own_edit_and_nothing_of_others() {
        OneRun run;
        auto& page = run.fixture.window();
        page.showPage("runs");
        auto* table = static_cast<ui::RunsTable*>(run.fixture.find("runTable"));
        Hand here(run.fixture.studio());
        ui::Studio other(run.fixture.studio().paths());
        Hand there(other);
        QTRY_VERIFY_WITH_TIMEOUT(here.sees("", "") && there.sees("", "") &&
                                     table->model()->rowCount() == 1,
                                 kPatienceMs);
        table->selectRow(0);
        run.fixture.click("archiveRuns");
        QTRY_VERIFY_WITH_TIMEOUT(run.written().archived, kPatienceMs);
        QVERIFY(there.types(Kind::Notes, "a thought"));
        QTRY_COMPARE_WITH_TIMEOUT(run.written(), (Annotations{{}, "a thought", true}), kPatienceMs);
        const auto buttons = page.findChildren<QPushButton*>();
        const auto undo = std::find_if(buttons.begin(), buttons.end(), [](QPushButton* button) {
            return button->isVisible() && button->text() == "Undo";
        });
        QVERIFY(undo != buttons.end());
        (*undo)->click();
        QTRY_VERIFY_WITH_TIMEOUT(!run.written().archived, kPatienceMs);
        QCOMPARE(run.written(), (Annotations{{}, "a thought", false}));
    }
};

WEFT_TEST(AnnotationsTest)
#include "annotations_test.moc"
