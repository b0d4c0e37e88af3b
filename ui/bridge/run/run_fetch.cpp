// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run/run_fetch.h"

#include "core/base/error.h"
#include "core/store/address.h"
#include "core/train/remote/fetch_run.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/long_job.h"

namespace weft::ui {

RunFetch::RunFetch(QObject* parent) : QObject(parent) {}

bool RunFetch::isAddress(const QString& text) {
    return store::is_address(text.toStdString());
}

QString RunFetch::problemOf(const QString& address) {
    if (!isAddress(address)) {
        return tr("An address begins with s3:// or gs://, as in s3://bucket/runs/name.");
    }
    try {
        store::parse_address(address.toStdString());
        return {};
    } catch (const Error& error) {
        return toQString(error.message());
    }
}

void RunFetch::start(const QString& address, const std::filesystem::path& runs) {
    struct Outcome {
        std::filesystem::path run;
        QString problem;
    };
    share_->store(0);
    job_.start(
        [address = address.toStdString(), runs, share = share_](const std::stop_token& stop) {
            Outcome out;
            try {
                out.run =
                    train::fetch_run(
                        address, "latest", runs,
                        {.progress = [share](double done) { share->store(done); }, .stop = stop})
                        .folder;
            } catch (const std::exception& fault) {
                out.problem = faultText(fault);
            }
            return out;
        },
        [this](const Outcome& outcome) {
            if (outcome.problem.isEmpty()) {
                emit fetched(outcome.run);
            } else {
                emit failed(outcome.problem);
            }
        },
        longJobPool());
}

void RunFetch::stop() {
    job_.drop();
}

} // namespace weft::ui
