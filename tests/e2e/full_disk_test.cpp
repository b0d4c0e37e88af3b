// SPDX-License-Identifier: Apache-2.0
// A disk that fills up while a run trains: it waits for room, says so, and loses nothing.
#include "core/train/record/run_summary.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/full_disk.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <fstream>
#include <optional>

namespace {

using namespace weft::test;
using namespace weft::train;
using weft::config::Json;
using weft::config::json_of;
namespace fs = std::filesystem;

// Less than a checkpoint of the run (270 thousand parameters, each with its two moments, in f32),
// more than the events of many thousand updates.
constexpr rlim_t kNoRoomForCheckpoints = 1 << 20;

class FullDiskTest : public QObject, private TestFolder {
    Q_OBJECT

    QStringList long_run(const char* name) const {
        const Json wide = json_of(R"({"model": {"hidden": [512, 512]},
            "optimizer": {"type": "adamw"}, "checkpoint": {"every": {"steps": 100000000}},
            "evaluation": {"every": {"steps": 100000000}}})");
        return {"train",     write_config(path("configs"), wide),
                "--run-dir", text(name),
                "--control", "stdin",
                "--set",     "training.length={\"steps\": 100000000}"};
    }

    static std::optional<Event> wait_for_pause(LiveWeft& live, const std::string& reason) {
        return live.wait_for([&](const Event& event) {
            const auto* state = std::get_if<StateEvent>(&event.payload);
            return state != nullptr && state->state == RunState::paused && state->reason == reason;
        });
    }

    static std::optional<Event> wait_for_checkpoint(LiveWeft& live) {
        return live.wait_for([](const Event& event) {
            return std::holds_alternative<CheckpointEvent>(event.payload);
        });
    }

    /// Every event and every update once, in order; returns the last update.
    std::int64_t last_of_all_steps(const char* run) const {
        std::int64_t seq = 0;
        std::int64_t step = 0;
        for (const Event& event : events_of(path(run))) {
            if (event.seq != ++seq) {
                return -1;
            }
            const auto* update = std::get_if<StepEvent>(&event.payload);
            if (update != nullptr && update->step != ++step) {
                return -1;
            }
        }
        return step;
    }

    bool is_whole(const char* run) const {
        return run_weft({"checkpoint", "verify", text(run)}).code == 0;
    }

private slots:
    void a_checkpoint_that_finds_no_room_pauses_the_run_until_there_is_some() {
        LiveWeft live(long_run("checkpoints"));
        QVERIFY(live.wait_for_step(1).has_value());
        live.send(R"({"command": "checkpoint"})");
        const auto first = wait_for_checkpoint(live);
        QVERIFY(first.has_value());
        // The same step once more would only be noted in the checkpoint that is there.
        QVERIFY(live.wait_for_step(std::get<CheckpointEvent>(first->payload).step + 1).has_value());
        {
            const FullDisk disk(static_cast<pid_t>(live.pid()), kNoRoomForCheckpoints);
            for (int i = 0; i < 2; ++i) { // without room a resume leads back to the pause
                live.send(R"({"command": "resume"})");
                live.send(R"({"command": "checkpoint"})");
                const auto warning = live.wait_for([](const Event& event) {
                    const auto* said = std::get_if<WarningEvent>(&event.payload);
                    return said != nullptr &&
                           said->message.find("was not saved") != std::string::npos;
                });
                QVERIFY(warning.has_value());
                const auto& said = std::get<WarningEvent>(warning->payload);
                QVERIFY2(said.message.find("checkpoints") != std::string::npos &&
                             said.hint.find("Make room") != std::string::npos,
                         (said.message + said.hint).c_str());
                QVERIFY(wait_for_pause(live, "a checkpoint could not be saved").has_value());
                QVERIFY(is_whole("checkpoints")); // the one from before
            }
        }
        live.send(R"({"command": "resume"})");
        QVERIFY(live.wait_for_state(RunState::running).has_value());
        live.send(R"({"command": "checkpoint"})");
        QVERIFY(wait_for_checkpoint(live).has_value());
        live.send(R"({"command": "stop"})");
        QCOMPARE(live.finish(), kExitStopped);
        QVERIFY(is_whole("checkpoints"));
        const std::int64_t last = last_of_all_steps("checkpoints");
        QVERIFY(last > 0);
        QCOMPARE(summarise_run(path("checkpoints")).last_checkpoint_step, last);
    }

    void events_that_find_no_room_pause_the_run_and_are_written_later() {
        LiveWeft live(long_run("events"));
        QVERIFY(live.wait_for_step(3).has_value());
        live.send(R"({"command": "pause"})");
        QVERIFY(live.wait_for_state(RunState::paused).has_value());
        const fs::path log = path("events") / "events.jsonl";
        {
            // Somewhere within the next lines.
            const FullDisk disk(static_cast<pid_t>(live.pid()), fs::file_size(log) + 500);
            live.send(R"({"command": "resume"})");
            QVERIFY(wait_for_pause(live, "events cannot be written").has_value());
            std::ifstream file(log);
            const std::string written(std::istreambuf_iterator<char>(file), {});
            QVERIFY(written.ends_with('\n')); // no line is torn
        }
        live.send(R"({"command": "resume"})");
        QVERIFY(live.wait_for_state(RunState::running).has_value());
        live.send(R"({"command": "stop"})");
        QCOMPARE(live.finish(), kExitStopped);
        QVERIFY(last_of_all_steps("events") >= 3);
    }

    void a_stop_that_finds_no_room_ends_with_an_error_and_the_run_goes_on_from_before() {
        LiveWeft live(long_run("stop"));
        QVERIFY(live.wait_for_step(1).has_value());
        live.send(R"({"command": "checkpoint"})");
        const auto saved = wait_for_checkpoint(live);
        QVERIFY(saved.has_value());
        const std::int64_t kept = std::get<CheckpointEvent>(saved->payload).step;
        QVERIFY(live.wait_for_step(kept + 1).has_value());
        {
            const FullDisk disk(static_cast<pid_t>(live.pid()), kNoRoomForCheckpoints);
            live.send(R"({"command": "stop"})");
            const auto told = live.wait_for([](const Event& event) {
                return std::holds_alternative<ErrorEvent>(event.payload);
            });
            QVERIFY(told.has_value());
            const auto& error = std::get<ErrorEvent>(told->payload);
            QVERIFY2(
                error.message.find("last checkpoint could not be saved") != std::string::npos &&
                    error.where.find("checkpoints") != std::string::npos && !error.hint.empty(),
                error.message.c_str());
            QCOMPARE(live.finish(), 1);
        }
        QVERIFY(is_whole("stop"));
        QCOMPARE(summarise_run(path("stop")).last_checkpoint_step, kept);
        const std::string further = std::to_string(kept + 2);
        const Finished resumed = run_weft({"resume", text("stop"), "--max-steps", further.c_str()});
        QVERIFY2(resumed.code == 0, resumed.err.c_str());
        QCOMPARE(summarise_run(path("stop")).step, kept + 2);
    }
};

} // namespace

WEFT_TEST(FullDiskTest)
#include "full_disk_test.moc"
