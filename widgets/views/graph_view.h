// SPDX-License-Identifier: GPL-3.0-or-later
// A laid out graph, painted: nodes as boxes, edges with the type of what flows. As large as the
// graph at its zoom; put it into a GraphScroll, which drags and zooms it.
#pragma once

#include "widgets/views/graph_layout.h"
#include "widgets/views/painted_view.h"

#include <QScrollArea>

namespace weft::widgets {

/// Sizes of the boxes in the present theme: what layoutGraph needs.
std::vector<QSizeF> graphNodeSizes(const Graph& graph);

class GraphView : public PaintedView {
    Q_OBJECT
public:
    explicit GraphView(QWidget* parent = nullptr);

    void setGraph(Graph graph, GraphLayout layout);
    const Graph& graph() const { return graph_; }
    /// Nodes that are chosen beside the cursor's.
    void setMarked(std::vector<int> nodes);
    const std::vector<int>& marked() const { return marked_; }
    double zoom() const { return zoom_; }
    /// 0.1 to 3.
    void setZoom(double zoom);

    int itemCount() const override { return static_cast<int>(layout_.nodes.size()); }
    ViewItem item(int index) const override;
    QSize sizeHint() const override;

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;
    /// Up and Down along edges, Left and Right within a layer.
    int neighbour(int index, int key) const override;

private:
    void paintEdges(QPainter& painter) const;
    void paintNode(QPainter& painter, int index) const;
    void paintTypes(QPainter& painter) const;

    Graph graph_;
    GraphLayout layout_;
    std::vector<int> marked_;
    double zoom_ = 1.0;
};

/// Scrolls a GraphView: drag moves it, Ctrl and the wheel, + and - zoom, F fits it.
class GraphScroll : public QScrollArea {
    Q_OBJECT
public:
    explicit GraphScroll(QWidget* parent = nullptr);
    GraphView* view() const { return view_; }
    void fit();
    /// Scrolls until a node is seen.
    void showNode(int index);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    bool drag(QEvent* event);

    GraphView* view_;
    QPoint grabbed_;
    bool dragging_ = false;
};

} // namespace weft::widgets
