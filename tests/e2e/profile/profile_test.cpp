// SPDX-License-Identifier: Apache-2.0
// Steps recorded by `weft train --profile`, shown by `weft profile`.
#include "core/profile/recording.h"
#include "core/profile/time_table.h"
#include "core/train/record/run_folder.h"
#include "core/train/session.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <QFile>

#include <map>

using namespace weft;
using config::Json;

namespace {

/// The values of every step's event, by step.
std::map<std::int64_t, train::StepEvent> told_steps(const std::filesystem::path& run) {
    std::map<std::int64_t, train::StepEvent> out;
    for (const train::Event& event : test::events_of(run)) {
        if (const auto* step = std::get_if<train::StepEvent>(&event.payload)) {
            out[step->step] = *step;
        }
    }
    return out;
}

} // namespace

class ProfileTest : public QObject, private test::TestFolder {
    Q_OBJECT

    QString config_;

    void train(const char* run, const QStringList& options) const {
        const auto done =
            test::run_weft(QStringList{"train", config_, "--run-dir", text(run)} + options);
        QVERIFY2(done.code == 0, done.err.c_str());
    }
    train::RecordingEvent told_recording(const char* run) const {
        for (const train::Event& event : test::events_of(path(run))) {
            if (const auto* told = std::get_if<train::RecordingEvent>(&event.payload)) {
                return *told;
            }
        }
        return {};
    }
    static Json shown(const QStringList& arguments) {
        const auto done =
            test::run_weft(QStringList{"profile"} + arguments + QStringList{"--json"});
        return done.code == 0 ? config::json_of(done.out) : Json(done.err);
    }

private slots:
    void initTestCase() {
        config_ = test::write_config(path(""));
        train("plain", {});
        train("recorded", {"--profile", "4"});
        train("mesh", {"--profile", "3", "--profile-from", "5", "--devices", "cpu:2"});
    }

    void a_recording_has_the_steps_that_were_asked_for() {
        const auto files = profile::list_recordings(path("recorded"));
        QCOMPARE(files.size(), 1U);
        QCOMPARE(files[0].filename().string(), std::string("step-00000010.json"));
        const profile::Recording recording = profile::read_recording(files[0]);
        QCOMPARE(recording.steps.size(), 4U);
        QCOMPARE(recording.steps.back().step, 13);
        QCOMPARE(recording.dropped, 0);
        QCOMPARE(profile::list_recordings(path("mesh"))[0].filename().string(),
                 std::string("step-00000005.json"));
        QVERIFY(profile::list_recordings(path("plain")).empty());
    }

    void recording_changes_no_number() {
        const auto plain = told_steps(path("plain"));
        const auto recorded = told_steps(path("recorded"));
        QCOMPARE(plain.size(), recorded.size());
        for (const auto& [step, event] : plain) {
            QCOMPARE(recorded.at(step).loss, event.loss);
            QCOMPARE(recorded.at(step).grad_norm, event.grad_norm);
        }
    }

    // What a step's event times lies inside what the recording does; calls lie inside their step.
    void a_recorded_step_holds_its_calls_and_the_time_of_its_event() {
        const auto told = told_steps(path("recorded"));
        const auto recording =
            profile::read_recording(profile::list_recordings(path("recorded"))[0]);
        const std::size_t each = recording.devices[0].events.size() / recording.steps.size();
        QCOMPARE(each * recording.steps.size(), recording.devices[0].events.size());
        for (std::size_t i = 0; i < recording.steps.size(); ++i) {
            const profile::StepTimes& step = recording.steps[i];
            QVERIFY(step.wall_us() + 1 >= told.at(step.step).step_ms * 1e3);
            double inside_us = 0;
            for (std::size_t at = i * each; at < (i + 1) * each; ++at) {
                const profile::Event& event = recording.devices[0].events[at];
                QVERIFY(event.start_us + 0.01 >= step.batch_us);
                QVERIFY(event.end_us() <= step.computed_us + 0.01);
                inside_us += event.duration_us;
            }
            QVERIFY(inside_us > 0);
            QVERIFY(inside_us <= step.computed_us - step.batch_us + 0.1);
        }
    }

