// SPDX-License-Identifier: GPL-3.0-or-later
// Every device with a small picture of what it holds of one array. Where there are more devices
// than room, the part of the row around the selected one is shown.
#pragma once

#include "widgets/painted_view.h"
#include "widgets/tile_array.h"

namespace weft::widgets {

class HoldingStrip : public PaintedView {
    Q_OBJECT
public:
    explicit HoldingStrip(QWidget* parent = nullptr);

    /// The dimensions drawn downwards and sideways, as in TileView; -1: none.
    void setArray(const TileArray& array, int row_axis, int column_axis);
    void setSelectedDevice(int device);
    void setStale(bool stale);

    int itemCount() const override;
    /// The device that an item is.
    int deviceOf(int item) const { return first() + item; }
    ViewItem item(int index) const override;
    QSize sizeHint() const override { return {320, heightForWidth(320)}; }
    QSize minimumSizeHint() const override;
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;

signals:
    void deviceActivated(int device);

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;
    int neighbour(int index, int key) const override;

private:
    double cellWidth() const;
    int columnsIn(double width) const;
    int shownIn(double width) const; // devices
    int first() const;
    QRectF cell(int index, double width) const;

    int devices_ = 0;
    std::vector<int> mesh_;
    /// Per device what it holds, in a unit square, and in words.
    std::vector<std::vector<QRectF>> parts_;
    std::vector<QString> names_;
    int selected_ = -1;
    bool stale_ = false;
};

} // namespace weft::widgets
