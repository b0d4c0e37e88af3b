// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/file_check.h"

#include "core/train/start_files.h"
#include "ui/bridge/background.h"
#include "ui/bridge/draft.h"

#include <QGuiApplication>

namespace weft::ui {

FileCheck::FileCheck(Draft& draft, QObject* parent) : QObject(parent), draft_(draft) {
    connect(&draft_, &Draft::changed, this, &FileCheck::look);
    connect(qGuiApp, &QGuiApplication::applicationStateChanged, this,
            [this](Qt::ApplicationState state) {
                if (state == Qt::ApplicationActive) {
                    look();
                }
            });
}

void FileCheck::look() {
    const std::int64_t job = ++job_;
    if (draft_.isEmpty() || !draft_.isValid()) {
        draft_.setFindings(FindingSource::Files, {}); // what is wrong with it comes first
        return;
    }
    runInBackground(
        this, [config = draft_.config()] { return train::missing_files(config); },
        [this, job](const config::Diagnostics& missing) {
            if (job == job_) {
                draft_.setFindings(FindingSource::Files, missing);
            }
        });
}

} // namespace weft::ui
