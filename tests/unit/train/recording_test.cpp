// SPDX-License-Identifier: Apache-2.0
// The metrics store, TensorBoard event files (vectors of their published format) and the place
// where commands meet the engine.
#include "core/base/error.h"
#include "core/train/control/run_control.h"
#include "core/train/logging/metrics_store.h"
#include "core/train/logging/tensorboard_writer.h"
#include "tests/support/weft_test.h"

#include <QTemporaryDir>

#include <fstream>
#include <thread>

namespace {

using namespace weft::train;
namespace fs = std::filesystem;

std::string hex(const std::string& bytes) {
    return QByteArray(bytes.data(), static_cast<qsizetype>(bytes.size())).toHex().toStdString();
}

Event step_event(std::int64_t step, double loss) {
    StepEvent event;
    event.step = step;
    event.loss = loss;
    return {step, 100.0 + static_cast<double>(step), event};
}

// A control with an open log that keeps what its sink saw.
struct ControlDesk {
    explicit ControlDesk(const fs::path& folder)
        : control([this](const Event& event) { seen.push_back(event); }) {
        create_run_folder_at(folder);
        control.start(folder, LiveSettings{}, clock, RunControl::Begin::running);
    }
    const CommandEvent& answer() const {
        for (auto event = seen.rbegin(); event != seen.rend(); ++event) {
            if (const auto* found = std::get_if<CommandEvent>(&event->payload)) {
                return *found;
            }
        }
        throw std::logic_error("no answer");
    }

    std::vector<Event> seen;
    weft::SystemClock clock;
    RunControl control;
};

class RecordingTest : public QObject {
    Q_OBJECT

    QTemporaryDir dir_;
    fs::path root() const { return fs::path(dir_.path().toStdString()); }

private slots:
    void masked_checksum_is_that_of_the_format() {
        QCOMPARE(masked_crc32c("123456789"), 0xc78ab0e5u);
    }

    void the_first_record_has_the_published_bytes() {
        QCOMPARE(hex(framed_record(version_event(0))),
                 std::string("1800000000000000a37f4b220900000000000000001a0d627261696e2e4576656e74"
                             "3a32eedf28a3"));
    }

    void a_scalar_event_is_the_protocol_buffer() {
        // wall_time 1.0 (field 1, fixed64), step 300 (field 2, varint ac 02), summary (field 5)
        // with one value (field 1): tag "a" (field 1), simple_value 2.0 (field 2, fixed32).
        QCOMPARE(hex(scalar_event(1.0, 300, {{"a", 2.0}})),
                 std::string("09000000000000f03f10ac022a0a0a080a01611500000040"));
    }

    void series_keep_every_value_and_the_last_of_equal_steps() {
        MetricsStore store(root() / "metrics");
        for (int step = 1; step <= 5; ++step) {
            store.add(step_event(step, step));
        }
        store.add(step_event(4, 40)); // the run went on from step 3 again
        const auto points = read_series(root() / "metrics", "train/loss");
        QCOMPARE(points.size(), std::size_t{5});
        QCOMPARE(points[3].step, 4);
        QCOMPARE(points[3].value, 40.0);
        QVERIFY(read_series(root() / "metrics", "train/nothing").empty());
    }

    void a_torn_record_is_cut_and_writing_goes_on() {
        const fs::path folder = root() / "torn";
        { MetricsStore(folder).add(step_event(1, 1)); }
        std::ofstream(folder / "train/loss.f64", std::ios::app) << "torn";
        { MetricsStore(folder).add(step_event(2, 2)); }
        const auto points = read_series(folder, "train/loss");
        QCOMPARE(points.size(), std::size_t{2});
        QCOMPARE(points[1].value, 2.0);
    }

    void a_command_is_answered_inside_post() {
        ControlDesk desk(root() / "answer");
        desk.control.apply(RunInput::validated);
        desk.control.apply(RunInput::prepared);
        desk.control.post({CommandKind::pause, "7", "studio", weft::config::Json::object()});
        QCOMPARE(desk.answer().id, std::string("7"));
        QVERIFY(desk.answer().accepted);
        QVERIFY(desk.control.orders().state == RunState::running);
        QVERIFY(desk.control.orders().wanted.pause);
        desk.control.apply(RunInput::step_done);
        QVERIFY(desk.control.orders().state == RunState::paused);
    }

    void a_refused_command_says_why() {
        ControlDesk desk(root() / "refused");
        desk.control.post(
            {CommandKind::set, "1", "control", weft::config::Json{{"path", "seed"}, {"value", 3}}});
        QVERIFY(!desk.answer().accepted);
        QVERIFY(desk.answer().reason.find("seed") != std::string::npos);
        desk.control.apply(RunInput::fault);
        desk.control.post({CommandKind::pause, "2", "control", weft::config::Json::object()});
        QVERIFY(!desk.answer().accepted);
        QVERIFY(desk.answer().reason.find("failed") != std::string::npos);
    }

    void commands_before_the_start_are_kept() {
        std::vector<Event> seen;
        RunControl control([&](const Event& event) { seen.push_back(event); });
        control.post({CommandKind::stop, "early", "studio", weft::config::Json::object()});
        QVERIFY(seen.empty());
        const weft::SystemClock clock;
        create_run_folder_at(root() / "early");
        control.start(root() / "early", LiveSettings{}, clock, RunControl::Begin::running);
        QVERIFY(control.orders().wanted.stop);
        QVERIFY(control.wind_up().stop_requested());
        QVERIFY(control.halt().stop_requested()); // there is nothing to save yet
    }

    void a_change_during_restoring_is_not_lost() {
        ControlDesk desk(root() / "restore");
        desk.control.post(
            {CommandKind::set, "", "studio",
             weft::config::Json{{"path", "learning_rate_multiplier"}, {"value", 0.5}}});
        LiveSettings saved;
        saved.extra_steps = 11;
        desk.control.restore_live(saved);
        QCOMPARE(desk.control.orders().live.extra_steps, 11);
        QCOMPARE(desk.control.orders().live.learning_rate_multiplier, 0.5);
    }

    void many_threads_may_command_and_every_event_is_numbered_once() {
        ControlDesk desk(root() / "threads");
        desk.control.apply(RunInput::validated);
        desk.control.apply(RunInput::prepared);
        {
            std::vector<std::jthread> threads;
            for (int t = 0; t < 4; ++t) {
                threads.emplace_back([&] {
                    for (int i = 0; i < 50; ++i) {
                        desk.control.post({i % 2 == 0 ? CommandKind::pause : CommandKind::resume,
                                           "", "t", weft::config::Json::object()});
                        desk.control.apply(RunInput::step_done);
                    }
                });
            }
        }
        for (std::size_t i = 0; i < desk.seen.size(); ++i) {
            QCOMPARE(desk.seen[i].seq, static_cast<std::int64_t>(i) + 1);
        }
        QCOMPARE(EventReader(root() / "threads").read().size(), desk.seen.size());
    }

    void a_waiting_engine_wakes_for_a_command() {
        ControlDesk desk(root() / "wait");
        std::jthread poster([&] {
            desk.control.post({CommandKind::evaluate, "", "t", weft::config::Json::object()});
        });
        desk.control.wait(60); // returns at once, or the test runs into its time limit
        QVERIFY(desk.control.orders().wanted.evaluate);
    }
};

WEFT_TEST(RecordingTest)

} // namespace
#include "recording_test.moc"
