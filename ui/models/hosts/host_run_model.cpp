// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/hosts/host_run_model.h"

#include "ui/bridge/convert.h"

#include <algorithm>

namespace weft::ui {
namespace {

using hosts::RemoteRun;

QString hostRunStep(const RemoteRun& run) {
    return run.total_steps > 0 ? HostRunModel::tr("%1 of %2")
                                     .arg(formatCount(run.step), formatCount(run.total_steps))
                               : formatCount(run.step);
}

QString hostRunBest(const RemoteRun& run) {
    return run.best_value ? HostRunModel::tr("%1 %2").arg(metricWords(run.best_metric),
                                                          formatMetric(*run.best_value))
                          : QString();
}

QString hostRunTip(const RemoteRun& run) {
    const QString folder = toQString(run.folder);
    return run.problem.empty() ? folder : folder + QLatin1Char('\n') + toQString(run.problem);
}

} // namespace

HostRunModel::HostRunModel(QObject* parent) : TableModel(parent) {
    describe(
        {{.title = tr("name"), .text = [](const RemoteRun& run) { return runTitle(run.folder); }},
         {.title = tr("state"), .text = [](const RemoteRun& run) { return toQString(run.state); }},
         {.title = tr("step"), .text = hostRunStep, .number = true},
         {.title = tr("loss"),
          .text =
              [](const RemoteRun& run) { return run.loss ? formatMetric(*run.loss) : QString(); },
          .number = true},
         {.title = tr("best"), .text = hostRunBest},
         {.title = tr("saved at"),
          .text =
              [](const RemoteRun& run) {
                  return run.checkpoint_step < 0 ? QString() : formatCount(run.checkpoint_step);
              },
          .number = true},
         {.title = tr("changed"),
          .text = [](const RemoteRun& run) { return formatWhen(run.modified); }}},
        hostRunTip);
}

bool HostRunModel::setRuns(std::vector<RemoteRun> runs) {
    const bool same =
        std::equal(rows_.begin(), rows_.end(), runs.begin(), runs.end(),
                   [](const RemoteRun& a, const RemoteRun& b) { return a.folder == b.folder; });
    return replaceRows(std::move(runs), same);
}

int HostRunModel::rowOf(const std::string& folder) const {
    const auto found = std::find_if(rows_.begin(), rows_.end(),
                                    [&](const RemoteRun& run) { return run.folder == folder; });
    return found == rows_.end() ? -1 : static_cast<int>(found - rows_.begin());
}

QVariant HostRunModel::data(const QModelIndex& index, int role) const {
    if (role == Qt::ForegroundRole && index.isValid() && index.column() == StateColumn) {
        const std::string& state = row(index.row()).state;
        const auto color = [](widgets::Role of) {
            return QVariant(widgets::Theme::current().color(of));
        };
        if (state == "failed") {
            return color(widgets::Role::Error);
        }
        if (state == "running") {
            return color(widgets::Role::Accent);
        }
    }
    return TableModel::data(index, role);
}

} // namespace weft::ui
