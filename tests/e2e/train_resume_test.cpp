// SPDX-License-Identifier: Apache-2.0
// Training through the real program, and the promise that an interrupted run that goes on is, bit
// for bit, the run that was never interrupted.
#include "core/train/record/run_summary.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <cmath>
#include <csignal>
#include <sstream>

namespace {

using namespace weft::test;
using namespace weft::train;
namespace fs = std::filesystem;

class TrainResumeTest : public QObject, private TestFolder {
    Q_OBJECT

    QString config_;


    // "Equal" to the reference run: exit code 0 of the comparison by the program itself.
    void compare_with_reference(const char* run) {
        const Finished diff = run_weft({"checkpoint", "diff", text("reference"), text(run)});
        QVERIFY2(diff.code == 0, (diff.out + diff.err).c_str());
    }

    void resume_and_compare(const char* run) {
        const Finished resumed = run_weft({"resume", text(run)});
        QVERIFY2(resumed.code == 0, resumed.err.c_str());
        compare_with_reference(run);
    }

private slots:
    void initTestCase() {
        config_ = write_config(path("configs"));
        const Finished run =
            run_weft({"train", config_, "--run-dir", text("reference"), "--events"});
        QVERIFY2(run.code == 0, run.err.c_str());
        // stdout holds the lines of events.jsonl and nothing else.
        std::istringstream lines(run.out);
        const auto stored = events_of(path("reference"));
        std::size_t count = 0;
        for (std::string line; std::getline(lines, line); ++count) {
            const auto event = parse_event(line);
            QVERIFY2(event.has_value(), line.c_str());
            QVERIFY(count < stored.size());
            QCOMPARE(to_line(*event), to_line(stored[count]));
            QCOMPARE(event->seq, static_cast<std::int64_t>(count) + 1);
        }
        QCOMPARE(count, stored.size());
    }

    void a_run_has_every_update_once_and_learns() {
        std::int64_t next = 1;
        double first_loss = 0;
        double last_loss = 0;
        for (const Event& event : events_of(path("reference"))) {
            if (const auto* step = std::get_if<StepEvent>(&event.payload)) {
                QCOMPARE(step->step, next++);
                first_loss = step->step == 1 ? step->loss : first_loss;
                last_loss = step->loss;
            }
        }
        QCOMPARE(next, 41);
        // Four classes and untrained weights: near ln 4, within the spread of one small batch.
        QVERIFY(std::abs(first_loss - std::log(4.0)) < 0.35);
        QVERIFY(last_loss < first_loss);
    }

    void a_run_ends_with_best_last_and_summary() {
        const auto events = events_of(path("reference"));
        const auto finished = std::find_if(events.begin(), events.end(), [](const Event& event) {
            return std::holds_alternative<FinishedEvent>(event.payload);
        });
        QVERIFY(finished != events.end());
        const auto& payload = std::get<FinishedEvent>(finished->payload);
        QCOMPARE(payload.steps, 40);
        QVERIFY(!payload.best.empty());
        QVERIFY(!payload.last.empty());
        const RunSummary summary = summarise_run(path("reference"));
        QCOMPARE(summary.state, std::string("finished"));
        QCOMPARE(summary.step, 40);
        QCOMPARE(summary.last_checkpoint_step, 40);
        QVERIFY(!fs::exists(path("reference") / "lock"));
    }

    void a_second_run_is_equal_bit_for_bit() {
        const Finished run = run_weft({"train", config_, "--run-dir", text("again")});
        QCOMPARE(run.code, 0);
        compare_with_reference("again");
    }

    void another_seed_is_different() {
        const Finished run =
            run_weft({"train", config_, "--set", "seed=8", "--run-dir", text("other_seed")});
        QCOMPARE(run.code, 0);
        QCOMPARE(run_weft({"checkpoint", "diff", text("reference"), text("other_seed")}).code, 1);
    }

    void a_run_of_two_calls_is_equal_bit_for_bit() {
        // 13 is in the middle of an epoch (5 steps) and no multiple of any cadence.
        const Finished run =
            run_weft({"train", config_, "--run-dir", text("two_calls"), "--max-steps", "13"});
        QVERIFY2(run.code == 0, run.err.c_str());
        QCOMPARE(summarise_run(path("two_calls")).last_checkpoint_step, 13);
        resume_and_compare("two_calls");
    }

