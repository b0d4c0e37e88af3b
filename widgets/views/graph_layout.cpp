// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/graph_layout.h"

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kNodeGapX = 24.0;
constexpr double kNodeGapY = 44.0; // room for the type under a node
constexpr double kGraphMargin = 24.0;
constexpr double kBendWidth = 12.0;
constexpr int kSweeps = 6;
constexpr int kShifts = 8;

/// A node, or the place where a long edge crosses a layer.
struct Cell {
    int layer = 0;
    double width = kBendWidth;
    double x = 0; // centre
    std::vector<int> up, down;
};

class Layouter {
public:
    Layouter(const Graph& graph, const std::vector<QSizeF>& sizes, const std::stop_token& stop)
        : graph_(graph), sizes_(sizes), stop_(stop) {}

    GraphLayout run() {
        assignLayers();
        makeCells();
        fillLayers();
        for (int sweep = 0; sweep < kSweeps && !stop_.stop_requested(); ++sweep) {
            order(sweep % 2 == 0);
        }
        place();
        return stop_.stop_requested() ? GraphLayout{} : result();
    }

private:
    // Longest path from the sources, in an order of the nodes in which edges lead forward (Kahn).
    // What a cycle holds back stays in layer 0 and loses its edges.
    void assignLayers() {
        const std::size_t count = graph_.nodes.size();
        layer_of_.assign(count, 0);
        std::vector<int> waiting(count, 0);
        std::vector<std::vector<int>> out(count);
        for (const GraphEdge& edge : graph_.edges) {
            ++waiting[static_cast<std::size_t>(edge.to)];
            out[static_cast<std::size_t>(edge.from)].push_back(edge.to);
        }
        std::vector<int> ready;
        for (std::size_t i = 0; i < count; ++i) {
            if (waiting[i] == 0) {
                ready.push_back(static_cast<int>(i));
            }
        }
        reached_.assign(count, false);
        for (std::size_t next = 0; next < ready.size(); ++next) {
            const auto node = static_cast<std::size_t>(ready[next]);
            reached_[node] = true;
            for (const int to : out[node]) {
                auto& layer = layer_of_[static_cast<std::size_t>(to)];
                layer = std::max(layer, layer_of_[node] + 1);
                if (--waiting[static_cast<std::size_t>(to)] == 0) {
                    ready.push_back(to);
                }
            }
        }
        sinkSources(out);
    }

    // A source stands right above its first reader, not at the top of a long picture.
    void sinkSources(const std::vector<std::vector<int>>& out) {
        std::vector<bool> has_input(graph_.nodes.size(), false);
        for (const GraphEdge& edge : graph_.edges) {
            has_input[static_cast<std::size_t>(edge.to)] = true;
        }
        for (std::size_t i = 0; i < out.size(); ++i) {
            if (has_input[i] || out[i].empty() || !reached_[i]) {
                continue;
            }
            int first = layer_of_[static_cast<std::size_t>(out[i].front())];
            for (const int to : out[i]) {
                first = std::min(first, layer_of_[static_cast<std::size_t>(to)]);
            }
            layer_of_[i] = std::max(0, first - 1);
        }
    }