    // Where the training step has a loop an evaluation would be recorded as calls of it, or of
    // none.
    void an_evaluation_between_two_recorded_steps_is_no_part_of_them() {
        train("evaluated", {"--profile", "3", "--set", "evaluation.every.steps=1", "--set",
                            "training.micro_batch_size=8"});
        const auto recording =
            profile::read_recording(profile::list_recordings(path("evaluated"))[0]);
        QCOMPARE(recording.steps.size(), 3U);
        const std::size_t each = recording.devices[0].events.size() / 3;
        QCOMPARE(recording.devices[0].events.size(), 3 * each);
        for (std::size_t at = 0; at < 3 * each; ++at) {
            const profile::Event& event = recording.devices[0].events[at];
            QVERIFY(event.start_us + 0.01 >= recording.steps[at / each].batch_us);
            QVERIFY(event.end_us() <= recording.steps[at / each].computed_us + 0.01);
        }
    }

    void each_device_of_a_mesh_shows_its_exchanges() {
        const Json json = shown({text("mesh"), "--by", "kernel"});
        QVERIFY2(json.is_object(), json.dump().c_str());
        QCOMPARE(json.at("devices").size(), 2U);
        for (const Json& device : json.at("devices")) {
            QVERIFY(device.at("compute_us").get<double>() > 0);
            QVERIFY(device.at("exchange_us").get<double>() + device.at("waited_us").get<double>() >
                    0);
        }
        QCOMPARE(json.at("devices")[1].at("name").get<std::string>(), std::string("cpu:1"));
        double waited_us = 0;
        for (const Json& row : json.at("rows")) {
            waited_us += row.at("name") == "exchange" ? row.at("waited_us").get<double>() : 0;
        }
        QVERIFY(waited_us > 0);
    }

    void the_tables_the_trace_and_the_difference_are_shown() {
        const auto done = test::run_weft({"profile", text("recorded"), "--against", text("mesh"),
                                          "--trace", text("trace.json")});
        QVERIFY2(done.code == 0, done.err.c_str());
        for (const char* part : {"steps 10 to 13", "linear forward", "x best", "before"}) {
            QVERIFY2(done.out.find(part) != std::string::npos, done.out.c_str());
        }
        QFile trace(text("trace.json"));
        QVERIFY(trace.open(QIODevice::ReadOnly));
        const Json events = config::json_of(trace.readAll().toStdString()).at("traceEvents");
        const auto steps = std::count_if(events.begin(), events.end(), [](const Json& event) {
            return event.value("cat", "") == "step";
        });
        QCOMPARE(steps, 4);
        const Json json = shown({text("recorded"), "--against", text("mesh")});
        QVERIFY(!json.at("changes").empty());
    }

    void what_is_not_there_is_said() {
        const auto plain = test::run_weft({"profile", text("plain")});
        QCOMPARE(plain.code, 2);
        QVERIFY2(plain.err.find("--profile 20") != std::string::npos, plain.err.c_str());
        const auto step = test::run_weft({"profile", text("recorded"), "--step", "11"});
        QCOMPARE(step.code, 2);
        QVERIFY2(step.err.find("step-00000010.json") != std::string::npos, step.err.c_str());
        QCOMPARE(test::run_weft({"profile", text("nothing")}).code, 2);
        QCOMPARE(test::run_weft({"train", config_, "--profile", "0"}).code, 2);
    }

    void a_run_that_ends_before_keeps_the_steps_that_it_has() {
        train("short", {"--max-steps", "8", "--profile", "6", "--profile-from", "6"});
        const auto files = profile::list_recordings(path("short"));
        QCOMPARE(files.size(), 1U);
        const profile::Recording recording = profile::read_recording(files[0]);
        QCOMPARE(recording.steps.size(), 3U);
        QCOMPARE(recording.asked_steps, 6);
        QCOMPARE(recording.cut_short, std::string("the run ended"));
        const train::RecordingEvent told = told_recording("short");
        QCOMPARE(told.path, std::string("profile/step-00000006.json"));
        QCOMPARE(told.steps, 3);
        QCOMPARE(told.asked, 6);
    }

    void a_run_that_ends_before_the_first_step_to_record_says_so() {
        train("before", {"--max-steps", "4", "--profile", "2", "--profile-from", "30"});
        QVERIFY(profile::list_recordings(path("before")).empty());
        const train::RecordingEvent told = told_recording("before");
        QCOMPARE(told.path, std::string());
        QCOMPARE(told.asked, 2);
        QCOMPARE(told.cut_short, std::string("the run ended"));
    }

