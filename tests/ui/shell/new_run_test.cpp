// SPDX-License-Identifier: GPL-3.0-or-later
// How a run begins and is found again: the dialog for a new one, and the list of what was opened.
#include "core/train/measure/machine_cost.h"
#include "tests/support/weft_test.h"
#include "tests/ui/hands.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/actions.h"
#include "ui/bridge/convert.h"
#include "ui/shell/new_run_dialog.h"
#include "widgets/controls/command_palette.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/text_label.h"

#include <QComboBox>
#include <QFileDialog>
#include <QLineEdit>
#include <QMenu>
#include <QPointer>
#include <QPushButton>
#include <QSignalSpy>
#include <QTimer>

namespace {

using namespace weft;
using test::kPatienceMs;
namespace fs = std::filesystem;
using Entry = ui::RecentPaths::Entry;

fs::path write_config(const test::StudioFixture& fixture, const std::string& name) {
    const fs::path file = fixture.root() / "mine" / name;
    test::write_file(file, test::tiny_config());
    return file;
}

std::vector<fs::path> paths_of(const ui::RecentPaths& recent) {
    std::vector<fs::path> paths;
    for (const Entry& entry : recent.entries()) {
        paths.push_back(entry.path);
    }
    return paths;
}

ui::NewRunDialog* dialog_of(test::StudioFixture& fixture) {
    for (auto* dialog : fixture.window().findChildren<ui::NewRunDialog*>()) {
        if (dialog->isVisible()) {
            return dialog;
        }
    }
    return nullptr;
}

QAction* entry_of(test::StudioFixture& fixture, int index) {
    auto* menu = fixture.window().findChild<QMenu*>("openRecent");
    return menu->findChild<QAction*>("recent." + QString::number(index));
}

} // namespace

class NewRunTest : public QObject {
    Q_OBJECT

private slots:
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void what_is_opened_from_outside_closes_it_and_the_dialog_for_files_over_it() {
        test::StudioFixture fixture;
        fixture.press(Qt::Key_N, Qt::ControlModifier);
        QTRY_VERIFY(dialog_of(fixture) != nullptr);
        QPointer<QFileDialog> files;
        QTimer watch;
        connect(&watch, &QTimer::timeout, &watch, [&] {
            files = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
            if (files != nullptr) {
                watch.stop();
                QCOMPARE(fixture.studio().opener().open(fixture.preset()), QString());
            }
        });
        watch.start(10);
        // Returns when the dialog for files has ended.
        QTest::mouseClick(dialog_of(fixture)->findChild<QWidget*>("newDataFile"), Qt::LeftButton);
        QVERIFY(files == nullptr);
        QVERIFY(dialog_of(fixture) == nullptr);
        QCOMPARE(fixture.studio().draft().name(), QString("tiny"));
    }

    void it_begins_empty_and_becomes_a_run_page_by_page() {
        test::StudioFixture fixture;
        const ui::Draft& draft = fixture.studio().draft();
        fixture.press(Qt::Key_N, Qt::ControlModifier);
        QTRY_VERIFY(dialog_of(fixture) != nullptr);
        QTest::keyClick(dialog_of(fixture), Qt::Key_Return);
        QTRY_VERIFY(dialog_of(fixture) == nullptr);
        QCOMPARE(fixture.window().currentPage(), QString("data"));
        QVERIFY(fixture.find("dataEmpty")->isVisible());
        QVERIFY(!draft.isEmpty() && !draft.isValid());
        QCOMPARE(fixture.window().page("model")->navState(), widgets::NavState::Empty);
        fixture.studio().draft().setField("seed", 11);
        fixture.click("builtIn.points");
        QTRY_VERIFY_WITH_TIMEOUT(draft.isValid() && !draft.obstacle(), kPatienceMs);
        QCOMPARE(draft.name(), QString("points"));
        QCOMPARE(draft.config().seed, std::uint64_t{11}); // what was given stays
        QCOMPARE(fixture.window().findChild<widgets::ToastHost*>()->visibleCount(), 0);
        QVERIFY(fixture.window().actions().get(ui::action::kStart)->isEnabled());
        fixture.studio().draft().undo(); // the data with all that it brought
        QVERIFY(!draft.document().contains("model"));
    }