    void a_run_from_its_initial_checkpoint_is_equal_bit_for_bit() {
        const Finished run =
            run_weft({"train", config_, "--run-dir", text("zero"), "--max-steps", "0"});
        QVERIFY2(run.code == 0, run.err.c_str());
        QVERIFY(fs::exists(path("zero") / "checkpoints" / "step-00000000"));
        resume_and_compare("zero");
    }

    void a_terminated_run_resumes_bit_for_bit() {
        LiveWeft live({"train", config_, "--run-dir", text("sigterm"), "--control", "stdin"});
        QVERIFY(live.wait_for_step(4).has_value());
        live.signal(SIGTERM);
        QCOMPARE(live.finish(), kExitStopped);
        QVERIFY(summarise_run(path("sigterm")).step < 40);
        resume_and_compare("sigterm");
    }

    void a_killed_run_resumes_bit_for_bit() {
        LiveWeft live({"train", config_, "--run-dir", text("kill")});
        QVERIFY(live.wait_for_step(16).has_value());
        live.signal(SIGKILL);
        QCOMPARE(live.finish(), -1);
        QCOMPARE(summarise_run(path("kill")).state, std::string("interrupted"));
        resume_and_compare("kill");
    }

    void a_run_killed_before_its_first_checkpoint_starts_again() {
        LiveWeft live({"train", config_, "--run-dir", text("kill_early"), "--set",
                       "checkpoint.every=null", "--set", "checkpoint.on_improvement=false"});
        QVERIFY(live.wait_for_step(3).has_value());
        live.signal(SIGKILL);
        live.finish();
        const Finished resumed = run_weft({"resume", text("kill_early")});
        QVERIFY2(resumed.code == 0, resumed.err.c_str());
        QCOMPARE(summarise_run(path("kill_early")).step, 40);
    }

    void a_commanded_stop_resumes_bit_for_bit() {
        LiveWeft live({"train", config_, "--run-dir", text("stop"), "--control", "stdin"});
        QVERIFY(live.wait_for_step(8).has_value());
        live.send(R"({"command": "stop", "id": "s1"})");
        const auto answer = live.wait_for_answer("s1");
        QVERIFY(answer.has_value());
        QVERIFY(answer->accepted);
        QCOMPARE(live.finish(), kExitStopped);
        resume_and_compare("stop");
    }

    void pausing_and_single_steps_change_nothing() {
        LiveWeft live({"train", config_, "--run-dir", text("paused"), "--control", "stdin"});
        QVERIFY(live.wait_for_step(2).has_value());
        live.send(R"({"command": "pause", "id": "p"})");
        QVERIFY(live.wait_for_answer("p")->accepted);
        QVERIFY(live.wait_for_state(RunState::paused).has_value());
        for (const char* id : {"a", "b", "c"}) {
            live.send(std::string(R"({"command": "step", "id": ")") + id + "\"}");
            QVERIFY(live.wait_for_answer(id)->accepted);
            QVERIFY(live.wait_for_state(RunState::paused).has_value());
        }
        live.send(R"({"command": "checkpoint", "id": "k"})");
        const auto saved = live.wait_for([](const Event& event) {
            const auto* found = std::get_if<CheckpointEvent>(&event.payload);
            return found != nullptr && std::find(found->kept_for.begin(), found->kept_for.end(),
                                                 "by hand") != found->kept_for.end();
        });
        QVERIFY(saved.has_value());
        live.send(R"({"command": "resume", "id": "r"})");
        QCOMPARE(live.finish(), 0);
        compare_with_reference("paused");
    }

