// SPDX-License-Identifier: GPL-3.0-or-later
// One array to scale, cut into the tiles that devices hold: a tile for each, however many hold it,
// with its owners as badges and its copies as a count; two owners with colours of their own as a
// hatch. Slices on the edges, padding dotted. Two dimensions are
// drawn; of more, the view shows one piece of the rest at a time.
#pragma once

#include "widgets/mesh/tile_array.h"
#include "widgets/views/painted_view.h"

namespace weft::widgets {

class TileView : public PaintedView {
    Q_OBJECT
public:
    explicit TileView(QWidget* parent = nullptr);

    /// Draws the two dimensions that are split most, or else the largest.
    void setArray(TileArray array);
    const TileArray& array() const { return array_; }
    const ShardGroups& shards() const { return shards_; }
    /// Dimensions drawn downwards and sideways; -1 where the array has none. A different pair shows
    /// the first piece of the rest.
    void setAxes(int row, int column);
    /// Of the sides, across to down.
    double ratio() const;
    int rowAxis() const { return row_axis_; }
    int columnAxis() const { return column_axis_; }
    /// The pieces that the other dimensions are split into, and the one shown.
    int pieceCount() const;
    int piece() const { return piece_; }
    void setPiece(int piece);
    /// The slice that is shown: "[0:3, 0:3, :, :]".
    QString pieceText() const;

    /// Lights the tiles of one device; -1: all alike.
    void setSelectedDevice(int device);
    int selectedDevice() const { return selected_; }
    /// Values that a newer plan will replace are drawn faint.
    void setStale(bool stale);

    int rowCount() const;
    int columnCount() const;
    int itemCount() const override {
        return array_.tileCount() == 0 ? 0 : rowCount() * columnCount();
    }
    ViewItem item(int index) const override;
    int hitTest(const QPointF& position) const override;
    QSize sizeHint() const override { return {320, 160}; }
    QSize minimumSizeHint() const override { return {160, 96}; }

signals:
    /// A tile was clicked: one of its devices, the next one with every click.
    void deviceActivated(int device);

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;
    int neighbour(int index, int key) const override;

private:
    /// Where the spans of one drawn dimension lie, in pixels; one more start than spans.
    struct Edges {
        std::vector<double> starts;
        std::vector<double> ends; // of the real elements
    };
    struct Layout {
        QRectF box;
        Edges columns;
        Edges rows;
        bool to_scale = true;

        QRectF tile(int row, int column) const;  // real elements
        QRectF whole(int row, int column) const; // with padding
    };

    Layout layoutFor(const QSizeF& view_size) const;
    qint64 extent(int axis) const; // with padding; 1 without an axis
    Edges edgesOf(int axis, double start, double length) const;
    int tileOf(int item) const;
    void findTiles();
    void chooseAxes();
    void activate(int item);
    QString rangeName(int axis, int span) const;

    void paintTiles(QPainter& painter, const Layout& layout) const;
    void paintPadding(QPainter& painter, const Layout& layout) const;
    void paintLabel(QPainter& painter, const QRectF& rect, const std::vector<int>& devices,
                    const std::vector<QColor>& colors) const;
    void paintColumnTexts(QPainter& painter, const Layout& layout) const;
    void paintRowTexts(QPainter& painter, const Layout& layout) const;
    double rowTextWidth() const;

    TileArray array_;
    ShardGroups shards_;
    int row_axis_ = -1;
    int column_axis_ = -1;
    int piece_ = 0;
    int first_tile_ = 0; // of the piece; from one row or column to the next:
    int row_stride_ = 0;
    int column_stride_ = 0;
    int selected_ = -1;
    bool stale_ = false;
};

} // namespace weft::widgets
