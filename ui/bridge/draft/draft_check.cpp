// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/draft/draft_check.h"

#include "core/train/start_check.h"
#include "ui/bridge/draft/draft.h"

#include <QGuiApplication>

namespace weft::ui {
namespace {

constexpr int kDraftCheckPauseMs = 150; // between the edits of somebody who types

struct Findings {
    config::Diagnostics files, model;
};

Findings findingsOf(const compile::RunConfig& config, const std::stop_token& stop) {
    Findings found{train::missing_files(config), {}};
    if (found.files.empty()) {
        found.model = train::misfits(config, stop);
    }
    return found;
}

} // namespace

DraftCheck::DraftCheck(Draft& draft, QObject* parent) : QObject(parent), draft_(draft) {
    timer_.setSingleShot(true);
    timer_.setInterval(kDraftCheckPauseMs);
    connect(&timer_, &QTimer::timeout, this, &DraftCheck::look);
    connect(&draft_, &Draft::changed, &timer_, qOverload<>(&QTimer::start));
    connect(qGuiApp, &QGuiApplication::applicationStateChanged, this,
            [this](Qt::ApplicationState state) {
                if (state == Qt::ApplicationActive) {
                    look();
                }
            });
}

void DraftCheck::look() {
    job_.drop();
    const auto take = [this](const Findings& found) {
        draft_.setFindings(FindingSource::Files, found.files);
        draft_.setFindings(FindingSource::Model, found.model);
    };
    if (draft_.isEmpty() || !draft_.isValid()) {
        take({}); // what is wrong with the text comes first
        return;
    }
    job_.start([config = draft_.config()](
                   const std::stop_token& stop) { return findingsOf(config, stop); },
               take);
}

} // namespace weft::ui
