// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/graph_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <set>

namespace weft::widgets {
namespace {

constexpr double kNodePadding = 10.0;
constexpr double kLeastNodeWidth = 72.0;
constexpr double kMostNodeWidth = 280.0;
constexpr double kLeastZoom = 0.1;
constexpr double kMostZoom = 3.0;
constexpr double kKindWidth = 4.0;    // stripe in the colour of a kind
constexpr double kReadableZoom = 0.5; // smaller: boxes without words

} // namespace

std::vector<QSizeF> graphNodeSizes(const Graph& graph) {
    const QFont title = Theme::current().font(TextStyle::Strong);
    const QFont detail = Theme::current().font(TextStyle::MonoSmall);
    std::vector<QSizeF> sizes;
    for (const GraphNode& node : graph.nodes) {
        const double width = std::max(textWidth(title, node.title), textWidth(detail, node.detail));
        const double height = lineHeight(TextStyle::Strong) +
                              (node.detail.isEmpty() ? 0.0 : lineHeight(TextStyle::MonoSmall)) +
                              10.0;
        sizes.emplace_back(
            std::clamp(std::ceil(width) + 2.0 * kNodePadding, kLeastNodeWidth, kMostNodeWidth),
            height);
    }
    return sizes;
}

GraphView::GraphView(QWidget* parent) : PaintedView(parent) {
    setAccessibleName(tr("Graph of ops"));
}

void GraphView::setGraph(Graph graph, GraphLayout layout) {
    graph_ = std::move(graph);
    layout_ = std::move(layout);
    marked_.clear();
    setCursorItem(-1);
    itemsChanged();
    resize(sizeHint());
}

void GraphView::setMarked(std::vector<int> nodes) {
    marked_ = std::move(nodes);
    update();
}

void GraphView::setZoom(double zoom) {
    zoom_ = std::clamp(zoom, kLeastZoom, kMostZoom);
    itemsChanged();
    resize(sizeHint());
}

QSize GraphView::sizeHint() const {
    return (layout_.size * zoom_).toSize().expandedTo(QSize(1, 1));
}

ViewItem GraphView::item(int index) const {
    const auto at = static_cast<std::size_t>(index);
    const GraphNode& node = graph_.nodes[at];
    const QRectF& rect = layout_.nodes[at];
    const QString name =
        node.detail.isEmpty() ? node.title : node.title + QLatin1Char(' ') + node.detail;
    return {QRectF(rect.topLeft() * zoom_, rect.size() * zoom_), name,
            node.tooltip.isEmpty() ? name : node.tooltip};
}

int GraphView::neighbour(int index, int key) const {
    if (key == Qt::Key_Left || key == Qt::Key_Right) {
        const QRectF& own = layout_.nodes[static_cast<std::size_t>(index)];
        int best = index;
        double nearest = 1e18;
        for (int i = 0; i < itemCount(); ++i) {
            const QRectF& other = layout_.nodes[static_cast<std::size_t>(i)];
            const double away =
                key == Qt::Key_Right ? other.left() - own.left() : own.left() - other.left();
            if (other.top() == own.top() && away > 0.0 && away < nearest) {
                nearest = away;
                best = i;
            }
        }
        return best;
    }
    for (const GraphEdge& edge : graph_.edges) {
        if (key == Qt::Key_Down && edge.from == index) {
            return edge.to;
        }
        if (key == Qt::Key_Up && edge.to == index) {
            return edge.from;
        }
    }
    return index;
}

void GraphView::paintScene(QPainter& painter, const QSizeF&) const {
    painter.save();
    painter.scale(zoom_, zoom_);
    paintEdges(painter);
    for (int i = 0; i < itemCount(); ++i) {
        paintNode(painter, i);
    }
    paintTypes(painter);
    painter.restore();
}

// Edges of the node under the pointer or the cursor stand out.
void GraphView::paintEdges(QPainter& painter) const {
    const Theme& theme = Theme::current();
    const int chosen = hoveredItem() >= 0 ? hoveredItem() : cursorItem();
    for (const bool strong : {false, true}) {
        for (std::size_t i = 0; i < graph_.edges.size(); ++i) {
            const GraphEdge& edge = graph_.edges[i];
            const QPolygonF& line = layout_.edges[i];
            const bool own = chosen >= 0 && (edge.from == chosen || edge.to == chosen);
            if (own != strong || line.isEmpty()) {
                continue;
            }
            const QColor color = theme.color(edge.wrong ? Role::Error
                                             : own      ? Role::Accent
                                                        : Role::Border);
            painter.setPen(QPen(color, own || edge.wrong ? 1.8 : 1.0,
                                edge.wrong ? Qt::DashLine : Qt::SolidLine));
            painter.setBrush(Qt::NoBrush);
            QPainterPath path(line.front());
            for (qsizetype k = 1; k < line.size(); ++k) {
                const double middle = (line[k - 1].y() + line[k].y()) / 2.0;
                path.cubicTo(QPointF(line[k - 1].x(), middle), QPointF(line[k].x(), middle),
                             line[k]);
            }
            painter.drawPath(path);
            painter.setPen(Qt::NoPen);
            painter.setBrush(color);
            const QPointF tip = line.back();
            painter.drawPolygon(
                QPolygonF{tip, tip + QPointF(-3.5, -7.0), tip + QPointF(3.5, -7.0)});
        }
    }
}

void GraphView::paintNode(QPainter& painter, int index) const {
    const Theme& theme = Theme::current();
    const auto at = static_cast<std::size_t>(index);
    const GraphNode& node = graph_.nodes[at];
    const QRectF& rect = layout_.nodes[at];
    const bool chosen = index == cursorItem() || index == hoveredItem() ||
                        std::find(marked_.begin(), marked_.end(), index) != marked_.end();
    const Role fill = node.shade == 1   ? Role::AccentTint
                      : node.shade == 2 ? Role::EmptyBar
                      : node.shade == 3 ? Role::Surface
                      : node.shade == 4 ? Role::ErrorTint
                                        : Role::Inset;
    const Role border = node.shade == 4 ? Role::Error : chosen ? Role::Accent : Role::Border;
    paintSurface(painter, rect, size::kRadius, theme.color(fill), theme.color(border),
                 node.shade == 3 ? Qt::DashLine : Qt::SolidLine, chosen ? 2.0 : 1.0);
    if (node.slot >= 0 && node.shade != 4) { // the words say the kind, too
        painter.save();
        painter.setClipRect(QRectF(rect.topLeft(), QSizeF(kKindWidth, rect.height())));
        paintSurface(painter, rect, size::kRadius, theme.series(node.slot),
                     theme.series(node.slot));
        painter.restore();
    }
    if (zoom_ < kReadableZoom) {
        return;
    }
    const QRectF inner = rect.adjusted(kNodePadding, 4.0, -kNodePadding, -4.0);
    const double title = lineHeight(TextStyle::Strong);
    paintText(painter, QRectF(inner.left(), inner.top(), inner.width(), title),
              Qt::AlignLeft | Qt::AlignVCenter, node.title, theme.font(TextStyle::Strong),
              theme.color(node.shade == 3 ? Role::Muted : Role::Text));
    paintText(painter,
              QRectF(inner.left(), inner.top() + title, inner.width(), inner.height() - title),
              Qt::AlignLeft | Qt::AlignVCenter, node.detail, theme.font(TextStyle::MonoSmall),
              theme.color(Role::Muted), Qt::ElideLeft);
}

// Once under each node whose value flows on: every edge from it carries the same.
void GraphView::paintTypes(QPainter& painter) const {
    if (zoom_ < kReadableZoom) {
        return;
    }
    const Theme& theme = Theme::current();
    const QFont mono = theme.font(TextStyle::MonoSmall);
    std::set<std::pair<int, QString>> painted;
    std::vector<int> lines(graph_.nodes.size(), 0);
    for (std::size_t i = 0; i < graph_.edges.size(); ++i) {
        const GraphEdge& edge = graph_.edges[i];
        const auto from = static_cast<std::size_t>(edge.from);
        if (edge.label.isEmpty() || layout_.edges[i].isEmpty() || lines[from] >= 2 ||
            !painted.insert({edge.from, edge.label}).second) {
            continue;
        }
        const QRectF& node = layout_.nodes[from];
        const double line = lineHeight(TextStyle::MonoSmall);
        const double width = std::ceil(textWidth(mono, edge.label)) + 4.0;
        const QRectF place(node.center().x() + 4.0, node.bottom() + 3.0 + line * lines[from]++,
                           width, line);
        QColor back = theme.color(Role::Surface);
        back.setAlphaF(0.8F);
        painter.fillRect(place, back);
        paintText(painter, place.adjusted(2, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, edge.label,
                  mono, theme.color(Role::Muted), Qt::ElideNone);
    }
}

GraphScroll::GraphScroll(QWidget* parent) : QScrollArea(parent), view_(new GraphView) {
    setWidget(view_);
    setWidgetResizable(false);
    setAlignment(Qt::AlignHCenter | Qt::AlignTop);
    setFrameShape(QFrame::NoFrame);
    setFocusProxy(view_);
    view_->installEventFilter(this);
    connect(view_, &PaintedView::cursorChanged, this, &GraphScroll::showNode);
}

void GraphScroll::showNode(int index) {
    if (index >= 0) {
        const QRectF rect = view_->item(index).rect;
        ensureVisible(static_cast<int>(rect.center().x()), static_cast<int>(rect.center().y()),
                      static_cast<int>(rect.width()) / 2 + 24,
                      static_cast<int>(rect.height()) / 2 + 24);
    }
}

void GraphScroll::fit() {
    const QSizeF whole = QSizeF(view_->sizeHint()) / view_->zoom();
    view_->setZoom(std::min({1.0, viewport()->width() / std::max(1.0, whole.width()),
                             viewport()->height() / std::max(1.0, whole.height())}));
}

bool GraphScroll::eventFilter(QObject* watched, QEvent* event) {
    if (watched != view_) {
        return QScrollArea::eventFilter(watched, event);
    }
    if (event->type() == QEvent::Wheel) {
        auto* wheel = static_cast<QWheelEvent*>(event);
        if (wheel->modifiers() & Qt::ControlModifier) {
            view_->setZoom(view_->zoom() * std::pow(1.2, wheel->angleDelta().y() / 120.0));
            return true;
        }
    }
    if (event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Plus || key == Qt::Key_Equal || key == Qt::Key_Minus) {
            view_->setZoom(view_->zoom() * (key == Qt::Key_Minus ? 1.0 / 1.25 : 1.25));
            return true;
        }
        if (key == Qt::Key_F) {
            fit();
            return true;
        }
    }
    return drag(event) || QScrollArea::eventFilter(watched, event);
}

bool GraphScroll::drag(QEvent* event) {
    if (event->type() == QEvent::MouseButtonPress) {
        auto* mouse = static_cast<QMouseEvent*>(event);
        dragging_ = mouse->button() == Qt::LeftButton && view_->hitTest(mouse->position()) < 0;
        grabbed_ = mouse->globalPosition().toPoint();
    } else if (event->type() == QEvent::MouseMove && dragging_) {
        const QPoint at = static_cast<QMouseEvent*>(event)->globalPosition().toPoint();
        horizontalScrollBar()->setValue(horizontalScrollBar()->value() - (at - grabbed_).x());
        verticalScrollBar()->setValue(verticalScrollBar()->value() - (at - grabbed_).y());
        grabbed_ = at;
        return true;
    } else if (event->type() == QEvent::MouseButtonRelease) {
        dragging_ = false;
    }
    return false;
}

} // namespace weft::widgets
