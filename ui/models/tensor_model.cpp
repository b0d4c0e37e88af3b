// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/tensor_model.h"

#include "ui/bridge/convert.h"

#include <QHash>
#include <QPainter>
#include <QPixmap>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr int kSwatch = 10;
constexpr double kSwatchScale = 2.0; // sharp at twice the scale, fine at once

QPixmap swatch(widgets::MemoryCategory category) {
    QPixmap pixmap(QSize(kSwatch, kSwatch) * kSwatchScale);
    pixmap.setDevicePixelRatio(kSwatchScale);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    widgets::paintFill(painter, QRectF(0, 0, kSwatch, kSwatch),
                       widgets::Theme::current().memory(category), widgets::memoryFill(category));
    return pixmap;
}

} // namespace

TensorModel::TensorModel(QObject* parent) : QAbstractTableModel(parent) {}

void TensorModel::setContent(std::shared_ptr<const PlanDigest> digest, int op) {
    beginResetModel();
    digest_ = std::move(digest);
    op_ = digest_ && op < static_cast<int>(digest_->ops.size()) ? op : -1;
    rows_.clear();
    tensor_count_ = 0;
    total_bytes_ = 0;
    QHash<QString, int> known;
    for (const int index : op_ >= 0 ? digest_->aliveAt(op_) : std::vector<int>{}) {
        const PlanTensor& tensor = digest_->tensors[static_cast<std::size_t>(index)];
        const QString name = withoutNumbers(tensor.name);
        const QString key = name + '\n' + QString::number(static_cast<int>(tensor.category));
        ++tensor_count_;
        total_bytes_ += tensor.bytes;
        const auto found = known.constFind(key);
        if (found == known.constEnd()) {
            known.insert(key, static_cast<int>(rows_.size()));
            rows_.push_back({tensor, 1});
            continue;
        }
        Row& row = rows_[static_cast<std::size_t>(*found)];
        ++row.count;
        row.sum.name = name;
        row.sum.bytes += tensor.bytes;
        row.sum.first = std::min(row.sum.first, tensor.first);
        row.sum.last = std::max(row.sum.last, tensor.last);
    }
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const Row& a, const Row& b) { return a.sum.bytes > b.sum.bytes; });
    endResetModel();
}

int TensorModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int TensorModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant TensorModel::data(const QModelIndex& index, int role) const {
    const Row& row = rows_[static_cast<std::size_t>(index.row())];
    const int column = index.column();
    using widgets::Theme;
    switch (role) {
    case Qt::DisplayRole: return display(row, column);
    case Qt::DecorationRole: return column == NameColumn ? swatch(row.sum.category) : QVariant();
    case Qt::ToolTipRole: return describe(row);
    case Qt::AccessibleTextRole:
        return column == NameColumn
                   ? row.sum.name + ", " + widgets::memoryName(row.sum.category).toLower()
                   : display(row, column);
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(Qt::Alignment(
            Qt::AlignVCenter | (column == NameColumn ? Qt::AlignLeft : Qt::AlignRight)));
    case Qt::FontRole: return Theme::current().font(widgets::TextStyle::Mono);
    case Qt::ForegroundRole:
        return column == NameColumn || column == BytesColumn
                   ? QVariant()
                   : QVariant(Theme::current().color(widgets::Role::Muted));
    default: return {};
    }
}

QString TensorModel::describe(const Row& row) {
    const QString life =
        row.sum.whole_step ? tr("alive before and after the step")
        : row.count > 1
            ? tr("the first born at op %1, the last gone after op %2")
                  .arg(row.sum.first + 1)
                  .arg(row.sum.last + 1)
            : tr("born at op %1, gone after op %2").arg(row.sum.first + 1).arg(row.sum.last + 1);
    return QStringLiteral("%1\n%2, %3\n%4")
        .arg(row.sum.name, widgets::memoryName(row.sum.category),
             widgets::formatMemory(row.sum.bytes), life);
}

QVariant TensorModel::display(const Row& row, int column) const {
    switch (column) {
    case NameColumn: return row.sum.name;
    case CountColumn:
        return row.count > 1 ? QStringLiteral("×") + formatCount(row.count) : QString();
    case BytesColumn: return widgets::formatMemory(row.sum.bytes);
    case LifeColumn:
        return row.sum.whole_step
                   ? tr("always")
                   : QStringLiteral("%1–%2").arg(row.sum.first + 1).arg(row.sum.last + 1);
    default: return {};
    }
}

QVariant TensorModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) {
        return {};
    }
    if (role == Qt::TextAlignmentRole) {
        return QVariant::fromValue(
            Qt::Alignment(section == NameColumn ? Qt::AlignLeft : Qt::AlignRight));
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    const QString titles[] = {tr("tensor"), tr("count"), tr("bytes"), tr("alive at ops")};
    return titles[section];
}

} // namespace weft::ui
