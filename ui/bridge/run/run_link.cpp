// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run/run_link.h"

#include "core/base/error.h"
#include "ui/bridge/convert.h"

#include <algorithm>
#include <ctime>
#include <thread>
#include <unistd.h>
#include <utility>

namespace weft::ui {
namespace {

constexpr int kRunLinkSoonMs = 33;
constexpr int kUnwatchedMs = 500;
constexpr int kSlowestWatchedMs = 400; // a curve that moves less often seems to stand
constexpr int kHurriedTicks = 10;
// Of the machine, for showing what it trains: a step waits for the slowest of its threads.
constexpr double kShare = 0.005;

std::filesystem::path logOf(const std::filesystem::path& run_folder) {
    return run_folder / "logs" / "weft.log";
}

std::int64_t sizeOf(const std::filesystem::path& file) {
    std::error_code problem;
    const auto bytes = std::filesystem::file_size(file, problem);
    return problem ? 0 : static_cast<std::int64_t>(bytes);
}

double threadMs() {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) * 1e-6;
}

} // namespace

RunLink::RunLink(std::filesystem::path counters, QObject* parent)
    : QObject(parent), counters_(std::move(counters)) {
    timer_.setInterval(kRunLinkSoonMs);
    connect(&timer_, &QTimer::timeout, this, &RunLink::drain);
}

RunLink::~RunLink() = default;

QString RunLink::start(const std::filesystem::path& folder, const WorkerCommand& worker) {
    WEFT_CHECK(!isActive(), "one run at a time");
    RunLine::Target target{folder, 0, worker.log, sizeOf(worker.log), counters_};
    const StartedWorker started = startWorker(worker);
    if (started.pid < 0) {
        return started.problem;
    }
    target.child = started.pid;
    child_ = {started.pid, folder};
    link(std::move(target), RunControlState::Who::Mine);
    return {};
}

void RunLink::attach(const std::filesystem::path& folder) {
    detach();
    child_ = {};
    for (const Child& child : children_) {
        child_ = child.folder == folder ? child : child_;
    }
    std::erase_if(children_, [&](const Child& child) { return child.folder == folder; });
    const std::filesystem::path log = logOf(folder);
    link({folder, child_.pid, log, sizeOf(log), counters_}, RunControlState::Who::Asking);
}

void RunLink::link(RunLine::Target target, RunControlState::Who who) {
    control_ = {who, {}};
    line_ = std::make_unique<RunLine>(std::move(target));
    timer_.start();
}

void RunLink::stream(std::int64_t after_seq) {
    if (line_) {
        line_->stream(after_seq);
    }
}

void RunLink::detach() {
    if (line_) {
        timer_.stop();
        line_.reset();
        if (child_.pid > 0) {
            children_.push_back(child_);
        }
    }
}

std::filesystem::path RunLink::runInBackground() {
    std::erase_if(children_, [](const Child& child) { return endOf(child.pid).has_value(); });
    return children_.empty() ? std::filesystem::path() : children_.front().folder;
}

void RunLink::takeOver() {
    if (line_) {
        line_->takeOver();
    }
}

QString RunLink::post(train::CommandKind kind, const config::Json& argument) {
    if (!line_) {
        return {};
    }
    // Other studios number their commands too: the process makes the id unique.
    const std::string id =
        "studio-" + std::to_string(::getpid()) + "-" + std::to_string(next_id_++);
    line_->send({kind, id, "studio", argument});
    hurried_ = kHurriedTicks;
    timer_.setInterval(kRunLinkSoonMs);
    return QString::fromStdString(id);
}

void RunLink::setWatched(bool watched) {
    if (watched != watched_) {
        watched_ = watched;
        timer_.setInterval(watched ? kRunLinkSoonMs : kUnwatchedMs);
    }
}

/// What the last tick brought has been painted by now.
void RunLink::pace() {
    const double now_ms = threadMs();
    const double tick_ms = now_ms - std::exchange(used_ms_, now_ms);
    hurried_ = std::max(0, hurried_ - 1);
    const double cores = std::max(1U, std::thread::hardware_concurrency());
    const auto share = static_cast<int>(tick_ms / (kShare * cores));
    timer_.setInterval(hurried_ > 0 ? kRunLinkSoonMs
                       : watched_   ? std::clamp(share, kRunLinkSoonMs, kSlowestWatchedMs)
                                    : kUnwatchedMs);
}

void RunLink::drain() {
    const RunLine* const line = line_.get();
    pace();
    LineNews news = line_->takeNews();
    if (news.control) {
        control_ = *news.control;
        emit controlChanged();
    }
    if (!news.log.empty()) {
        QStringList lines;
        for (const std::string& printed : news.log) {
            lines << toQString(printed);
        }
        emit logged(lines);
    }
    for (const train::CommandEvent& answer : news.refusals) {
        emit refused(answer);
    }
    if (!news.events.empty()) {
        emit eventsArrived(news.events);
    }
    if (news.end && line == line_.get()) { // nobody who heard of it went elsewhere
        timer_.stop();
        line_.reset();
        emit ended(*news.end);
    }
}

} // namespace weft::ui
