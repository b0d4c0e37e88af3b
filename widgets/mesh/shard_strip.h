// SPDX-License-Identifier: GPL-3.0-or-later
// Every distinct shard of an array: its owners as badges, how many copies that is, and a small
// picture of what of the array it is. Where there are more shards than room, those around the one
// of the selected device are shown.
#pragma once

#include "widgets/mesh/tile_array.h"
#include "widgets/views/painted_view.h"

namespace weft::widgets {

class ShardStrip : public PaintedView {
    Q_OBJECT
public:
    explicit ShardStrip(QWidget* parent = nullptr);

    /// The dimensions drawn downwards and sideways, as in TileView; -1: none.
    void setArray(const TileArray& array, int row_axis, int column_axis);
    void setSelectedDevice(int device);
    void setStale(bool stale);

    /// One below the other, as many as the height has room for; else in up to three lines.
    void setColumn(bool column);

    int itemCount() const override;
    /// The shard that an item is.
    int shardOf(int item) const { return first() + item; }
    ViewItem item(int index) const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;
    bool hasHeightForWidth() const override { return !column_; }
    int heightForWidth(int width) const override;

signals:
    /// A shard was clicked: one of its owners, the next one with every click.
    void deviceActivated(int device);

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;
    int neighbour(int index, int key) const override;

private:
    int badgeCount() const; // in a cell
    QString countText(int copies) const;
    double countWidth() const;
    double cellWidth() const;
    int columnsIn(double width) const;
    int mostRows() const;
    int shownIn(double width) const; // shards
    int first() const;
    QRectF cell(int index, double width) const;
    double paintOwners(QPainter& painter, int shard, const QRectF& place,
                       const std::vector<QColor>& colors) const;
    void paintPart(QPainter& painter, int shard, const QRectF& box, const QColor& color) const;

    ShardGroups shards_;
    std::vector<int> mesh_;
    /// Per shard what it is of the array, in a unit square and in words.
    std::vector<std::vector<QRectF>> parts_;
    std::vector<QString> names_;
    int most_owners_ = 0; // of a shard
    int selected_ = -1;
    bool stale_ = false;
    bool column_ = false;
};

} // namespace weft::widgets
