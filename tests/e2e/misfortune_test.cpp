// SPDX-License-Identifier: Apache-2.0
// Commands and misfortunes at the worst moment: nothing is lost, and what happened is said.
#include "core/base/file.h"
#include "core/checkpoint/checkpoint.h"
#include "core/train/record/run_folder.h"
#include "core/train/record/run_summary.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <optional>

namespace {

using namespace weft::test;
using namespace weft::train;
using weft::config::Json;
using weft::config::json_of;
namespace fs = std::filesystem;

class MisfortuneTest : public QObject, private TestFolder {
    Q_OBJECT

    QStringList long_run(const char* name) const {
        return {"train",     write_config(path("configs")), "--run-dir", text(name),
                "--control", "stdin", "--set", "training.length={\"steps\": 100000000}"};
    }

    /// A file of numpy's format 1.0 (numpy.lib.format).
    static void write_npy(const fs::path& path, const std::string& type, const std::string& shape,
                          const void* values, std::size_t bytes) {
        std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape +
                             ", }";
        header.resize(117, ' ');
        header += '\n';
        std::ofstream out(path, std::ios::binary);
        out.write("\x93NUMPY\x01\x00\x76\x00", 10) << header;
        out.write(static_cast<const char*>(values), static_cast<std::streamsize>(bytes));
    }

    /// Every file below a folder with its content.
    static std::map<std::string, std::string> files_in(const fs::path& folder) {
        std::map<std::string, std::string> out;
        for (const auto& entry : fs::recursive_directory_iterator(folder)) {
            out[entry.path().string()] =
                entry.is_regular_file() ? weft::read_file(entry.path()) : std::string();
        }
        return out;
    }

    /// Whether `from` lies at `to` now; a save on its way may begin `to` anew meanwhile.
    static bool put_back(const fs::path& from, const fs::path& to) {
        std::error_code ignored;
        if (fs::exists(from)) {
            fs::remove_all(to, ignored);
            fs::rename(from, to, ignored);
        }
        return !fs::exists(from);
    }

private slots:
    void a_stop_in_the_midst_of_saves_leaves_whole_checkpoints() {
        LiveWeft live(long_run("hasty"));
        QVERIFY(live.wait_for_step(1).has_value());
        for (int i = 0; i < 20; ++i) {
            live.send(R"({"command": "checkpoint"})");
        }
        live.send(R"({"command": "stop"})");
        live.send(R"({"command": "stop"})");
        QCOMPARE(live.finish(), 75);
        QCOMPARE(run_weft({"checkpoint", "verify", text("hasty")}).code, 0);
        const RunSummary summary = summarise_run(path("hasty"));
        QCOMPARE(summary.state, std::string("stopped"));
        std::int64_t last = 0;
        for (const Event& event : events_of(path("hasty"))) {
            if (const auto* step = std::get_if<StepEvent>(&event.payload)) {
                last = step->step;
            }
        }
        QCOMPARE(summary.last_checkpoint_step, last);
    }

    void a_run_whose_folder_is_deleted_pauses_and_says_so() {
        LiveWeft live(long_run("gone"));
        QVERIFY(live.wait_for_step(1).has_value());
        fs::rename(path("gone"), path("elsewhere"));
        const auto warning = live.wait_for([](const Event& event) {
            const auto* one = std::get_if<WarningEvent>(&event.payload);
            return one != nullptr && one->message.find("deleted or moved") != std::string::npos;
        });
        QVERIFY(warning.has_value());
        QVERIFY(live.wait_for_state(RunState::paused).has_value());
        // Put back, it goes on as if nothing had been.
        QTRY_VERIFY(put_back(path("elsewhere"), path("gone")));
        live.send(R"({"command": "resume"})");
        QVERIFY(live.wait_for_state(RunState::running).has_value());
        live.send(R"({"command": "stop"})");
        QCOMPARE(live.finish(), 75);
        QCOMPARE(run_weft({"checkpoint", "verify", text("gone")}).code, 0);
        QCOMPARE(run_weft({"resume", text("gone"), "--max-steps", "1"}).code, 0);
    }

