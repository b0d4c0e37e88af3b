// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/overlay_model.h"

#include "ui/bridge/convert.h"
#include "ui/forms/number_text.h"
#include "widgets/controls/delegates/run_row_delegate.h"

#include <algorithm>
#include <map>

namespace weft::ui {
namespace {

using Delegate = widgets::RunRowDelegate;

/// What names and describes a run is no difference between runs.
bool matters(const compile::FieldChange& change) {
    return change.path != "name" && change.path != "notes" && !change.path.starts_with("tags");
}

} // namespace

OverlayModel::OverlayModel(CurveRuns& curves, RunIndex& index, QObject* parent)
    : QAbstractListModel(parent), curves_(curves), index_(index) {
    connect(&index_, &RunIndex::runsChanged, this, &OverlayModel::rebuild);
    connect(&curves_, &CurveRuns::reset, this, [this](int id) {
        curves_.find(id)->kind == CurveRun::Kind::Current ? rebuild() : refresh();
    });
    connect(&curves_, &CurveRuns::added, this, &OverlayModel::refresh);
    connect(&curves_, &CurveRuns::looksChanged, this, &OverlayModel::refresh);
    connect(&curves_, &CurveRuns::marksChanged, this, &OverlayModel::refresh);
    rebuild();
}

void OverlayModel::setFilter(const QString& text) {
    filter_ = text;
    rebuild();
}

void OverlayModel::rebuild() {
    beginResetModel();
    rows_.clear();
    total_ = 0;
    const RunModel& shown = curves_.shown();
    if (!shown.isEmpty()) {
        rows_.push_back({shown.folder(), shown.name(), tr("this run"), {}, {}});
        ++total_;
    }
    for (const train::RunSummary& run : index_.runs()) {
        if (run.folder == shown.folder() || !run.problem.empty()) {
            continue;
        }
        ++total_;
        const QString name = runTitle(run.folder);
        if (!filter_.isEmpty() && !name.contains(filter_, Qt::CaseInsensitive)) {
            continue;
        }
        rows_.push_back(
            {run.folder, name,
             tr("%1 · step %2 · %3")
                 .arg(toQString(run.state), formatCount(run.step), formatWhen(run.modified)),
             run.best_value, run.best_metric});
    }
    chooseStyles();
    endResetModel();
}

void OverlayModel::refresh() {
    chooseStyles();
    if (!rows_.empty()) {
        emit dataChanged(index(0), index(static_cast<int>(rows_.size()) - 1));
    }
}

std::filesystem::path OverlayModel::folderOf(const QModelIndex& index) const {
    return index.isValid() ? rows_[static_cast<std::size_t>(index.row())].folder
                           : std::filesystem::path();
}

QModelIndex OverlayModel::indexOf(const std::filesystem::path& folder) const {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        if (rows_[i].folder == folder) {
            return index(static_cast<int>(i));
        }
    }
    return {};
}

int OverlayModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

QString OverlayModel::detailOf(const Row& row, const CurveRun* curve) const {
    if (curve == nullptr || curve->kind == CurveRun::Kind::Current || curve->model().isEmpty()) {
        return row.detail;
    }
    if (!curve->model().problem().isEmpty()) {
        return curve->model().problem();
    }
    QStringList parts;
    for (const compile::FieldChange& change :
         compile::compare(curves_.shown().config(), curve->model().config())) {
        if (matters(change)) {
            const QString path = toQString(change.path);
            parts << path.section('.', -1) + " " + settingText(change.after);
        }
    }
    return parts.isEmpty() ? tr("the same settings") : parts.join(" · ");
}

OverlayModel::Best OverlayModel::bestOf(const Row& row) const {
    const CurveRun* curve = curves_.find(row.folder);
    if (curve == nullptr || curve->model().isEmpty()) {
        return {row.value, row.metric};
    }
    const checkpoint::Goal goal = checkpoint::goal_of(curve->model().config().document);
    const auto best = curve->model().bestMetric(goal);
    return {best ? std::optional(best->value) : std::nullopt, goal.metric};
}

// Runs are compared down the column, measure by measure.
void OverlayModel::chooseStyles() {
    std::map<std::string, std::vector<double>> values;
    for (const Row& row : rows_) {
        if (const Best best = bestOf(row); best.value) {
            values[best.metric].push_back(*best.value);
        }
    }
    styles_.clear();
    for (auto& [metric, numbers] : values) {
        styles_.emplace(metric, widgets::NumberStyle(std::move(numbers)));
    }
}

