// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/advice_model.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/plan/plan_digest.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft::ui {
namespace {

QString percent(double share) {
    return QString::number(100 * share, 'f', share < 0.0995 ? 1 : 0) + QStringLiteral(" %");
}

bool isNumberColumn(int column) {
    return column >= AdviceModel::MemoryColumn;
}

/// "data=8 × model=2"; axes of one device are left out.
QString meshOf(const QString& change) {
    QStringList axes = change.section(QStringLiteral(", "), 0, 0).split(QStringLiteral(" x "));
    axes.removeIf([&](const QString& axis) { return axes.size() > 1 && axis.endsWith("=1"); });
    return axes.join(QStringLiteral(" × "));
}

AdviceRow adviceRow(const MeshWay& found, int way) {
    const QString change = toQString(found.way.change);
    AdviceRow out;
    out.mesh = meshOf(change);
    out.settings = change.section(QStringLiteral(", "), 1);
    out.bytes = found.way.peak_bytes;
    out.step_ms = found.way.predicted_step_ms;
    out.communication_ms = found.way.communication_ms;
    out.bubble = found.bubble;
    out.way = way;
    return out;
}

AdviceRow ownRow(const plan::ExecutionPlan& plan) {
    AdviceRow out;
    out.mesh = meshOf(toQString(plan.mesh.to_text()));
    out.settings =
        (plan.pipeline ? toQString(plan.pipeline->schedule) + QStringLiteral(", ") : QString()) +
        QStringLiteral("ZeRO %1").arg(plan.zero_stage);
    out.bytes = plan.memory_bytes();
    out.step_ms = plan.predicted_step_ms;
    out.communication_ms = plan.communication_ms;
    if (plan.pipeline) {
        out.bubble = plan.pipeline->even_bubble_fraction;
    }
    return out;
}

void markBest(std::vector<AdviceRow>& rows) {
    for (AdviceRow& one : rows) {
        one.best =
            one.step_ms && std::none_of(rows.begin(), rows.end(), [&](const AdviceRow& other) {
                return other.step_ms && other.bytes <= one.bytes &&
                       *other.step_ms <= *one.step_ms &&
                       (other.bytes < one.bytes || *other.step_ms < *one.step_ms);
            });
    }
}

} // namespace

AdviceModel::AdviceModel(QObject* parent) : QAbstractTableModel(parent) {}

void AdviceModel::setWays(const std::vector<MeshWay>& ways, const plan::ExecutionPlan* plan) {
    beginResetModel();
    rows_.clear();
    if (plan != nullptr) {
        rows_.push_back(ownRow(*plan));
    }
    for (std::size_t i = 0; i < ways.size(); ++i) {
        rows_.push_back(adviceRow(ways[i], static_cast<int>(i)));
    }
    markBest(rows_);
    std::vector<double> times;
    for (const AdviceRow& row : rows_) {
        times.push_back(row.step_ms.value_or(0));
    }
    step_style_ = millisecondStyle(std::move(times));
    endResetModel();
}

std::optional<double> AdviceModel::difference(const AdviceRow& row) const {
    const bool known = row.way >= 0 && row.step_ms && rows_.front().way < 0 &&
                       rows_.front().step_ms && *rows_.front().step_ms > 0;
    return known ? std::optional(*row.step_ms / *rows_.front().step_ms - 1) : std::nullopt;
}

QString AdviceModel::sentence(int index) const {
    const AdviceRow& shown = row(index);
    QString out =
        (shown.way < 0 ? tr("The draft: %1, %2") : tr("%1, %2")).arg(shown.mesh, shown.settings);
    out += tr(": %1").arg(widgets::formatMemory(shown.bytes));
    if (shown.step_ms) {
        out += tr(", %1 ms a step").arg(formatMilliseconds(*shown.step_ms));
    }
    if (const auto more = difference(shown)) {
        out += *more < 0 ? tr(", %1 less than the draft").arg(percent(-*more))
                         : tr(", %1 more than the draft").arg(percent(*more));
    }
    return shown.best ? out + tr("; none is better in both") : out;
}

int AdviceModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int AdviceModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant AdviceModel::data(const QModelIndex& index, int role) const {
    const AdviceRow& shown = row(index.row());
    const int column = index.column();
    switch (role) {
    case Qt::DisplayRole: return display(shown, column);
    case kSortRole: return sortValue(shown, column);
    case Qt::ToolTipRole: return sentence(index.row());
    case Qt::AccessibleTextRole:
        return column == MarkColumn ? QVariant(sentence(index.row())) : display(shown, column);
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(Qt::Alignment(
            Qt::AlignVCenter | (isNumberColumn(column) ? Qt::AlignRight : Qt::AlignLeft)));
    case Qt::FontRole:
        return isNumberColumn(column) || column == MeshColumn
                   ? QVariant(widgets::Theme::current().font(widgets::TextStyle::Mono))
                   : QVariant();
    case Qt::ForegroundRole:
        return column == SettingsColumn || column == MarkColumn
                   ? QVariant(widgets::Theme::current().color(widgets::Role::Muted))
                   : QVariant();
    default: return {};
    }
}

QVariant AdviceModel::display(const AdviceRow& row, int column) const {
    switch (column) {
    case MarkColumn: return row.way < 0 ? tr("draft") : row.best ? QStringLiteral("★") : QString();
    case MeshColumn: return row.mesh;
    case SettingsColumn: return row.settings;
    case MemoryColumn: return widgets::formatMemory(row.bytes);
    case BubbleColumn: return row.bubble ? percent(*row.bubble) : QString();
    case ExchangeColumn:
        return row.step_ms && *row.step_ms > 0 ? percent(row.communication_ms / *row.step_ms)
                                               : QString();
    case StepColumn: return row.step_ms ? step_style_.text(*row.step_ms) : QString();
    case DifferenceColumn: {
        const auto more = difference(row);
        return more ? withSign(*more, percent(std::abs(*more))) : QString();
    }
    default: return {};
    }
}

QVariant AdviceModel::sortValue(const AdviceRow& row, int column) const {
    switch (column) {
    case MarkColumn: return row.way < 0 ? 0 : row.best ? 1 : 2;
    case MemoryColumn: return row.bytes;
    case BubbleColumn: return row.bubble.value_or(0);
    case ExchangeColumn:
        return row.step_ms && *row.step_ms > 0 ? row.communication_ms / *row.step_ms : 0;
    case StepColumn: return row.step_ms.value_or(0);
    case DifferenceColumn: return difference(row).value_or(0);
    default: return display(row, column);
    }
}

QVariant AdviceModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) {
        return {};
    }
    if (role == Qt::TextAlignmentRole) {
        return QVariant::fromValue(Qt::Alignment(
            Qt::AlignVCenter | (isNumberColumn(section) ? Qt::AlignRight : Qt::AlignLeft)));
    }
    if (role == Qt::ToolTipRole && section == MarkColumn) {
        return tr("★: no other mesh is better in memory and in time");
    }
    if (role == Qt::ToolTipRole && section == BubbleColumn) {
        return tr("Idle time of a pipeline whose stages are all alike");
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    const QString titles[] = {QString(),    tr("mesh"),      tr("settings"), tr("memory"),
                              tr("bubble"), tr("exchanges"), tr("step ms"),  tr("to draft")};
    return titles[section];
}

} // namespace weft::ui