    void a_run_whose_folder_another_run_took_touches_nothing_of_it_data() {
        QTest::addColumn<bool>("ended");
        QTest::newRow("the other run has ended") << true;
        QTest::newRow("the other run goes on") << false;
    }
    void a_run_whose_folder_another_run_took_touches_nothing_of_it() {
        QFETCH(const bool, ended);
        const char* name = ended ? "taken" : "taken_live";
        const QStringList quiet{"--set", "checkpoint.every=null", "--set",
                                "checkpoint.on_improvement=false"};
        LiveWeft live(long_run(name) + quiet);
        QVERIFY(live.wait_for_step(20).has_value()); // an evaluation is behind it
        fs::rename(path(name), path(name).string() + "_elsewhere");
        std::optional<LiveWeft> other;
        if (ended) {
            const Finished run = run_weft({"train", write_config(path("configs")), "--run-dir",
                                           text(name), "--max-steps", "3"});
            QVERIFY2(run.code == 0, run.err.c_str());
        } else {
            other.emplace(long_run(name) + quiet);
            QVERIFY(other->wait_for_step(1).has_value());
        }
        const auto before = ended ? files_in(path(name)) : std::map<std::string, std::string>();
        std::string heard;
        const auto told = live.wait_for([&heard](const Event& event) {
            const auto* one = std::get_if<WarningEvent>(&event.payload);
            heard += one != nullptr ? one->message + "\n" : "";
            return one != nullptr && one->message.find("of another run") != std::string::npos;
        });
        QVERIFY2(told.has_value(), heard.c_str());
        live.send(R"({"command": "checkpoint"})");
        live.send(R"({"command": "stop"})");
        QCOMPARE(live.finish(), 1);
        if (ended) {
            QVERIFY(files_in(path(name)) == before);
            return;
        }
        QVERIFY(is_live(path(name)));
        other->send(R"({"command": "stop"})");
        QCOMPARE(other->finish(), 75);
        QCOMPARE(summarise_run(path(name)).state, std::string("stopped"));
        QCOMPARE(weft::checkpoint::list_checkpoints(path(name) / "checkpoints").size(),
                 std::size_t(1));
    }

    void a_run_whose_folder_is_gone_saves_there_when_it_is_stopped() {
        LiveWeft live(long_run("deleted"));
        QVERIFY(live.wait_for_step(1).has_value());
        fs::rename(path("deleted"), path("deleted_elsewhere"));
        QVERIFY(live.wait_for_state(RunState::paused).has_value());
        live.send(R"({"command": "stop"})");
        QCOMPARE(live.finish(), 75);
        const auto saved = weft::checkpoint::list_checkpoints(path("deleted") / "checkpoints");
        QVERIFY(!saved.empty());
        QCOMPARE(saved.back().problem, std::string());
    }

    void a_folder_of_runs_that_is_not_there_is_no_empty_one() {
        QCOMPARE(run_weft({"runs", "list"}, {"WEFT_RUNS=" + text("not_yet")}).code, 0);
        const Finished named = run_weft({"runs", "list", text("not_there")});
        QCOMPARE(named.code, 2);
        QVERIFY2(named.err.find("not_there") != std::string::npos, named.err.c_str());
    }

    // As on a medium that is read-only: root may write wherever permissions forbid it.
    void a_run_whose_folder_cannot_be_written_is_read_and_forked() {
        const QString config = write_config(path("configs"));
        QCOMPARE(run_weft({"train", config, "--run-dir", text("kept"), "--max-steps", "8"}).code, 0);
        fs::create_directory(path("kept") / "lock");
        const std::size_t events = events_of(path("kept")).size();
        const Finished resumed = run_weft({"resume", text("kept")});
        QCOMPARE(resumed.code, 1);
        QVERIFY2(resumed.err.find("kept/lock") != std::string::npos, resumed.err.c_str());
        QCOMPARE(events_of(path("kept")).size(), events);
        QCOMPARE(run_weft({"predict", text("kept"), "0", "--split", "validation"}).code, 0);
        QCOMPARE(
            run_weft({"resume", text("kept"), "--fork", text("fork"), "--max-steps", "10"}).code,
            0);
        QCOMPARE(run_weft({"checkpoint", "verify", text("kept")}).code, 0);
    }

    void data_that_is_no_number_ends_the_first_step_and_says_where() {
        std::vector<float> inputs(64 * 3, std::numeric_limits<float>::quiet_NaN());
        std::vector<std::int64_t> targets(64);
        for (std::size_t i = 0; i < targets.size(); ++i) {
            targets[i] = static_cast<std::int64_t>(i % 2);
        }
        write_npy(path("x.npy"), "<f4", "(64, 3)", inputs.data(), inputs.size() * sizeof(float));
        write_npy(path("y.npy"), "<i8", "(64,)", targets.data(),
                  targets.size() * sizeof(std::int64_t));
        const QString config = write_config(
            path("nan"), json_of(R"({"evaluation": {"at_start": false}, "data": {"train": null}})"));
        Json document = json_of(weft::read_file(config.toStdString()));
        document["data"]["train"] = {{"type", "npy"},
                                     {"inputs", path("x.npy").string()},
                                     {"targets", path("y.npy").string()}};
        std::ofstream(config.toStdString()) << document;
        const Finished run = run_weft({"train", config, "--run-dir", text("nan_run")});
        QVERIFY2(run.code == 5, run.err.c_str());
        for (const Event& event : events_of(path("nan_run"))) {
            QVERIFY(!std::holds_alternative<StepEvent>(event.payload));
            if (const auto* error = std::get_if<ErrorEvent>(&event.payload)) {
                QVERIFY2(error->message.find("Step 1") != std::string::npos,
                         error->message.c_str());
                QVERIFY(!error->where.empty());
                QVERIFY(error->ways_on.front().label.starts_with("Start again"));
            }
        }
        QCOMPARE(summarise_run(path("nan_run")).state, std::string("failed"));
    }