    void a_run_is_paused_once_it_has_evaluated_and_saved() {
        const std::filesystem::path folder = path("due");
        std::filesystem::create_directories(folder);
        const QString config = write_config(folder, {{"evaluation", {{"every", {{"steps", 1}}}}},
                                                     {"checkpoint", {{"every", {{"steps", 1}}}}}});
        const std::filesystem::path run = folder / "run";
        LiveWeft live({"train", config, "--run-dir", QString::fromStdString(run.string()),
                       "--control", "stdin"});
        live.send(R"({"command": "pause"})");
        QVERIFY(live.wait_for_state(RunState::paused).has_value());
        for (const char* id : {"a", "b"}) {
            live.send(std::string(R"({"command": "step", "id": ")") + id + "\"}");
            QVERIFY(live.wait_for_answer(id)->accepted);
            QVERIFY(live.wait_for_state(RunState::paused).has_value());
        }
        live.send(R"({"command": "stop_now"})");
        live.finish();
        std::int64_t step = 0;
        std::int64_t evaluated = -1;
        int pauses = 0;
        for (const Event& event : events_of(run)) {
            if (const auto* done = std::get_if<StepEvent>(&event.payload)) {
                step = done->step;
            } else if (const auto* found = std::get_if<EvaluationEvent>(&event.payload)) {
                evaluated = found->step;
            } else if (const auto* state = std::get_if<StateEvent>(&event.payload);
                       state != nullptr && state->state == RunState::paused) {
                pauses += step > 0 ? 1 : 0;
                QVERIFY(step == 0 || evaluated == step);
            }
        }
        QVERIFY(pauses >= 2);
    }

    void a_finished_run_can_be_extended() {
        QCOMPARE(run_weft({"train", config_, "--run-dir", text("extended")}).code, 0);
        const Finished more = run_weft({"resume", text("extended"), "--extend", "9"});
        QVERIFY2(more.code == 0, more.err.c_str());
        const RunSummary summary = summarise_run(path("extended"));
        QCOMPARE(summary.step, 49);
        QCOMPARE(summary.total_steps, 49);
    }

    void the_files_that_point_to_runs_and_checkpoints_are_taken_for_them() {
        const QString run = text("reference") + "/run.weftrun";
        const QString checkpoint =
            text("reference") + "/checkpoints/step-00000040/checkpoint.weftckpt";
        const Finished diff = run_weft({"checkpoint", "diff", run, checkpoint});
        QVERIFY2(diff.code == 0, (diff.out + diff.err).c_str());
        for (const QString& named : {run, checkpoint}) {
            const Finished verified = run_weft({"checkpoint", "verify", named});
            QVERIFY2(verified.code == 0, (verified.out + verified.err).c_str());
        }
        const Finished list = run_weft({"checkpoint", "list", run});
        QVERIFY(list.out.find("step-00000040") != std::string::npos);
        const Finished runs = run_weft({"runs", "diff", run, text("reference")});
        QVERIFY2(runs.code == 0, runs.err.c_str());
        const Finished resumed = run_weft({"resume", run}); // finished: nothing is left to do
        QVERIFY2(resumed.code == 0, resumed.err.c_str());
        QVERIFY(resumed.err.find("finished") != std::string::npos);
    }

    void an_older_checkpoint_is_a_fork_with_a_parent() {
        const Finished fork = run_weft({"resume", text("reference"), "--from", "best", "--fork",
                                        text("fork"), "--set", "optimizer.learning_rate=0.0005"});
        QVERIFY2(fork.code == 0, fork.err.c_str());
        const RunInfo info = read_run_info(path("fork"));
        QCOMPARE(info.parent, path("reference").string());
        QVERIFY(info.parent_step > 0);
        QVERIFY(run_weft({"runs", "diff", text("reference"), text("fork")})
                    .out.find("optimizer.learning_rate") != std::string::npos);
        const auto listed = [&](const char* filter) {
            const Finished list = run_weft({"runs", "list", text(""), "--filter", filter});
            return std::tuple(list.code, list.out.find("fork") != std::string::npos,
                              list.out.find("reference") != std::string::npos);
        };
        QVERIFY(listed("learning_rate < 1e-3") == std::tuple(0, true, false));
        QVERIFY(listed("learning_rate >= 1e-3") == std::tuple(0, false, true));
        QVERIFY(listed("lerning_rate >= 1e-3") == std::tuple(2, false, false));
        // The parent is as it was.
        QCOMPARE(summarise_run(path("reference")).last_checkpoint_step, 40);
    }
};

WEFT_TEST(TrainResumeTest)

} // namespace
#include "train_resume_test.moc"
