// SPDX-License-Identifier: GPL-3.0-or-later
// UX.md 5, target 14: layers of residual blocks, as a model's graph has them.
#include "tests/perf/studio/figures.h"
#include "tests/perf/studio/suites.h"
#include "widgets/views/graph_layout.h"

#include <QElapsedTimer>

#include <thread>

namespace {

using namespace weft;

/// A chain in which every fourth node also reads what stood before its block.
widgets::Graph residual_graph(int nodes) {
    widgets::Graph graph;
    for (int i = 0; i < nodes; ++i) {
        graph.nodes.push_back({QStringLiteral("op %1").arg(i), {}, {}, 0});
        if (i > 0) {
            graph.edges.push_back({i - 1, i, {}});
        }
        if (i > 4 && i % 4 == 0) {
            graph.edges.push_back({i - 5, i, {}});
        }
        if (i > 60 && i % 60 == 0) { // what all layers share
            graph.edges.push_back({1, i, {}});
        }
    }
    return graph;
}

void lay_out(const char* what, int nodes, double target) {
    const widgets::Graph graph = residual_graph(nodes);
    const std::vector<QSizeF> sizes(static_cast<std::size_t>(nodes), QSizeF(120, 36));
    bench::print(what, bench::timed(3, [&](int) { widgets::layoutGraph(graph, sizes); }), target);
}

} // namespace

void bench_graph() {
    lay_out("14  300 nodes laid out", 300, 200);
    lay_out("14  5,000 nodes laid out, off the GUI thread", 5000, 3000);
    const widgets::Graph graph = residual_graph(5000);
    const std::vector<QSizeF> sizes(5000, QSizeF(120, 36));
    std::stop_source stop;
    std::jthread worker([&] { widgets::layoutGraph(graph, sizes, stop.get_token()); });
    bench::linger(50);
    bench::print("14  to its end when cancelled", bench::timed_once([&] {
                     stop.request_stop();
                     worker.join();
                 }),
                 "ms", 100);
}
