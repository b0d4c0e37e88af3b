// SPDX-License-Identifier: Apache-2.0
// `weft runs` of many runs: tables by column, CSV, and which settings mattered.
#include "core/train/record/run_folder.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <fstream>

namespace {

using namespace weft;
using namespace weft::test;
using config::Json;
namespace fs = std::filesystem;

/// A run as `weft train` leaves it, of its events alone.
void write_run(const fs::path& folder, double rate, int seed, double loss) {
    fs::create_directories(folder);
    std::ofstream(folder / "config.json")
        << Json{{"optimizer", {{"type", "adamw"}, {"learning_rate", rate}}}, {"seed", seed}};
    train::RunInfo info;
    info.id = info.name = folder.filename().string();
    info.state = "finished";
    train::write_run_info(folder, info);
    std::ofstream events(folder / "events.jsonl");
    const train::EvaluationEvent better{1, {{"validation/loss", loss}}};
    const train::EvaluationEvent last{2, {{"validation/loss", loss + 1}}};
    events << train::to_line({1, 100.0, better}) << "\n"
           << train::to_line({2, 101.0, last}) << "\n";
}

} // namespace

class RunsTableTest : public QObject, private TestFolder {
    Q_OBJECT
private slots:
    void initTestCase() {
        for (int i = 0; i < 6; ++i) { // two of each rate, of which the middle one is best
            const double rates[] = {0.001, 0.01, 0.1};
            write_run(path("runs") / ("r" + std::to_string(i)), rates[i % 3], i / 3,
                      i % 3 == 1 ? 0.5 : 1.5 + 0.25 * (i / 3));
        }
    }

    void columns_come_as_csv_and_json() {
        const Finished csv = run_weft({"runs", "list", text("runs"), "--filter", "r1", "--csv",
                                       "--columns", "run, learning_rate, validation/loss:best"});
        QCOMPARE(csv.code, 0);
        QCOMPARE(
            csv.out,
            std::string("run,optimizer.learning_rate,validation/loss:best\r\nr1,0.01,0.5\r\n"));
        const Finished json = run_weft({"runs", "list", text("runs"), "--filter", "r1", "--json",
                                        "--columns", "run,seed,validation/loss"});
        QCOMPARE(Json::parse(json.out),
                 (Json::array({{{"run", "r1"}, {"seed", 0}, {"validation/loss:last", 1.5}}})));
        QCOMPARE(run_weft({"runs", "list", text("runs"), "--csv"}).code, 0);
    }

    void a_column_that_no_run_has_is_said() {
        const Finished wrong =
            run_weft({"runs", "list", text("runs"), "--columns", "lerning_rate"});
        QCOMPARE(wrong.code, 2);
        QVERIFY(QString::fromStdString(wrong.err).contains("optimizer.learning_rate"));
        QCOMPARE(run_weft({"runs", "list", text("runs"), "--csv", "--json"}).code, 2);
        QCOMPARE(run_weft({"runs", "explain", "seed", text("runs")}).code, 2);
    }

    void the_setting_that_decided_is_named_first() {
        const Finished found =
            run_weft({"runs", "explain", "validation/loss:best", text("runs"), "--json"});
        QCOMPARE(found.code, 0);
        const Json json = Json::parse(found.out);
        QCOMPARE(json.size(), std::size_t{2});
        QCOMPARE(json[0]["setting"].get<std::string>(), std::string("optimizer.learning_rate"));
        QCOMPARE(json[0]["best_at"].get<std::string>(), std::string("0.01"));
        QCOMPARE(json[0]["variance_share"]["runs"].get<int>(), 6);
        QVERIFY(json[0]["variance_share"]["value"].get<double>() >
                json[1]["variance_share"]["value"].get<double>());
    }
};

WEFT_TEST(RunsTableTest)

#include "runs_table_test.moc"
