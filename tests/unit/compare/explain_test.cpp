// SPDX-License-Identifier: Apache-2.0
// What is said of runs by name: their values, tables, and which settings mattered.
#include "core/base/error.h"
#include "core/compare/explain.h"
#include "core/compare/run_value.h"
#include "tests/support/weft_test.h"

#include <cmath>

namespace {

using namespace weft;
using namespace weft::compare;
using config::Json;

train::RunSummary made_run(const std::string& name, double rate, const char* kind, double loss) {
    train::RunSummary run;
    run.folder = "/runs/" + name;
    run.info.name = name;
    run.state = "finished";
    run.config = {{"optimizer", {{"learning_rate", rate}, {"type", kind}}}, {"seed", 0}};
    train::MetricSummary& metric = run.entry("validation/loss");
    metric.note(1, loss + 1);
    metric.note(2, loss);
    metric.note(3, loss + 0.5);
    return run;
}

train::RunNames names_of(const std::vector<train::RunSummary>& runs) {
    train::RunNames names;
    for (const train::RunSummary& run : runs) {
        names.add(run);
    }
    return names;
}

QString problem_of(const std::string& column, const train::RunNames& names) {
    try {
        find_column(column, names);
    } catch (const Error& error) {
        return QString::fromStdString(error.what());
    }
    return {};
}

std::vector<VaryingSetting> settings_of(const std::vector<train::RunSummary>& runs) {
    std::vector<const Json*> configs;
    for (const train::RunSummary& run : runs) {
        configs.push_back(&run.config);
    }
    return varying_settings(configs);
}

} // namespace

class ExplainTest : public QObject {
    Q_OBJECT
private slots:
    void columns_are_found_by_short_names_and_wrong_ones_are_said() {
        const auto names = names_of({made_run("a", 0.1, "adamw", 1)});
        QCOMPARE(find_column("learning_rate", names),
                 (RunColumn{RunColumn::Kind::setting, "optimizer.learning_rate", false}));
        QCOMPARE(find_column("validation/loss:best", names),
                 (RunColumn{RunColumn::Kind::metric, "validation/loss", true}));
        QCOMPARE(find_column("validation/loss", names).text(), std::string("validation/loss:last"));
        QCOMPARE(find_column("state", names), (RunColumn{RunColumn::Kind::fact, "state", false}));
        QVERIFY(problem_of("lerning_rate", names).contains("learning_rate"));
        QVERIFY(problem_of("learning_rate:best", names).contains("is a setting"));
    }

    void a_table_is_csv_that_other_programs_read() {
        train::RunSummary run = made_run("a", 0.1, "adamw", 1);
        run.annotations.notes = "first \"try\",\nsecond line";
        const auto names = names_of({run});
        std::vector<RunColumn> columns;
        for (const char* name : {"run", "learning_rate", "optimizer.type", "validation/loss:best",
                                 "validation/loss", "notes", "parent"}) {
            columns.push_back(find_column(name, names));
        }
        // RFC 4180: quotes are doubled, and what has a comma, a quote or a line is quoted.
        QCOMPARE(to_csv({&run}, columns),
                 std::string("run,optimizer.learning_rate,optimizer.type,validation/loss:best,"
                             "validation/loss:last,notes,parent\r\n"
                             "a,0.1,adamw,1.0,1.5,\"first \"\"try\"\",\nsecond line\",\r\n"));
    }

    void settings_that_vary_are_found_with_the_gaps_of_runs_that_have_none() {
        std::vector<train::RunSummary> runs = {made_run("a", 0.1, "adamw", 1),
                                               made_run("b", 0.2, "sgd", 2)};
        runs[1].config["optimizer"]["momentum"] = 0.9;
        const auto settings = settings_of(runs);
        QCOMPARE(settings.size(), std::size_t{3}); // not the seed
        for (const VaryingSetting& setting : settings) {
            if (setting.path == "optimizer.momentum") {
                QVERIFY(setting.numeric);
                QVERIFY(std::isnan(setting.numbers()[0]));
                QCOMPARE(setting.numbers()[1], 0.9);
                QCOMPARE(setting.texts()[0], std::string());
            }
            if (setting.path == "optimizer.type") {
                QVERIFY(!setting.numeric);
                QCOMPARE(setting.texts(), (std::vector<std::string>{"adamw", "sgd"}));
            }
        }
    }

    void the_setting_that_decides_stands_first_with_its_best_value() {
        std::vector<train::RunSummary> runs;
        std::vector<double> losses;
        const double rates[] = {1e-4, 1e-3, 1e-2};
        for (int i = 0; i < 18; ++i) {
            const double away = std::abs(std::log10(rates[i % 3]) + 3); // least at 1e-3
            losses.push_back(1 + away + 0.01 * ((i * 7) % 5));
            runs.push_back(made_run("r" + std::to_string(i), rates[i % 3],
                                    (i / 3) % 2 == 0 ? "adamw" : "sgd", losses.back()));
        }
        const auto settings = settings_of(runs);
        const std::vector<Explained> found = explain(settings, losses, true);
        QCOMPARE(found.size(), std::size_t{2});
        QCOMPARE(found[0].path, std::string("optimizer.learning_rate"));
        QVERIFY(found[0].share && found[0].share->value > 0.99);
        QCOMPARE(found[0].share->runs, std::size_t{18});
        QCOMPARE(found[0].best, std::string("0.001"));
        // Losses fall and rise again with the rate: no order of ranks, though it decides.
        QVERIFY(found[0].correlation && std::abs(found[0].correlation->value) < 0.2);
        QVERIFY(found[1].share && found[1].share->value < 0.05);
        QVERIFY(!found[1].correlation); // a text has no order
        // The other way round the best is the worst.
        QVERIFY(explain(settings, losses, false)[0].best != std::string("0.001"));
    }
};

WEFT_TEST(ExplainTest)

#include "explain_test.moc"
