// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/exchange_model.h"

#include "core/base/text.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/tensor_tiles.h"
#include "widgets/mark_delegate.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace weft::ui {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// "add at blocks.2, microbatch 3, for stage 1" -> "add at blocks.*, microbatch *, for another
/// stage". A large pipeline has thousands: no regular expression.
std::string any_number(const std::string& cause) {
    std::string out;
    for (std::size_t i = 0; i < cause.size();) {
        std::size_t end = i;
        while (end < cause.size() && is_digit(cause[end])) {
            ++end;
        }
        const bool whole =
            end == cause.size() || cause[end] == '.' || cause[end] == ',' || cause[end] == ' ';
        if (end > i && whole && out.ends_with("for stage ")) {
            out.replace(out.size() - 6, 6, "another stage");
        } else if (end > i && whole && (out.ends_with('.') || out.ends_with("microbatch "))) {
            out += '*';
        } else {
            end = std::max(end, i + 1);
            out.append(cause, i, end - i);
        }
        i = end;
    }
    return out;
}

/// "add at blocks.2, microbatch 3, for stage 1" -> 1
int stage_at_end(const std::string& cause) {
    const std::size_t at = cause.rfind("for stage ");
    return at == std::string::npos ? -1 : std::atoi(cause.c_str() + at + 10);
}

void addShare(ExchangeRow& row, const plan::Collective& one, int stage) {
    const int to = one.kind == "send_recv" ? stage_at_end(one.cause) : -1;
    auto found = std::find_if(row.shares.begin(), row.shares.end(), [&](const auto& share) {
        return share.stage == stage && share.to_stage == to;
    });
    if (found == row.shares.end()) {
        row.shares.push_back({one.kind, one.axes, stage, to, 0, 0});
        found = std::prev(row.shares.end());
    }
    found->sent_bytes += one.sent_bytes;
    found->count += one.count;
}

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

/// Heaviest first: by predicted time, without one by bytes.
bool heavier(const ExchangeRow& a, const ExchangeRow& b) {
    return std::pair(a.predicted_ms, a.sent_bytes) > std::pair(b.predicted_ms, b.sent_bytes);
}

} // namespace

ExchangeModel::ExchangeModel(QObject* parent) : QAbstractTableModel(parent) {}

void ExchangeModel::setDigest(std::shared_ptr<const PlanDigest> digest) {
    beginResetModel();
    running_ = -1;
    executions_ = 0;
    sent_bytes_ = 0;
    rows_ = digest ? grouped(*digest) : std::vector<ExchangeRow>();
    timed_ = std::any_of(rows_.begin(), rows_.end(),
                         [](const ExchangeRow& row) { return row.predicted_ms > 0; });
    std::vector<double> times;
    for (const ExchangeRow& row : rows_) {
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

std::vector<ExchangeRow> ExchangeModel::grouped(const PlanDigest& digest) {
    std::vector<ExchangeRow> out;
    std::map<std::tuple<std::string, std::string, std::string, std::string>, std::size_t> known;
    for (const plan::PlannedProgram* program : digest.plan->all_stages("train_step")) {
        std::int64_t sent = 0;
        for (const plan::Collective& one : plan::collectives(*program)) {
            const std::string what = any_number(one.what.empty() ? one.cause : one.what);
            const std::string why = any_number(one.why.empty() ? one.cause : one.why);
            const auto [found, is_new] =
                known.try_emplace({one.kind, join(one.axes, ","), what, why}, out.size());
            if (is_new) {
                out.push_back({one,
                               toQString(what),
                               toQString(why),
                               program->stage,
                               false,
                               0,
                               0,
                               0,
                               one.array_bytes,
                               false,
                               {},
                               {}});
            }
            ExchangeRow& row = out[found->second];
            row.many_stages = row.many_stages || row.stage != program->stage;
            row.count += one.count;
            row.predicted_ms += one.predicted_ms;
            row.sent_bytes += one.sent_bytes;
            row.mixed = row.mixed || row.array_bytes != one.array_bytes;
            row.array_bytes = std::max(row.array_bytes, one.array_bytes);
            if (program->stage == digest.stage) {
                row.ops.push_back(one.position);
            }
            addShare(row, one, program->stage);
            executions_ += one.count;
            sent += one.sent_bytes;
        }
        sent_bytes_ = std::max(sent_bytes_, sent);
    }
    std::stable_sort(out.begin(), out.end(), heavier);
    return out;
}

int ExchangeModel::rowOf(int op) const {
    const auto found = std::find_if(rows_.begin(), rows_.end(), [op](const ExchangeRow& row) {
        return std::binary_search(row.ops.begin(), row.ops.end(), op);
    });
    return found == rows_.end() ? -1 : static_cast<int>(found - rows_.begin());
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
    const QString reader = toQString(any_number(shown.first.cause));
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
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
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
