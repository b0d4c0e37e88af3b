// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/op_model.h"

#include "ui/bridge/convert.h"

#include <QHash>

#include <algorithm>
#include <utility>

namespace weft::ui {

OpModel::OpModel(QObject* parent) : QAbstractTableModel(parent) {}

void OpModel::setDigest(std::shared_ptr<const PlanDigest> digest) {
    digest_ = std::move(digest);
    rebuild();
}

void OpModel::setGrouping(Grouping grouping) {
    if (grouping != grouping_) {
        grouping_ = grouping;
        rebuild();
    }
}

void OpModel::rebuild() {
    beginResetModel();
    rows_.clear();
    row_of_.clear();
    QHash<QString, int> known;
    for (std::size_t i = 0; digest_ && i < digest_->ops.size(); ++i) {
        const PlanOp& op = digest_->ops[i];
        // A loop has no figures of its own: it is a row only where every op is one.
        if (op.is_loop && grouping_ != Grouping::Each) {
            row_of_.push_back(-1);
            continue;
        }
        const QString path = grouping_ == Grouping::ByLayer  ? withoutNumbers(op.path)
                             : grouping_ == Grouping::ByKind ? QString()
                                                             : op.path;
        const QString key = grouping_ == Grouping::Each ? QString::number(i)
                                                        : op.kind + '\n' + op.phase + '\n' + path;
        const auto found = known.constFind(key);
        if (found == known.constEnd()) {
            known.insert(key, static_cast<int>(rows_.size()));
            row_of_.push_back(static_cast<int>(rows_.size()));
            rows_.push_back({op, static_cast<int>(i), 1});
            rows_.back().sum.path = path;
            continue;
        }
        row_of_.push_back(*found);
        Row& row = rows_[static_cast<std::size_t>(*found)];
        ++row.count;
        row.sum.flops += op.flops;
        row.sum.bytes += op.bytes;
        row.sum.ms += op.ms;
        row.sum.share += op.share;
        row.sum.kernel = row.sum.kernel == op.kernel ? op.kernel : tr("several");
    }
    std::vector<double> times;
    for (const Row& row : rows_) {
        times.push_back(row.sum.ms);
    }
    ms_style_ = millisecondStyle(std::move(times));
    endResetModel();
}

int OpModel::opOf(int row) const {
    return rows_[static_cast<std::size_t>(row)].first;
}

int OpModel::rowOf(int op) const {
    return op >= 0 && op < static_cast<int>(row_of_.size()) ? row_of_[static_cast<std::size_t>(op)]
                                                            : -1;
}

int OpModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int OpModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant OpModel::data(const QModelIndex& index, int role) const {
    const Row& row = rows_[static_cast<std::size_t>(index.row())];
    const int column = index.column();
    switch (role) {
    case Qt::DisplayRole: return display(row, column);
    case kSortRole: return sortValue(row, column);
    case kShareRole: return row.sum.share;
    case Qt::ToolTipRole: return column <= KernelColumn ? display(row, column) : QVariant();
    case Qt::AccessibleTextRole:
        return column == KindColumn ? opTitle(row.sum) : display(row, column);
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(Qt::Alignment(
            Qt::AlignVCenter |
            (column == CountColumn || column >= FlopsColumn ? Qt::AlignRight : Qt::AlignLeft)));
    case Qt::FontRole:
        return column == KindColumn || column == PhaseColumn || column == KernelColumn
                   ? QVariant()
                   : QVariant(widgets::Theme::current().font(widgets::TextStyle::Mono));
    case Qt::ForegroundRole:
        return column == PhaseColumn || column == KernelColumn || column == CountColumn
                   ? QVariant(widgets::Theme::current().color(widgets::Role::Muted))
                   : QVariant();
    default: return {};
    }
}

QVariant OpModel::display(const Row& row, int column) const {
    const PlanOp& op = row.sum;
    switch (column) {
    case KindColumn: return op.kind;
    case PathColumn: return op.path;
    case PhaseColumn: return op.phase;
    case CountColumn: {
        const std::int64_t times = op.is_loop ? op.times : op.times * row.count;
        return times > 1 ? QStringLiteral("×") + formatCount(times) : QString();
    }
    case KernelColumn: return op.kernel;
    case FlopsColumn: return op.is_loop ? QString() : formatFlops(op.flops);
    case BytesColumn:
        return op.is_loop ? QString() : widgets::formatMemory(static_cast<qint64>(op.bytes));
    case MsColumn: return op.ms > 0 ? ms_style_.text(op.ms) : QString();
    case ShareColumn:
        return op.is_loop ? QString() : QStringLiteral("%1 %").arg(op.share * 100, 0, 'f', 1);
    default: return {};
    }
}

QVariant OpModel::sortValue(const Row& row, int column) const {
    switch (column) {
    case KindColumn: return row.sum.kind;
    case PathColumn: return row.sum.path;
    case PhaseColumn: return row.first;
    case CountColumn: return static_cast<qlonglong>(row.sum.times * row.count);
    case KernelColumn: return row.sum.kernel;
    case FlopsColumn: return row.sum.flops;
    case BytesColumn: return row.sum.bytes;
    case MsColumn: return row.sum.ms;
    case ShareColumn: return row.sum.share;
    default: return {};
    }
}

QVariant OpModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) {
        return {};
    }
    if (role == Qt::TextAlignmentRole) {
        return QVariant::fromValue(Qt::Alignment(
            section == CountColumn || section >= FlopsColumn ? Qt::AlignRight : Qt::AlignLeft));
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    const bool timed = digest_ && digest_->timed;
    const QString titles[] = {
        tr("op"),    tr("layer"),  tr("phase"),
        tr("times"), tr("kernel"), tr("FLOPs"),
        tr("bytes"), tr("ms"),     timed ? tr("of the step") : tr("of FLOPs")};
    return titles[section];
}

OpFilter::OpFilter(QObject* parent) : QSortFilterProxyModel(parent) {
    setSortRole(OpModel::kSortRole);
    setDynamicSortFilter(true);
}

void OpFilter::setWords(const QString& text) {
    words_ = text.split(' ', Qt::SkipEmptyParts);
    invalidateFilter();
}

bool OpFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
    QString line;
    for (const int column :
         {OpModel::KindColumn, OpModel::PathColumn, OpModel::PhaseColumn, OpModel::KernelColumn}) {
        line += sourceModel()->index(row, column, parent).data().toString() + ' ';
    }
    return std::all_of(words_.begin(), words_.end(), [&](const QString& word) {
        return line.contains(word, Qt::CaseInsensitive);
    });
}

} // namespace weft::ui