    void before_there_are_data_a_model_can_be_chosen() {
        test::StudioFixture fixture;
        fixture.studio().draft().setEmpty(fixture.root());
        fixture.window().showPage("model");
        QVERIFY(fixture.find("modelChoice")->isVisible());
        QVERIFY(!fixture.find("modelTrouble")->isVisible());
        fixture.click("model.mlp");
        QVERIFY(!fixture.find("modelChoice")->isVisible());
        const ui::Draft& draft = fixture.studio().draft();
        QVERIFY(draft.isUnfinished()); // the data is missing
        fixture.window().showPage("plan");
        QCOMPARE(fixture.window().page("plan")->navState(), widgets::NavState::Empty);
        fixture.click("planField");
        QCOMPARE(fixture.window().currentPage(), QString("data"));
        fixture.click("builtIn.points");
        QVERIFY(draft.isValid());
        QCOMPARE(draft.config().model_type(), std::string("mlp"));
        fixture.studio().draft().setField("training.global_batch_size", 0);
        QVERIFY(!draft.isUnfinished());
        QTRY_COMPARE(fixture.window().page("plan")->navState(), widgets::NavState::Error);
    }

    void an_edited_draft_that_it_replaces_comes_back_by_undo() {
        test::StudioFixture fixture;
        fixture.studio().draft().open(fixture.preset());
        fixture.studio().draft().setField("seed", 5);
        const std::string edited = fixture.studio().draft().text();
        fixture.window().actions().get(ui::action::kNewRun)->trigger();
        QTest::mouseClick(fixture.find("newEmpty"), Qt::LeftButton);
        QCOMPARE(fixture.window().findChild<widgets::ToastHost*>()->visibleCount(), 1);
        fixture.press(Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(fixture.studio().draft().text(), edited);
    }

    void a_preset_is_chosen_by_name() {
        test::StudioFixture fixture;
        fixture.window().actions().get(ui::action::kNewRun)->trigger();
        auto* presets = static_cast<QComboBox*>(fixture.find("newPresets"));
        QTRY_COMPARE_WITH_TIMEOUT(presets->currentText(), QString("tiny"), kPatienceMs);
        QTest::mouseClick(fixture.find("newPresetUse"), Qt::LeftButton);
        QCOMPARE(fixture.studio().draft().path(), fixture.preset());
        QVERIFY(dialog_of(fixture) == nullptr);
        QCOMPARE(fixture.window().currentPage(), QString("home"));
    }

    void a_preset_says_how_good_it_becomes_and_once_measured_how_long_it_takes() {
        test::StudioFixture fixture;
        test::write_file(fixture.root() / "presets" / "measured" / "quality.json",
                         R"({"presets": {"tiny": {"metric": "test/accuracy", "value": 0.8973}}})");
        fixture.reopen();
        const auto label = [&](const char* name) {
            return fixture.find("preset.tiny")->findChild<widgets::TextLabel*>(name);
        };
        QCOMPARE(label("presetQuality")->text(), QString("89.7 % test accuracy"));
        QVERIFY(!label("presetTime")->isVisible());
        QVERIFY(label("presetQuality")->alignment().testFlag(Qt::AlignLeft)); // beside no hole
        cost::Calibration taught{train::machine_key(0), cost::Ceilings{}, {}};
        taught.ceilings->limits = {1e9, 1e9, 1e9, 1e-6};
        taught.ceilings->bf16_unit = "f32";
        fs::create_directories(test::StudioFixture::calibration().parent_path());
        cost::write_calibration(test::StudioFixture::calibration(), taught);
        fixture.studio().measure().measured(); // as when it was measured
        QTRY_VERIFY_WITH_TIMEOUT(label("presetTime")->text().startsWith("≈ "), kPatienceMs);
        fs::remove(test::StudioFixture::calibration());
    }

    void a_machine_that_was_not_measured_can_be_where_times_are_missing() {
        test::StudioFixture fixture;
        QWidget* measure = fixture.find("measureForPresets");
        QTRY_VERIFY_WITH_TIMEOUT(measure->isVisible(), kPatienceMs);
        fixture.click("measureForPresets");
        QVERIFY(fixture.studio().measure().isRunning());
        fixture.click("measureForPresets"); // enough of it
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().measure().isRunning(), kPatienceMs);
        QVERIFY(measure->isVisible());
    }

    void data_of_ones_own_is_looked_at() {
        test::StudioFixture fixture;
        const fs::path table = fixture.root() / "table.csv";
        test::write_file(table, "a,b\n1,2\n3,4\n");
        fixture.window().actions().get(ui::action::kNewRun)->trigger();
        dialog_of(fixture)->askForData = [&](bool folder) {
            return folder ? QString() : ui::pathText(table);
        };
        QSignalSpy offered(&fixture.studio().opener(), &ui::PathOpener::dataOffered);
        QTest::mouseClick(fixture.find("newDataFolder"), Qt::LeftButton); // nothing was chosen
        QVERIFY(dialog_of(fixture) != nullptr);
        QTest::mouseClick(fixture.find("newDataFile"), Qt::LeftButton);
        QCOMPARE(offered.count(), 1);
        QVERIFY(dialog_of(fixture) == nullptr);
    }

