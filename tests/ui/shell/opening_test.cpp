// SPDX-License-Identifier: GPL-3.0-or-later
// What a double click or a drop opens: the run or checkpoint that a file of it stands for.
#include "core/checkpoint/checkpoint.h"
#include "core/train/record/run_folder.h"
#include "tests/support/weft_test.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/convert.h"
#include "ui/models/checkpoint_model.h"
#include "widgets/controls/messages.h"

#include <QSignalSpy>
#include <QTableView>

#include <fstream>

namespace {

using namespace weft;
using test::kPatienceMs;
namespace fs = std::filesystem;

/// As the engine leaves a run that stopped, with checkpoints of the steps 10 and 20.
fs::path make_openable_run(const fs::path& root) {
    const fs::path folder = train::create_run_folder(root, "made");
    std::ofstream(folder / "config.json") << test::tiny_config();
    train::RunInfo info;
    info.state = "stopped";
    train::write_run_info(folder, info);
    train::StateEvent stopped;
    stopped.state = train::RunState::stopped;
    std::ofstream(folder / "events.jsonl") << train::to_line({1, 1.0, stopped}) << "\n";
    for (const std::int64_t step : {10, 20}) {
        checkpoint::Record record;
        record.step = step;
        record.config = config::json_of(test::tiny_config());
        checkpoint::write_checkpoint(folder / "checkpoints", {}, record);
    }
    return folder;
}

} // namespace

class OpeningTest : public QObject {
    Q_OBJECT

private slots:
    void init() { QTest::failOnWarning(QRegularExpression(".*")); }

    void a_file_of_a_run_shows_the_run_data() {
        QTest::addColumn<QString>("name");
        for (const char* name : {"run.weftrun", "run.json", "config.json"}) {
            QTest::newRow(name) << name;
        }
    }
    void a_file_of_a_run_shows_the_run() {
        QFETCH(QString, name);
        test::StudioFixture fixture;
        const fs::path run = make_openable_run(fixture.root() / "elsewhere");
        QCOMPARE(fixture.studio().opener().open(run / name.toStdString()), QString());
        QTRY_COMPARE_WITH_TIMEOUT(fixture.studio().run().state(), train::RunState::stopped,
                                  kPatienceMs);
        QCOMPARE(fixture.studio().run().folder(), run);
        QCOMPARE(fixture.window().currentPage(), QString("train"));
        QVERIFY(fixture.studio().draft().isEmpty());
    }

    void a_file_of_a_checkpoint_selects_it_data() {
        QTest::addColumn<QString>("name");
        for (const char* name : {"checkpoint.weftckpt", "manifest.json"}) {
            QTest::newRow(name) << name;
        }
    }
    void a_file_of_a_checkpoint_selects_it() {
        QFETCH(QString, name);
        test::StudioFixture fixture;
        const fs::path run = make_openable_run(fixture.root() / "elsewhere");
        const fs::path file = run / "checkpoints" / "step-00000010" / name.toStdString();
        fixture.studio().opener().openDropped({ui::pathText(file)});
        QCOMPARE(fixture.window().currentPage(), QString("checkpoints"));
        auto* table = static_cast<QTableView*>(fixture.find("checkpointTable"));
        const auto selected = [table] {
            const QModelIndexList rows = table->selectionModel()->selectedRows();
            return rows.size() == 1
                       ? rows.front().siblingAtColumn(ui::CheckpointModel::Step).data().toString()
                       : QString();
        };
        QTRY_COMPARE_WITH_TIMEOUT(selected(), QString("10"), kPatienceMs);
        QVERIFY(!fixture.studio().isTraining()); // to be looked at
        QVERIFY(fixture.studio().draft().isEmpty());
    }

    void a_pointer_that_stands_alone_is_a_problem_and_opens_nothing() {
        test::StudioFixture fixture;
        const fs::path run = make_openable_run(fixture.root() / "elsewhere");
        const fs::path alone = fixture.root() / "desktop";
        fs::create_directories(alone);
        fs::copy_file(run / "run.weftrun", alone / "run.weftrun");
        fs::copy_file(run / "checkpoints" / "step-00000010" / "checkpoint.weftckpt",
                      alone / "checkpoint.weftckpt");
        QSignalSpy offered(&fixture.studio().opener(), &ui::PathOpener::dataOffered);
        for (const char* name : {"run.weftrun", "checkpoint.weftckpt"}) {
            fixture.window().open(ui::pathText(alone / name));
            const auto& said = fixture.window().findChild<widgets::ToastHost*>()->history();
            QVERIFY(!said.empty());
            QVERIFY2(said.back().text.contains(name) && said.back().text.contains("only points to"),
                     qPrintable(said.back().text));
        }
        QVERIFY(offered.isEmpty());
        QVERIFY(fixture.studio().run().isEmpty());
    }

    void a_checkpoint_away_from_its_run_is_said() {
        test::StudioFixture fixture;
        const fs::path run = make_openable_run(fixture.root() / "elsewhere");
        const fs::path away = fixture.root() / "step-00000010";
        fs::copy(run / "checkpoints" / "step-00000010", away, fs::copy_options::recursive);
        QVERIFY(fixture.studio()
                    .opener()
                    .open(away / "checkpoint.weftckpt")
                    .contains("outside of the folder of its run"));
    }

    // Only what is in the folder of a run belongs to a run.
    void a_configuration_called_run_json_is_one() {
        test::StudioFixture fixture;
        const fs::path file = fixture.root() / "mine" / "run.json";
        fs::create_directories(file.parent_path());
        std::ofstream(file) << test::tiny_config();
        QCOMPARE(fixture.studio().opener().open(file), QString());
        QCOMPARE(fixture.studio().draft().path(), file);
        QVERIFY(fixture.studio().run().isEmpty());
    }
};

WEFT_TEST(OpeningTest)
#include "opening_test.moc"
