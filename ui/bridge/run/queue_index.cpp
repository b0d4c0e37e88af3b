// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run/queue_index.h"

#include "core/base/clock.h"
#include "core/queue/plan_sweep.h"
#include "core/queue/scheduler.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/run/worker_process.h"

#include <csignal>

namespace weft::ui {
namespace {

constexpr int kQueueRereadMs = 1000;
constexpr int kPatientReadings = 20; // for a process to begin; runs that save take their time

struct QueueReading {
    std::shared_ptr<const QueueLook> look; // null: `problem` says why
    QString problem;
};

QueueReading read_queue(const std::filesystem::path& root) {
    QueueReading out;
    const std::filesystem::path folder = queue::folder_under(root);
    try {
        auto look = std::make_shared<QueueLook>();
        look->book = queue::read_book(folder);
        look->entries = queue::view_entries(look->book);
        look->scheduled = queue::is_scheduled(folder);
        out.look = std::move(look);
    } catch (const std::exception& fault) {
        out.problem = faultText(fault);
    }
    return out;
}

/// Of what may throw: what it says.
QString problem_in(const std::function<void()>& work) {
    try {
        work();
        return {};
    } catch (const std::exception& fault) {
        return faultText(fault);
    }
}

} // namespace

QueueIndex::QueueIndex(QObject* parent) : QObject(parent) {
    writer_.setMaxThreadCount(1);
    rereading_.setInterval(kQueueRereadMs);
    connect(&rereading_, &QTimer::timeout, this, [this] {
        if (!reading_.isRunning()) {
            refresh();
        }
    });
}

QueueIndex::~QueueIndex() = default;

void QueueIndex::setRoot(const std::filesystem::path& root) {
    root_ = root;
}

void QueueIndex::setWatched(bool watched) {
    if (watched != rereading_.isActive()) {
        watched ? rereading_.start() : rereading_.stop();
    }
}

void QueueIndex::refresh() {
    if (child_ > 0 && endOf(child_)) {
        child_ = -1;
    }
    reading_.start([root = root_] { return read_queue(root); },
                   [this](const QueueReading& read) {
                       if (!read.look) {
                           emit failed(read.problem);
                           return;
                       }
                       look_ = read.look;
                       const bool beginning = wanted_ && *wanted_ && !look_->scheduled;
                       if (wanted_ && (look_->scheduled == *wanted_ ||
                                       (beginning && ++wanted_readings_ > kPatientReadings))) {
                           wanted_.reset();
                       }
                       emit changed();
                   });
}

void QueueIndex::inTurn(std::function<QString()> work, std::function<void()> done) {
    runInBackground(
        this, std::move(work),
        [this, done = std::move(done)](const QString& problem) {
            if (!problem.isEmpty()) {
                emit failed(problem);
            } else if (done) {
                done();
            }
            refresh();
        },
        &writer_);
}

void QueueIndex::change(std::function<void(queue::Book&)> edit, std::function<void()> done) {
    inTurn(
        [folder = queue::folder_under(root_), edit = std::move(edit)] {
            return problem_in([&] { queue::change_book(folder, edit); });
        },
        std::move(done));
}

void QueueIndex::add(const compile::RunConfig& config) {
    const double now_s = SystemClock().epoch_s();
    change([folder = queue::folder_under(root_), config,
            now_s](queue::Book& book) { queue::add_run(book, folder, config, now_s); },
           [this, name = toQString(config.name)] { emit added(name); });
}

void QueueIndex::addSweep(std::shared_ptr<const queue::PlannedSweep> planned) {
    const auto name = std::make_shared<std::string>();
    inTurn(
        [folder = queue::folder_under(root_), planned = std::move(planned), name] {
            return problem_in(
                [&] { *name = queue::add_sweep(folder, *planned, SystemClock().epoch_s()); });
        },
        [this, name] { emit added(toQString(*name)); });
}

void QueueIndex::startScheduler(const std::filesystem::path& program) {
    wanted_ = true;
    wanted_readings_ = 0;
    const WorkerCommand command{program,
                                {"queue", "run", root_.string(), "--until-empty", "--quiet"},
                                queue::folder_under(root_) / "logs" / "queue.txt"};
    auto started = std::make_shared<StartedWorker>();
    inTurn(
        [command, started]() -> QString {
            const QString problem =
                problem_in([&] { make_directories(command.log.parent_path()); });
            if (!problem.isEmpty()) {
                return problem;
            }
            *started = startWorker(command);
            return started->problem;
        },
        [this, started] { child_ = started->pid; });
}

void QueueIndex::stopScheduler() {
    wanted_ = false;
    inTurn(
        [folder = queue::folder_under(root_)] {
            return problem_in([&] {
                if (const auto pid = queue::scheduler_of(folder)) {
                    ::kill(static_cast<pid_t>(*pid), SIGTERM);
                }
            });
        },
        {});
}

} // namespace weft::ui