    void what_was_opened_is_listed_the_newest_first_also_after_a_restart() {
        test::StudioFixture fixture;
        const fs::path first = write_config(fixture, "first.json");
        const fs::path second = write_config(fixture, "second.json");
        QVERIFY(!fixture.find("homeRecent")->isVisible());
        for (const fs::path& file : {first, second, first, fixture.preset()}) {
            fixture.window().open(ui::pathText(file));
        }
        const std::vector<fs::path> wanted{first, second}; // presets are on Home
        QTRY_COMPARE(paths_of(fixture.studio().recent()), wanted);
        fixture.reopen();
        QTRY_COMPARE(paths_of(fixture.studio().recent()), wanted);
        test::Mouse mouse(fixture);
        QVERIFY(mouse.pressEntry("homeRecent", "recent.1"));
        QTRY_COMPARE(fixture.studio().draft().path(), second);
        QTRY_COMPARE(paths_of(fixture.studio().recent()).front(), second);
    }

    void what_is_gone_is_grey_and_says_so() {
        test::StudioFixture fixture;
        const fs::path file = write_config(fixture, "gone.json");
        fixture.window().open(ui::pathText(file));
        QTRY_VERIFY(entry_of(fixture, 0) != nullptr && entry_of(fixture, 0)->isEnabled());
        fs::remove(file);
        auto* menu = fixture.window().findChild<QMenu*>("openRecent");
        menu->popup({0, 0}); // looks again
        QTRY_VERIFY(!entry_of(fixture, 0)->isEnabled());
        QVERIFY(entry_of(fixture, 0)->text().contains("no longer there"));
        menu->close();
    }

    void the_palette_opens_what_was_opened() {
        test::StudioFixture fixture;
        const fs::path file = write_config(fixture, "zebra.json");
        fixture.window().open(ui::pathText(file));
        QTRY_COMPARE(fixture.studio().recent().entries().size(), std::size_t{1});
        fixture.studio().draft().open(fixture.preset());
        fixture.window().actions().get(ui::action::kPalette)->trigger();
        auto* palette = fixture.window().findChild<widgets::CommandPalette*>();
        QTest::keyClicks(palette->filter(), "recent zebra");
        QTest::keyClick(palette->filter(), Qt::Key_Return);
        QCOMPARE(fixture.studio().draft().path(), file);
    }

    void the_list_is_cleared() {
        test::StudioFixture fixture;
        auto* forget = fixture.window().actions().get(ui::action::kClearRecent);
        QVERIFY(!forget->isEnabled());
        fixture.window().open(ui::pathText(write_config(fixture, "one.json")));
        QTRY_VERIFY(forget->isEnabled());
        test::Mouse mouse(fixture);
        QVERIFY(mouse.pressEntry("homeRecent", ui::action::kClearRecent));
        QTRY_VERIFY(fixture.studio().recent().entries().empty());
        QVERIFY(!fixture.find("homeRecent")->isVisible());
        fixture.reopen();
        QSignalSpy changed(&fixture.studio().recent(), &ui::RecentPaths::changed);
        fixture.window().open(ui::pathText(write_config(fixture, "two.json")));
        QTRY_COMPARE(fixture.studio().recent().entries().size(), std::size_t{1});
    }

    void two_studios_share_one_list() {
        test::StudioFixture fixture;
        const fs::path file = fixture.root() / "shared.json";
        ui::RecentPaths one(file);
        ui::RecentPaths other(file);
        one.add("/tmp");
        QTRY_COMPARE(one.entries().size(), std::size_t{1});
        other.add("/usr");
        const std::vector<fs::path> both{"/usr", "/tmp"};
        QTRY_COMPARE(paths_of(other), both);
        one.refresh();
        QTRY_COMPARE(paths_of(one), both);
        for (int i = 0; i < 12; ++i) {
            one.add("/tmp/" + std::to_string(i));
        }
        QTRY_COMPARE(paths_of(one).front(), fs::path("/tmp/11"));
        QCOMPARE(one.entries().size(), std::size_t{10});
        QVERIFY(!one.entries().front().there);
    }

    void a_list_that_cannot_be_kept_is_said() {
        ui::RecentPaths recent("/proc/no/such/place.json");
        QSignalSpy failed(&recent, &ui::RecentPaths::failed);
        recent.add("/tmp");
        QTRY_COMPARE(failed.count(), 1);
        QVERIFY(failed.front().front().toString().contains("place.json"));
        QTRY_COMPARE(recent.entries().size(), std::size_t{1});
    }
};

WEFT_TEST(NewRunTest)
#include "new_run_test.moc"