    // The rate overflows f32 within a few steps.
    void a_run_that_diverges_keeps_the_steps_before() {
        const QString config = test::write_config(path("wild"), config::json_of(R"({
            "optimizer": {"type": "sgd", "learning_rate": 1e30},
            "lr_schedule": {"type": "constant", "warmup_steps": null},
            "training": {"precision": "f32", "max_grad_norm": null}
        })"));
        const auto done = test::run_weft({"train", config, "--run-dir", text("diverged"),
                                          "--profile", "20", "--profile-from", "1"});
        QCOMPARE(done.code, 5);
        const auto taken = static_cast<std::size_t>(told_steps(path("diverged")).size());
        QVERIFY(taken > 0);
        const profile::Recording recording =
            profile::read_recording(profile::list_recordings(path("diverged")).at(0));
        QCOMPARE(recording.steps.size(), taken);
        QCOMPARE(recording.cut_short, std::string("the run diverged"));
        QCOMPARE(recording.dropped, 0);
        QCOMPARE(recording.devices[0].events.size() % taken, 0U);
    }

    // Room for two and a half steps, as an earlier recording counts them; then for less than one.
    void a_recording_ends_where_its_room_does() {
        const profile::Recording known =
            profile::read_recording(profile::list_recordings(path("recorded")).at(0));
        const auto each =
            static_cast<std::int64_t>(known.devices[0].events.size() / known.steps.size());
        const auto trained = [&](const char* run, std::int64_t most_calls) {
            train::SessionOptions options;
            options.config = compile::read_run_config_file(config_.toStdString()).config;
            options.run_folder = path(run);
            train::create_run_folder_at(options.run_folder);
            options.max_steps = 16;
            options.record = {.count = 5, .from = 9, .most_calls = most_calls};
            train::Session(std::move(options)).run();
            return told_recording(run);
        };
        const train::RecordingEvent two = trained("room", 2 * each + each / 2);
        QCOMPARE(two.steps, 2);
        QCOMPARE(two.asked, 5);
        QVERIFY2(two.cut_short.find("holds") != std::string::npos, two.cut_short.c_str());
        const profile::Recording recording = profile::read_recording(path("room") / two.path);
        QCOMPARE(recording.devices[0].events.size(), static_cast<std::size_t>(2 * each));
        QCOMPARE(recording.dropped, 0);
        QCOMPARE(recording.cut_short, two.cut_short);
        const train::RecordingEvent none = trained("no_room", each - 1);
        QCOMPARE(none.path, std::string());
        QVERIFY(!none.cut_short.empty());
    }

    void steps_are_recorded_when_the_command_says_so() {
        test::LiveWeft live({"train", config_, "--run-dir", text("told"), "--events", "--control",
                             "stdin", "--set", "training.length={\"steps\": 1000000}"});
        QVERIFY(live.wait_for_step(12));
        live.send(R"({"command": "profile", "id": "none"})");
        live.send(R"({"command": "profile", "id": "many", "steps": 10001})");
        live.send(R"({"command": "profile", "id": "good", "steps": 5})");
        for (const char* id : {"none", "many"}) {
            const auto answer = live.wait_for_answer(id);
            QVERIFY(answer && !answer->accepted);
            QVERIFY2(answer->reason.find("1 to 10,000") != std::string::npos,
                     answer->reason.c_str());
        }
        const auto good = live.wait_for_answer("good");
        QVERIFY(good && good->accepted);
        const auto is_recorded = [](const train::Event& event) {
            return std::holds_alternative<train::RecordingEvent>(event.payload);
        };
        const auto told = live.wait_for(is_recorded);
        QVERIFY(told);
        const auto first = std::get<train::RecordingEvent>(told->payload);
        QCOMPARE(first.steps, 5);
        QCOMPARE(first.cut_short, std::string());
        // One that a stop cuts short, while another waits for it in vain.
        live.send(R"({"command": "profile", "id": "long", "steps": 10000})");
        live.send(R"({"command": "profile", "id": "twice", "steps": 1})");
        const auto twice = live.wait_for_answer("twice");
        QVERIFY(twice && !twice->accepted);
        QVERIFY(live.wait_for_step(first.step + 10));
        live.send(R"({"command": "stop_now"})");
        const auto rest = live.wait_for(is_recorded);
        QVERIFY(rest);
        live.finish();
        const auto second = std::get<train::RecordingEvent>(rest->payload);
        QCOMPARE(second.cut_short, std::string("the run was stopped"));
        QVERIFY(second.steps > 0 && second.steps < 10000);
        QCOMPARE(profile::list_recordings(path("told")).size(), 2U);
        const auto kept = profile::read_recording(path("told") / second.path);
        QCOMPARE(static_cast<std::int64_t>(kept.steps.size()), second.steps);
    }
};

WEFT_TEST(ProfileTest)
#include "profile_test.moc"
