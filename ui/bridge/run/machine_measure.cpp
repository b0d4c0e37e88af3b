// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run/machine_measure.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/train/measure/machine_cost.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/run/worker_process.h"

#include <csignal>
#include <utility>

namespace weft::ui {
namespace {

constexpr int kLookMs = 200;

/// The last line that is not empty.
QString lastLine(const std::filesystem::path& log) {
    try {
        return toQString(read_file(log)).trimmed().section('\n', -1).trimmed();
    } catch (const Error&) {
        return {}; // nothing was printed yet
    }
}

cost::Calibration readKnown(const std::filesystem::path& file) {
    try {
        return cost::read_calibration(file, train::machine_key(0));
    } catch (const Error&) {
        return {train::machine_key(0), {}, {}}; // damaged: a measurement replaces it
    }
}

} // namespace

MachineMeasure::MachineMeasure(std::filesystem::path worker, std::filesystem::path calibration,
                               std::filesystem::path log, QObject* parent)
    : QObject(parent), worker_(std::move(worker)), calibration_(std::move(calibration)),
      log_(std::move(log)) {
    timer_.setInterval(kLookMs);
    connect(&timer_, &QTimer::timeout, this, &MachineMeasure::look);
}

MachineMeasure::~MachineMeasure() {
    cancel();
}

void MachineMeasure::refresh() {
    runInBackground(
        this, [file = calibration_] { return readKnown(file); },
        [this](cost::Calibration known) {
            known_ = std::move(known);
            emit changed();
        });
}

QString MachineMeasure::start() {
    if (isRunning()) {
        return {};
    }
    std::error_code problem; // then the worker cannot be started, and says why
    std::filesystem::create_directories(log_.parent_path(), problem);
    std::filesystem::remove(log_, problem);
    const StartedWorker started = startWorker({worker_, {"bench", "machine"}, log_});
    if (started.pid < 0) {
        return started.problem;
    }
    worker_pid_ = started.pid;
    cancelled_ = false;
    doing_.clear();
    timer_.start();
    emit changed();
    return {};
}

void MachineMeasure::cancel() {
    if (isRunning() && !std::exchange(cancelled_, true)) {
        ::kill(worker_pid_, SIGTERM);
        emit changed();
    }
}

void MachineMeasure::look() {
    const std::optional<ProcessEnd> ended = endOf(worker_pid_);
    const QString said = lastLine(log_);
    if (!ended) {
        if (std::exchange(doing_, said) != said) {
            emit changed();
        }
        return;
    }
    timer_.stop();
    worker_pid_ = -1;
    if (ended->known && ended->signal == 0 && ended->code == 0) {
        emit measured();
    } else if (!cancelled_) {
        emit failed(ended->signal != 0
                        ? tr("The measurement was ended by %1").arg(signalText(ended->signal))
                        : tr("The measurement failed: %1").arg(said));
    }
    doing_.clear();
    refresh();
    emit changed();
}

} // namespace weft::ui