    void makeCells() {
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            cells_.push_back({layer_of_[i], sizes_[i].width(), 0, {}, {}});
        }
        for (const GraphEdge& edge : graph_.edges) {
            std::vector<int> chain;
            const int from = layer_of_[static_cast<std::size_t>(edge.from)];
            const int to = layer_of_[static_cast<std::size_t>(edge.to)];
            const bool drawn = reached_[static_cast<std::size_t>(edge.from)] &&
                               reached_[static_cast<std::size_t>(edge.to)] && from < to;
            if (drawn) {
                chain.push_back(edge.from);
                for (int layer = from + 1; layer < to; ++layer) {
                    cells_.push_back({layer, kBendWidth, 0, {}, {}});
                    join(chain.back(), static_cast<int>(cells_.size()) - 1);
                    chain.push_back(static_cast<int>(cells_.size()) - 1);
                }
                join(chain.back(), edge.to);
                chain.push_back(edge.to);
            }
            chains_.push_back(std::move(chain));
        }
    }

    void join(int above, int below) {
        cells_[static_cast<std::size_t>(above)].down.push_back(below);
        cells_[static_cast<std::size_t>(below)].up.push_back(above);
    }

    void fillLayers() {
        for (std::size_t i = 0; i < cells_.size(); ++i) {
            const auto layer = static_cast<std::size_t>(cells_[i].layer);
            layers_.resize(std::max(layers_.size(), layer + 1));
            layers_[layer].push_back(static_cast<int>(i));
        }
        for (auto& layer : layers_) {
            spread(layer);
        }
    }

    /// Left to right with gaps, in the order at hand.
    void spread(const std::vector<int>& layer) {
        double x = 0;
        for (const int cell : layer) {
            Cell& own = cells_[static_cast<std::size_t>(cell)];
            own.x = x + own.width / 2.0;
            x += own.width + kNodeGapX;
        }
    }

    double barycentre(const Cell& cell, bool from_above) const {
        const std::vector<int>& near = from_above ? cell.up : cell.down;
        if (near.empty()) {
            return cell.x;
        }
        double sum = 0;
        for (const int other : near) {
            sum += cells_[static_cast<std::size_t>(other)].x;
        }
        return sum / static_cast<double>(near.size());
    }

    void order(bool downwards) {
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            std::vector<int>& layer = layers_[downwards ? i : layers_.size() - 1 - i];
            std::vector<std::pair<double, int>> wanted;
            for (const int cell : layer) {
                wanted.emplace_back(barycentre(cells_[static_cast<std::size_t>(cell)], downwards),
                                    cell);
            }
            std::stable_sort(wanted.begin(), wanted.end(),
                             [](const auto& a, const auto& b) { return a.first < b.first; });
            for (std::size_t k = 0; k < layer.size(); ++k) {
                layer[k] = wanted[k].second;
            }
            spread(layer);
        }
    }

    // Each cell moves to the middle of its neighbours as far as those beside it leave room.
    void place() {
        for (int pass = 0; pass < kShifts && !stop_.stop_requested(); ++pass) {
            const bool downwards = pass % 2 == 0;
            for (std::size_t i = 0; i < layers_.size(); ++i) {
                shift(layers_[downwards ? i : layers_.size() - 1 - i], downwards);
            }
        }
    }

    void shift(const std::vector<int>& layer, bool downwards) {
        std::vector<double> wanted;
        for (const int cell : layer) {
            wanted.push_back(barycentre(cells_[static_cast<std::size_t>(cell)], downwards));
        }
        // The mean of pushing right from the left end and left from the right end keeps the order
        // and the gaps, and favours neither side.
        std::vector<double> right = wanted;
        std::vector<double> left = wanted;
        for (std::size_t k = 1; k < layer.size(); ++k) {
            right[k] = std::max(right[k], right[k - 1] + distance(layer[k - 1], layer[k]));
        }
        for (std::size_t k = layer.size(); k-- > 1;) {
            left[k - 1] = std::min(left[k - 1], left[k] - distance(layer[k - 1], layer[k]));
        }
        for (std::size_t k = 0; k < layer.size(); ++k) {
            cells_[static_cast<std::size_t>(layer[k])].x = (left[k] + right[k]) / 2.0;
        }
    }

    double distance(int a, int b) const {
        return (cells_[static_cast<std::size_t>(a)].width +
                cells_[static_cast<std::size_t>(b)].width) /
                   2.0 +
               kNodeGapX;
    }

    GraphLayout result() const {
        GraphLayout out;
        double least = 0;
        for (const Cell& cell : cells_) {
            least = std::min(least, cell.x - cell.width / 2.0);
        }
        std::vector<double> top(layers_.size() + 1, kGraphMargin);
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            double height = 0;
            for (const int cell : layers_[i]) {
                if (static_cast<std::size_t>(cell) < sizes_.size()) {
                    height = std::max(height, sizes_[static_cast<std::size_t>(cell)].height());
                }
            }
            top[i + 1] = top[i] + height + kNodeGapY;
        }
        const auto x = [&](const Cell& cell) { return std::round(cell.x - least + kGraphMargin); };
        double most = 0;
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            const Cell& cell = cells_[i];
            const QSizeF size = sizes_[i];
            out.nodes.push_back({x(cell) - size.width() / 2.0,
                                 top[static_cast<std::size_t>(cell.layer)], size.width(),
                                 size.height()});
        }
        for (const Cell& cell : cells_) {
            most = std::max(most, x(cell) + cell.width / 2.0);
        }
        for (const std::vector<int>& chain : chains_) {
            QPolygonF line;
            for (std::size_t k = 0; k < chain.size(); ++k) {
                const Cell& cell = cells_[static_cast<std::size_t>(chain[k])];
                const double head = top[static_cast<std::size_t>(cell.layer)];
                if (k == 0) {
                    line << QPointF(x(cell),
                                    out.nodes[static_cast<std::size_t>(chain[k])].bottom());
                } else if (k + 1 == chain.size()) {
                    line << QPointF(x(cell), head);
                } else {
                    line << QPointF(x(cell), head)
                         << QPointF(x(cell),
                                    top[static_cast<std::size_t>(cell.layer) + 1] - kNodeGapY);
                }
            }
            out.edges.push_back(std::move(line));
        }
        out.size = QSizeF(most + kGraphMargin,
                          graph_.nodes.empty() ? 0 : top.back() - kNodeGapY + kGraphMargin);
        return out;
    }

    const Graph& graph_;
    const std::vector<QSizeF>& sizes_;
    const std::stop_token& stop_;
    std::vector<int> layer_of_; // [node]
    std::vector<bool> reached_; // [node]
    std::vector<Cell> cells_;   // nodes first
    std::vector<std::vector<int>> layers_;
    std::vector<std::vector<int>> chains_; // [edge] cells
};

} // namespace

GraphLayout layoutGraph(const Graph& graph, const std::vector<QSizeF>& sizes,
                        const std::stop_token& stop) {
    return Layouter(graph, sizes, stop).run();
}

} // namespace weft::widgets
