// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/exchange_model.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/plan/tensor_tiles.h"
#include "widgets/controls/mark_delegate.h"

#include <algorithm>
#include <utility>

namespace weft::ui {
namespace {

QStringList axesOf(const plan::Collective& one) {
    QStringList out;
    for (const std::string& axis : one.axes) {
        out.append(toQString(axis));
    }
    return out;
}

QString countText(double count) {
    return formatCount(static_cast<std::int64_t>(count + 0.5));
}

} // namespace

ExchangeModel::ExchangeModel(QObject* parent)
    : QAbstractTableModel(parent), found_(std::make_shared<ExchangeRows>()) {}

void ExchangeModel::setDigest(const std::shared_ptr<const PlanDigest>& digest) {
    beginResetModel();
    running_ = -1;
    found_ = digest ? digest->exchanges : std::make_shared<ExchangeRows>();
    timed_ = std::any_of(rows().begin(), rows().end(),
                         [](const ExchangeRow& row) { return row.predicted_ms > 0; });
    std::vector<double> times;
    for (const ExchangeRow& row : rows()) {
        times.push_back(row.predicted_ms / row.count);
    }
    ms_style_ = millisecondStyle(std::move(times));
    endResetModel();
}

void ExchangeModel::setRunning(int row) {
    if (row == running_) {
        return;
    }
    const int before = running_;
    running_ = row;
    for (const int changed : {before, row}) {
        if (changed >= 0) {
            const QModelIndex index = this->index(changed, KindColumn);
            emit dataChanged(index, index, {kRunningRole, Qt::AccessibleTextRole});
        }
    }
}

int ExchangeModel::rowOf(int op) const {
    const auto found = std::find_if(rows().begin(), rows().end(), [op](const ExchangeRow& row) {
        return std::binary_search(row.ops.begin(), row.ops.end(), op);
    });
    return found == rows().end() ? -1 : static_cast<int>(found - rows().begin());
}

QString ExchangeModel::story(int index) const {
    const ExchangeRow& shown = row(index);
    const std::string& kind = shown.first.kind;
    const QString does =
        kind == "all_reduce"       ? tr("adds up what %1 devices along %2 have")
        : kind == "reduce_scatter" ? tr("adds up what %1 devices along %2 have, a part on each")
        : kind == "all_gather"     ? tr("gives %1 devices along %2 the parts that each of them has")
        : kind == "all_to_all"     ? tr("splits an array of %1 devices along %2 another way")
        : kind == "permute"        ? tr("passes parts on around %1 devices along %2")
                                   : tr("passes results on between %1 stages along %2");
    QString out =
        tr("%1 of %2: %3, because %4.")
            .arg(exchangeName(kind), shown.what,
                 does.arg(shown.first.devices).arg(axesOf(shown.first).join(" × ")), shown.why);
    const QString phase = toQString(ir::phase_name(shown.first.phase));
    const QString reader = toQString(withAnyNumber(shown.first.cause));
    out += QLatin1Char(' ') + (reader == shown.why || shown.first.cause.starts_with("gradient/")
                                   ? tr("In the %1").arg(phase)
                                   : tr("In the %1, for %2").arg(phase, reader));
    out += (shown.many_stages ? tr(", %1 a step sent by all stages together.")
                              : tr(", %1 a step sent by each device."))
               .arg(widgets::formatMemory(shown.sent_bytes));
    if (!shown.first.overlaps.empty()) {
        out += tr(" Hidden by work of the %1.").arg(toQString(shown.first.overlaps));
    }
    return out;
}

int ExchangeModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows().size());
}

int ExchangeModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant ExchangeModel::data(const QModelIndex& index, int role) const {
    const ExchangeRow& shown = row(index.row());
    const int column = index.column();
    switch (role) {
    case Qt::DisplayRole: return display(shown, column);
    case kSortRole: return sortValue(shown, column);
    case kRunningRole:
        return column == KindColumn && index.row() == running_ ? widgets::MarkDelegate::Dot
                                                               : widgets::MarkDelegate::None;
    case kAxesRole: return axesOf(shown.first);
    case Qt::ToolTipRole: return story(index.row());
    case Qt::AccessibleTextRole:
        return column != KindColumn      ? display(shown, column)
               : index.row() == running_ ? QVariant(tr("Runs now. ") + story(index.row()))
                                         : QVariant(story(index.row()));
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(Qt::Alignment(
            Qt::AlignVCenter |
            (column >= BytesColumn && column <= MsColumn ? Qt::AlignRight : Qt::AlignLeft)));
    case Qt::FontRole:
        return column >= BytesColumn && column <= MsColumn
                   ? QVariant(widgets::Theme::current().font(widgets::TextStyle::Mono))
                   : QVariant();
    case Qt::ForegroundRole:
        return column == WhyColumn
                   ? QVariant(widgets::Theme::current().color(widgets::Role::Accent))
               : column == PhaseColumn || column == OverlapsColumn
                   ? QVariant(widgets::Theme::current().color(widgets::Role::Muted))
                   : QVariant();
    default: return {};
    }
}

QVariant ExchangeModel::display(const ExchangeRow& row, int column) const {
    switch (column) {
    case KindColumn: return exchangeName(row.first.kind);
    case AxesColumn: return axesOf(row.first).join(QStringLiteral(" × "));
    case WhatColumn:
        return withoutPrefix(row.what).replace(QLatin1String("gradient of "), tr("grad of "));
    case WhyColumn: return withoutPrefix(row.why);
    case PhaseColumn: return toQString(ir::phase_name(row.first.phase));
    case BytesColumn:
        return (row.mixed ? QStringLiteral("≤ ") : QString()) + shortMemory(row.array_bytes);
    case CountColumn: return countText(row.count);
    case MsColumn:
        return row.predicted_ms > 0 ? ms_style_.text(row.predicted_ms / row.count) : QString();
    case OverlapsColumn: return toQString(row.first.overlaps);
    default: return {};
    }
}

QVariant ExchangeModel::sortValue(const ExchangeRow& row, int column) const {
    switch (column) {
    case BytesColumn: return static_cast<qlonglong>(row.array_bytes);
    case CountColumn: return row.count;
    case MsColumn: return row.predicted_ms / row.count;
    case PhaseColumn: return static_cast<int>(row.first.phase);
    default: return display(row, column);
    }
}

QVariant ExchangeModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) {
        return {};
    }
    if (role == Qt::TextAlignmentRole) {
        return QVariant::fromValue(Qt::Alignment(
            section >= BytesColumn && section <= MsColumn ? Qt::AlignRight : Qt::AlignLeft));
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    const QString titles[] = {tr("kind"),    tr("axis"), tr("what"),  tr("bytes"),    tr("a step"),
                              tr("ms each"), tr("why"),  tr("phase"), tr("hidden by")};
    return titles[section];
}

} // namespace weft::ui
