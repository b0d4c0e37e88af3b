// SPDX-License-Identifier: GPL-3.0-or-later
// The layers of a model in order, grouped into the stages of a pipeline: boxes as wide as their
// work, a band for each part, borders that are dragged or moved by arrow keys. An axis that is
// dropped onto it asks for as many stages.
#pragma once

#include "widgets/views/painted_view.h"

#include <vector>

namespace weft::widgets {

struct StripLayer {
    QString name;
    double work = 1; // in any unit
};

class StageStrip : public PaintedView {
    Q_OBJECT
public:
    explicit StageStrip(QWidget* parent = nullptr);

    /// `counts`: layers of each part, in order, none empty; they add up to all layers. Part p is
    /// of stage p modulo `stages`.
    void setParts(std::vector<StripLayer> layers, std::vector<int> counts, int stages);
    const std::vector<int>& counts() const { return counts_; }
    /// Boxes of the same width instead.
    void setEqual(bool equal);
    /// Values that a newer plan will replace are drawn faint.
    void setStale(bool stale);
    /// Of all work, 0 to 1.
    double share(int part) const;

    /// Parts and the borders between them, alternating: item 2 p is part p, item 2 p + 1 the border
    /// behind it.
    int itemCount() const override;
    ViewItem item(int index) const override;
    int hitTest(const QPointF& position) const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    /// A border was let go at another place, or moved by a key.
    void countsChosen(const std::vector<int>& counts);
    void axisDropped(const QString& axis);

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    /// Adds Left and Right on a border: it moves by one layer.
    void keyPressEvent(QKeyEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dragLeaveEvent(QDragLeaveEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    int parts() const { return static_cast<int>(counts_.size()); }
    /// The first layer of a part; of the one behind the last: all layers.
    int first(int part) const;
    /// Where a layer begins.
    double edge(int layer, double width) const;
    QRectF partRect(int part, double width) const;
    QString partName(int part) const;
    /// Moves the border behind a part as near to a layer's begin as its neighbours allow.
    bool moveBorder(int border, int layer);
    void describe();
    void paintPart(QPainter& painter, int part, double width) const;
    void paintLayers(QPainter& painter, double width) const;

    std::vector<StripLayer> layers_;
    std::vector<double> sums_{0}; // of work before each layer, and of all
    std::vector<int> counts_;
    std::vector<int> before_; // the drag
    int stages_ = 1;
    int dragged_ = -1; // border
    bool equal_ = false;
    bool stale_ = false;
    bool drop_ = false;
};

} // namespace weft::widgets
