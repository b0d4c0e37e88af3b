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

QString aliveStory(const AliveRow& row) {
    const QString life = row.sum.whole_step ? TensorModel::tr("alive before and after the step")
                         : row.count > 1
                             ? TensorModel::tr("the first born at op %1, the last gone after op %2")
                                   .arg(row.sum.first + 1)
                                   .arg(row.sum.last + 1)
                             : TensorModel::tr("born at op %1, gone after op %2")
                                   .arg(row.sum.first + 1)
                                   .arg(row.sum.last + 1);
    return QStringLiteral("%1\n%2, %3\n%4")
        .arg(row.sum.name, widgets::memoryName(row.sum.category),
             widgets::formatMemory(row.sum.bytes), life);
}

QString aliveCount(const AliveRow& row) {
    return row.count > 1 ? QStringLiteral("×") + formatCount(row.count) : QString();
}

QString lifeText(const AliveRow& row) {
    return row.sum.whole_step
               ? TensorModel::tr("always")
               : QStringLiteral("%1–%2").arg(row.sum.first + 1).arg(row.sum.last + 1);
}

} // namespace

TensorModel::TensorModel(QObject* parent) : TableModel(parent) {
    using Row = AliveRow;
    using widgets::Role;
    using widgets::TextStyle;
    const auto spoken = [](const Row& row) {
        return QString(row.sum.name + ", " + widgets::memoryName(row.sum.category).toLower());
    };
    describe(
        {{.title = tr("tensor"),
          .text = [](const Row& row) { return row.sum.name; },
          .font = TextStyle::Mono,
          .spoken = spoken},
         {.title = tr("count"), .text = aliveCount, .number = true, .color = Role::Muted},
         {.title = tr("bytes"),
          .text = [](const Row& row) { return widgets::formatMemory(row.sum.bytes); },
          .number = true},
         {.title = tr("alive at ops"), .text = lifeText, .number = true, .color = Role::Muted}},
        aliveStory);
}

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
        AliveRow& row = rows_[static_cast<std::size_t>(*found)];
        ++row.count;
        row.sum.name = name;
        row.sum.bytes += tensor.bytes;
        row.sum.first = std::min(row.sum.first, tensor.first);
        row.sum.last = std::max(row.sum.last, tensor.last);
    }
    std::stable_sort(rows_.begin(), rows_.end(), [](const AliveRow& a, const AliveRow& b) {
        return a.sum.bytes > b.sum.bytes;
    });
    endResetModel();
}

QVariant TensorModel::data(const QModelIndex& index, int role) const {
    return role == Qt::DecorationRole && index.column() == NameColumn
               ? QVariant(swatch(row(index.row()).sum.category))
               : TableModel::data(index, role);
}

} // namespace weft::ui
