// SPDX-License-Identifier: GPL-3.0-or-later
// A run's past comes in from the background: all of it, in order, and never in one piece.
#include "tests/support/weft_test.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/run/run_reader.h"
#include "ui/bridge/run/slice_feed.h"

#include <QSignalSpy>

#include <fstream>

namespace {

using namespace weft;
using test::kPatienceMs;

train::Event numbered(std::int64_t seq, train::Payload payload) {
    return {seq, 1000.0 + 0.01 * static_cast<double>(seq), std::move(payload)};
}

train::StepEvent step_event(std::int64_t number) {
    train::StepEvent event;
    event.step = number;
    event.loss = 1.0 / static_cast<double>(number);
    return event;
}

/// A run folder whose log says: running, then `steps` steps with an evaluation after each
/// hundredth.
std::filesystem::path make_logged_run(const std::filesystem::path& folder, std::int64_t steps) {
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "config.json") << test::tiny_config();
    train::StateEvent running;
    running.state = train::RunState::running;
    running.total_steps = 100000;
    std::int64_t seq = 1;
    std::string lines = to_line(numbered(seq++, running)) + "\n";
    for (std::int64_t i = 1; i <= steps; ++i) {
        lines += to_line(numbered(seq++, step_event(i))) + "\n";
        if (i % 100 == 0) {
            lines +=
                to_line(numbered(seq++, train::EvaluationEvent{i, {{"validation/loss", 1.0}}})) +
                "\n";
        }
    }
    std::ofstream(folder / "events.jsonl") << lines;
    return folder;
}

void append(const std::filesystem::path& folder, const std::string& text) {
    std::ofstream(folder / "events.jsonl", std::ios::app) << text;
}

/// Steps 1, 2, 3, ... without a gap.
bool counts_up_to(const ui::RunModel& model, std::size_t steps) {
    const std::vector<double>& column = model.steps().step;
    for (std::size_t i = 0; i < column.size(); ++i) {
        if (column[i] != static_cast<double>(i + 1)) {
            return false;
        }
    }
    return column.size() == steps;
}

} // namespace

class RunReaderTest : public QObject {
    Q_OBJECT

    QTemporaryDir dir_;
    std::filesystem::path root() const { return dir_.path().toStdString(); }

private slots:
    void a_long_run_arrives_whole_in_order_and_in_pieces() {
        constexpr std::size_t kSteps = 2 * ui::RunReader::kBatch + 17;
        const auto folder = make_logged_run(root() / "long", kSteps);
        ui::RunModel model;
        ui::RunReader reader(model);
        QSignalSpy caught_up(&reader, &ui::RunReader::caughtUp);
        std::size_t largest = 0;
        std::size_t pieces = 0;
        std::size_t first = 0;
        connect(&model, &ui::RunModel::stepsAppended, this, [&](std::size_t begin) {
            const std::size_t steps = model.steps().step.size() - begin;
            first = pieces == 0 ? steps : first;
            largest = std::max(largest, steps);
            ++pieces;
        });
        reader.open(folder);
        QVERIFY(reader.isReading());
        QVERIFY(model.steps().step.empty()); // open() itself reads nothing
        QTRY_COMPARE_WITH_TIMEOUT(caught_up.count(), 1, kPatienceMs);
        QVERIFY(counts_up_to(model, kSteps));
        QCOMPARE(model.evaluations().size(), kSteps / 100);
        QVERIFY(largest <= ui::RunReader::kBatch);
        QVERIFY(pieces >= 3);
        QVERIFY(first <= ui::RunReader::kFirstBatch); // soon
        QCOMPARE(reader.lastSeq(), static_cast<std::int64_t>(1 + kSteps + kSteps / 100));
        // Nobody trains it and its log does not say that it ended.
        QCOMPARE(model.state(), train::RunState::stopped);
        QCOMPARE(model.stateReason(), QString("interrupted"));
    }

