// SPDX-License-Identifier: GPL-3.0-or-later
// Places the nodes of a directed graph in layers, sources first (the scheme of Sugiyama, Tagawa and
// Toda, 1981): longest-path layers, long edges broken at each layer, crossings lowered by
// barycentre sweeps. Pure: no painting, safe on any thread.
#pragma once

#include <QPointF>
#include <QPolygonF>
#include <QRectF>
#include <QSizeF>
#include <QString>

#include <stop_token>
#include <vector>

namespace weft::widgets {

struct GraphNode {
    QString title;   // first line: "matmul"
    QString detail;  // second line, faint: "blocks.3.mlp.up"
    QString tooltip; // empty: title and detail
    int slot = -1;   // colour of its kind, of Theme::series; -1: of none
    int shade = 0;   // 0 plain, 1 tinted, 2 grey, 3 outside of what is shown (dashed), 4 at fault
};

struct GraphEdge {
    int from = 0;
    int to = 0;
    QString label;      // type of what flows: "f32[256,784]"
    bool wrong = false; // what flows is not what the other end takes
};

struct Graph {
    std::vector<GraphNode> nodes;
    std::vector<GraphEdge> edges; // without cycles; an edge that would close one is left out
};

struct GraphLayout {
    std::vector<QRectF> nodes;    // as Graph::nodes
    std::vector<QPolygonF> edges; // as Graph::edges, from the node's foot to the other's head;
                                  // empty: left out
    QSizeF size;
};

/// `sizes`: one per node, device-independent pixels. Returns an empty layout when stopped.
GraphLayout layoutGraph(const Graph& graph, const std::vector<QSizeF>& sizes,
                        const std::stop_token& stop = {});

} // namespace weft::widgets
