// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/run_compare_model.h"

#include "ui/bridge/convert.h"
#include "widgets/look/theme.h"

namespace weft::ui {
namespace {

std::vector<VaryingSetting> results_of(std::span<const train::RunSummary* const> runs) {
    VaryingSetting best{QObject::tr("best"), {}, {}};
    VaryingSetting step{QObject::tr("step"), {}, {}};
    VaryingSetting time{QObject::tr("time"), {}, {}};
    for (const train::RunSummary* run : runs) {
        best.values.push_back(run->best_value ? toQString(run->best_metric) + " " +
                                                    formatMetric(*run->best_value)
                                              : QString());
        step.values.push_back(formatCount(run->step));
        time.values.push_back(formatDuration(run->seconds));
    }
    return {best, step, time};
}

} // namespace

void RunCompareModel::setRuns(std::span<const train::RunSummary* const> runs) {
    beginResetModel();
    names_.clear();
    for (const train::RunSummary* run : runs) {
        names_.push_back(nameOf(*run));
    }
    rows_ = runs.empty() ? std::vector<VaryingSetting>() : results_of(runs);
    results_ = rows_.size();
    for (VaryingSetting& setting : varyingSettings(runs)) {
        rows_.push_back(std::move(setting));
    }
    endResetModel();
}

int RunCompareModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int RunCompareModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(names_.size()) + 1;
}

QVariant RunCompareModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) {
        return {};
    }
    const VaryingSetting& row = rows_[static_cast<std::size_t>(index.row())];
    const bool result = static_cast<std::size_t>(index.row()) < results_;
    const widgets::Theme& theme = widgets::Theme::current();
    switch (role) {
    case Qt::DisplayRole:
    case Qt::ToolTipRole: {
        if (index.column() == 0) {
            return row.path;
        }
        const QString& value = row.values[static_cast<std::size_t>(index.column() - 1)];
        return value.isEmpty() ? QStringLiteral("–") : value;
    }
    case Qt::FontRole:
        return theme.font(index.column() == 0 && result ? widgets::TextStyle::Body
                                                        : widgets::TextStyle::Mono);
    case Qt::ForegroundRole:
        return theme.color(index.column() == 0 ? widgets::Role::Muted : widgets::Role::Text);
    default: return {};
    }
}

QVariant RunCompareModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section >= columnCount()) {
        return role == Qt::TextAlignmentRole && orientation == Qt::Horizontal
                   ? QVariant::fromValue(Qt::Alignment(Qt::AlignLeft | Qt::AlignVCenter))
                   : QVariant();
    }
    return section == 0 ? tr("setting") : names_[static_cast<std::size_t>(section - 1)];
}

} // namespace weft::ui