    void a_run_of_another_process_is_followed_until_it_ends() {
        const auto folder = make_logged_run(root() / "live", 10);
        auto lock = std::make_unique<train::RunLock>(folder);
        ui::RunModel model;
        ui::RunReader reader(model);
        reader.open(folder);
        QTRY_COMPARE_WITH_TIMEOUT(model.steps().step.size(), std::size_t{10}, kPatienceMs);
        QCOMPARE(model.state(), train::RunState::running);
        // A line is written in two parts: it counts when it is whole.
        const std::string line = to_line(numbered(12, step_event(11)));
        append(folder, line.substr(0, 30));
        append(folder, line.substr(30) + "\n");
        QTRY_VERIFY_WITH_TIMEOUT(counts_up_to(model, 11), kPatienceMs);
        append(folder, to_line(numbered(13, step_event(12))) + "\n");
        lock.reset();
        QTRY_COMPARE_WITH_TIMEOUT(model.state(), train::RunState::stopped, kPatienceMs);
        QVERIFY(counts_up_to(model, 12));
    }

    void another_folder_replaces_what_was_still_to_come() {
        const auto first = make_logged_run(root() / "first", ui::RunReader::kBatch);
        const auto second = make_logged_run(root() / "second", 5);
        ui::RunModel model;
        ui::RunReader reader(model);
        QSignalSpy caught_up(&reader, &ui::RunReader::caughtUp);
        // At the first batch, when the next one is being read.
        connect(
            &model, &ui::RunModel::stepsAppended, this, [&] { reader.open(second); },
            Qt::SingleShotConnection);
        reader.open(first);
        QTRY_COMPARE_WITH_TIMEOUT(caught_up.count(), 1, kPatienceMs);
        QCOMPARE(model.folder(), second);
        QVERIFY(counts_up_to(model, 5));
    }

    void an_unreadable_folder_is_a_problem_not_a_crash() {
        ui::RunModel model;
        ui::RunReader reader(model);
        QSignalSpy caught_up(&reader, &ui::RunReader::caughtUp);
        reader.open("no/such/run");
        QTRY_COMPARE_WITH_TIMEOUT(caught_up.count(), 1, kPatienceMs);
        QVERIFY(!model.problem().isEmpty());
        QVERIFY(model.isEmpty());
    }

    void refresh_brings_what_was_written_since() {
        const auto folder = make_logged_run(root() / "grown", 4);
        ui::RunModel model;
        ui::RunReader reader(model);
        reader.open(folder);
        QTRY_VERIFY_WITH_TIMEOUT(!reader.isReading(), kPatienceMs);
        append(folder, to_line(numbered(6, step_event(5))) + "\n");
        reader.refresh();
        QTRY_VERIFY_WITH_TIMEOUT(counts_up_to(model, 5), kPatienceMs);
    }

    void a_feed_hands_over_every_point_once_in_bounded_slices() {
        ui::SliceFeed feed;
        std::size_t next = 0;
        std::size_t largest = 0;
        bool in_order = true;
        connect(&feed, &ui::SliceFeed::slice, this, [&](std::size_t first, std::size_t count) {
            in_order = in_order && first == next;
            next = first + count;
            largest = std::max(largest, count);
        });
        constexpr std::size_t kTotal = 3 * ui::SliceFeed::kSlice + 5;
        feed.extendTo(kTotal);
        QCOMPARE(next, ui::SliceFeed::kSlice); // the first at once, the others in later turns
        feed.extendTo(kTotal + 1);             // and what comes meanwhile goes in line
        QTRY_COMPARE(next, kTotal + 1);
        QVERIFY(in_order);
        QCOMPARE(largest, ui::SliceFeed::kSlice);
        next = 0;
        feed.restart();
        feed.extendTo(3);
        QCOMPARE(next, std::size_t{3});
        QVERIFY(in_order);
    }
};

WEFT_TEST(RunReaderTest)
#include "run_reader_test.moc"