    // A loss of 0.0 would be the best that there is.
    void an_evaluation_in_which_no_target_counts_measures_nothing() {
        std::vector<float> inputs(64 * 3);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            inputs[i] = static_cast<float>(i % 7) / 7.0F;
        }
        std::vector<std::int64_t> targets(64);
        for (std::size_t i = 0; i < targets.size(); ++i) {
            targets[i] = static_cast<std::int64_t>(i % 2);
        }
        const std::vector<std::int64_t> none(64, -1);
        const auto bytes_of = [](const auto& values) { return values.size() * sizeof(values[0]); };
        write_npy(path("x.npy"), "<f4", "(64, 3)", inputs.data(), bytes_of(inputs));
        write_npy(path("y.npy"), "<i8", "(64,)", targets.data(), bytes_of(targets));
        write_npy(path("no_y.npy"), "<i8", "(64,)", none.data(), bytes_of(none));
        const QString config = write_config(path("uncounted_config"));
        Json document = json_of(weft::read_file(config.toStdString()));
        const auto part = [&](const char* of_targets) {
            return Json{{"type", "npy"},
                        {"inputs", path("x.npy").string()},
                        {"targets", path(of_targets).string()}};
        };
        document["data"] = {{"train", part("y.npy")}, {"validation", part("no_y.npy")}};
        std::ofstream(config.toStdString()) << document;
        const Finished run =
            run_weft({"train", config, "--run-dir", text("uncounted"), "--max-steps", "10", "--set",
                      "evaluation.every={\"steps\": 5}"});
        QVERIFY2(run.code == 0, run.err.c_str());
        for (const Event& event : events_of(path("uncounted"))) {
            if (const auto* evaluation = std::get_if<EvaluationEvent>(&event.payload)) {
                QVERIFY(evaluation->metrics.empty());
            }
        }
        const RunSummary summary = summarise_run(path("uncounted"));
        QVERIFY(!summary.best_value.has_value());
        QCOMPARE(summary.best_step, std::int64_t{-1});
        const auto saved = weft::checkpoint::read_manifest(path("uncounted") / "checkpoints" /
                                                           weft::checkpoint::folder_name(10));
        QVERIFY(!saved.record.counters.at("best").is_object());
    }

    void the_steps_before_a_divergence_are_saved_and_the_bad_row_is_named() {
        constexpr std::int64_t kBadRow = 41;
        std::vector<float> inputs(64 * 3);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            inputs[i] = static_cast<float>(i % 7) / 7.0F;
        }
        inputs[kBadRow * 3 + 1] = std::numeric_limits<float>::quiet_NaN();
        std::vector<std::int64_t> targets(64);
        for (std::size_t i = 0; i < targets.size(); ++i) {
            targets[i] = static_cast<std::int64_t>(i % 2);
        }
        write_npy(path("x.npy"), "<f4", "(64, 3)", inputs.data(), inputs.size() * sizeof(float));
        write_npy(path("y.npy"), "<i8", "(64,)", targets.data(),
                  targets.size() * sizeof(std::int64_t));
        const QString config = write_config(path("bad_row_config"));
        Json document = json_of(weft::read_file(config.toStdString()));
        document["data"] = {{"train",
                             {{"type", "npy"},
                              {"inputs", path("x.npy").string()},
                              {"targets", path("y.npy").string()}}},
                            {"validation", nullptr}};
        document["training"]["global_batch_size"] = 4;
        document["data"]["shuffle"] = false;
        document["checkpoint"]["every"] = nullptr;
        std::ofstream(config.toStdString()) << document;
        const Finished run = run_weft({"train", config, "--run-dir", text("bad_row")});
        QVERIFY2(run.code == 5, run.err.c_str());
        // Four rows a step, in order: row 41 is in the eleventh.
        QCOMPARE(summarise_run(path("bad_row")).last_checkpoint_step, std::int64_t{10});
        QVERIFY2(run.err.find("x.npy, row 41") != std::string::npos, run.err.c_str());
        QVERIFY2(run.err.find("Last good checkpoint: step 10") != std::string::npos,
                 run.err.c_str());
        QCOMPARE(run_weft({"checkpoint", "verify", text("bad_row")}).code, 0);
    }
};

} // namespace

WEFT_TEST(MisfortuneTest)
#include "misfortune_test.moc"
