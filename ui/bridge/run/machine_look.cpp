// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run/machine_look.h"

#include "ui/bridge/convert.h"

#include <utility>

namespace weft::ui {
namespace {

constexpr int kLookLimitMs = 30000; // a driver that hangs never answers
constexpr int kLastWaitMs = 100;    // what is killed is gone in a few

} // namespace

MachineLook::MachineLook(std::filesystem::path worker, QObject* parent)
    : QObject(parent), worker_(std::move(worker)), process_(std::make_unique<QProcess>()) {
    limit_.setSingleShot(true);
    limit_.setInterval(kLookLimitMs);
    connect(&limit_, &QTimer::timeout, this, [this] {
        problem_ = tr("`weft doctor` did not answer within %1 s").arg(kLookLimitMs / 1000);
        process_->kill();
    });
    connect(process_.get(), &QProcess::finished, this, &MachineLook::take);
    connect(process_.get(), &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart) {
            fail(tr("%1 cannot be started: %2").arg(pathText(worker_), process_->errorString()));
        }
    });
}

MachineLook::~MachineLook() {
    process_->disconnect(this);
    process_->kill();
    // A process inside a driver that hangs cannot be ended, and a QProcess that is deleted waits.
    if (isLooking() && !process_->waitForFinished(kLastWaitMs)) {
        (void)process_.release();
    }
}

void MachineLook::look() {
    if (isLooking()) {
        return;
    }
    problem_.clear();
    limit_.start();
    process_->start(pathText(worker_), {QStringLiteral("doctor"), QStringLiteral("--json")},
                    QIODevice::ReadOnly);
    emit changed();
}

void MachineLook::lookOnce() {
    if (!facts_) {
        look();
    }
}

QString MachineLook::gpusProblem() const {
    return facts_ ? gpuProblem(*facts_) : problem_;
}

void MachineLook::take() {
    limit_.stop();
    if (!problem_.isEmpty() || process_->exitStatus() != QProcess::NormalExit ||
        process_->exitCode() != 0) {
        const QString said = QString::fromUtf8(process_->readAllStandardError()).trimmed();
        fail(!problem_.isEmpty() ? problem_
             : said.isEmpty()    ? tr("`weft doctor` ended without an answer")
                                 : tr("`weft doctor` failed: %1").arg(said));
        return;
    }
    try {
        facts_ = machineFacts(config::json_of(process_->readAllStandardOutput().toStdString()));
    } catch (const std::exception& fault) {
        fail(tr("what `weft doctor` says cannot be read: %1").arg(faultText(fault)));
        return;
    }
    when_ = QDateTime::currentDateTime();
    emit found();
    emit changed();
}

void MachineLook::fail(const QString& why) {
    limit_.stop();
    problem_ = why;
    emit changed();
}

} // namespace weft::ui