QVariant OverlayModel::data(const QModelIndex& index, int role) const {
    const Row& row = rows_[static_cast<std::size_t>(index.row())];
    const CurveRun* curve = curves_.find(row.folder);
    switch (role) {
    case Qt::DisplayRole: return row.name;
    case Qt::ToolTipRole:
    case Delegate::Detail: return detailOf(row, curve);
    case Delegate::Value: {
        const Best best = bestOf(row);
        const auto style = styles_.find(best.metric); // a run may be ahead of what it said
        return !best.value              ? QString()
               : style == styles_.end() ? formatMetric(*best.value)
                                        : style->second.text(*best.value);
    }
    case Delegate::Measure: {
        const std::string metric = bestOf(row).metric;
        return tr("best %1").arg(metricWords(metric.substr(metric.find('/') + 1)));
    }
    case Delegate::Color: return curve ? curve->color : 0;
    case Delegate::Dash:
        return static_cast<int>(curve && curve->kind == CurveRun::Kind::Overlay
                                    ? widgets::seriesDash(curve->dash)
                                    : Qt::SolidLine);
    case Delegate::Current: return curve && curve->kind == CurveRun::Kind::Current;
    case Qt::CheckStateRole: return curve && curve->visible ? Qt::Checked : Qt::Unchecked;
    case Qt::AccessibleTextRole:
        return tr("%1, %2, %3")
            .arg(row.name, curve && curve->visible ? tr("shown") : tr("hidden"),
                 detailOf(row, curve));
    default: return {};
    }
}

bool OverlayModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (role != Qt::CheckStateRole || !index.isValid()) {
        return false;
    }
    curves_.setVisible(folderOf(index), value.toInt() == Qt::Checked);
    return true;
}

Qt::ItemFlags OverlayModel::flags(const QModelIndex& index) const {
    return index.isValid() ? Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable |
                                 Qt::ItemNeverHasChildren
                           : Qt::NoItemFlags;
}

OverlayCompareModel::OverlayCompareModel(CurveRuns& curves, QObject* parent)
    : QAbstractTableModel(parent), curves_(curves) {
    connect(&curves_, &CurveRuns::reset, this, &OverlayCompareModel::rebuild);
    connect(&curves_, &CurveRuns::looksChanged, this, &OverlayCompareModel::rebuild);
    connect(&curves_, &CurveRuns::added, this, [this](int id) {
        // What it is configured to is known when its folder has been read.
        connect(&curves_.find(id)->model(), &RunModel::reset, this, &OverlayCompareModel::rebuild);
        rebuild();
    });
    rebuild();
}

void OverlayCompareModel::rebuild() {
    beginResetModel();
    names_.clear();
    rows_.clear();
    std::vector<const CurveRun*> shown;
    for (const auto& run : curves_.runs()) {
        if (run->visible && run->kind != CurveRun::Kind::Prefix && !run->model().isEmpty()) {
            shown.push_back(run.get());
            names_ << run->name();
        }
    }
    std::map<std::string, Row> found;
    for (std::size_t i = 1; i < shown.size(); ++i) {
        for (const compile::FieldChange& change :
             compile::compare(shown.front()->model().config(), shown[i]->model().config())) {
            if (!matters(change)) {
                continue;
            }
            Row& row = found[change.path];
            if (row.values.isEmpty()) {
                row.path = toQString(change.path);
                row.values =
                    QStringList(static_cast<qsizetype>(shown.size()), settingText(change.before));
            }
            row.values[static_cast<qsizetype>(i)] = settingText(change.after);
        }
    }
    for (auto& [path, row] : found) {
        rows_.push_back(std::move(row));
    }
    endResetModel();
}

int OverlayCompareModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int OverlayCompareModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(names_.size()) + 1;
}

QVariant OverlayCompareModel::data(const QModelIndex& index, int role) const {
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole) {
        return {};
    }
    const Row& row = rows_[static_cast<std::size_t>(index.row())];
    return index.column() == 0 ? row.path : row.values[index.column() - 1];
}

QVariant OverlayCompareModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
        return {};
    }
    return section == 0 ? tr("Setting") : names_[section - 1];
}

} // namespace weft::ui
