// SPDX-License-Identifier: GPL-3.0-or-later
#include "pages.h"

#include "widgets/controls/card.h"
#include "widgets/controls/flow_layout.h"
#include "widgets/controls/line_view.h"
#include "widgets/controls/text_label.h"
#include "widgets/mesh/axis_chip.h"
#include "widgets/mesh/collective_view.h"
#include "widgets/mesh/gantt_view.h"
#include "widgets/mesh/stage_strip.h"
#include "widgets/views/graph_view.h"
#include "widgets/views/memory_timeline.h"
#include "widgets/views/trade_off_chart.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

namespace weft::gallery {

using namespace widgets;

namespace {

constexpr qint64 kMiB = 1 << 20;
constexpr int kLayers = 12;
constexpr int kOpsInLayer = 6;

/// Forward piles activations up, backward takes them down: the shape of every training step.
TimelineData makeStep() {
    TimelineData data;
    TimelineLayer parameters{MemoryCategory::Parameters, {}};
    TimelineLayer gradients{MemoryCategory::Gradients, {}};
    TimelineLayer optimizer{MemoryCategory::Optimizer, {}};
    TimelineLayer staging{MemoryCategory::Staging, {}};
    TimelineLayer library{MemoryCategory::Library, {}};
    TimelineLayer activations{MemoryCategory::Activations, {}};
    TimelineLayer workspace{MemoryCategory::Workspace, {}};
    const int forward = kLayers * kOpsInLayer;
    for (int i = 0; i < 2 * forward + 8; ++i) {
        const bool update = i >= 2 * forward;
        const int kept = i < forward ? i : std::max(0, 2 * forward - i);
        data.names.push_back(update
                                 ? QStringLiteral("adamw")
                                 : QStringLiteral("matmul blocks.%1.mlp.up")
                                       .arg((i < forward ? i : 2 * forward - 1 - i) / kOpsInLayer));
        parameters.bytes.push_back(41 * kMiB);
        gradients.bytes.push_back(i < forward ? 0 : (i - forward + 1) * 41 * kMiB / (forward + 8));
        optimizer.bytes.push_back(82 * kMiB);
        staging.bytes.push_back(60 * kMiB);
        library.bytes.push_back(32 * kMiB);
        activations.bytes.push_back(update ? 0 : (12 + kept * 9) * kMiB);
        workspace.bytes.push_back(i % kOpsInLayer == 2 && !update ? 48 * kMiB : 0);
    }
    data.layers = {parameters, gradients, optimizer, staging, library, activations, workspace};
    data.spans = {{QStringLiteral("forward"), 0, forward, 0},
                  {QStringLiteral("backward"), forward, forward, 1},
                  {QStringLiteral("update"), 2 * forward, 8, 2}};
    return data;
}

QWidget* makeTimeline() {
    auto* timeline = new MemoryTimeline;
    timeline->setData(makeStep());
    timeline->setLimit(900 * kMiB);
    std::vector<qint64> ghost;
    for (int i = 0; i < 180; ++i) {
        ghost.push_back((260 + (i > 72 ? 120 : i) + (i % 9) * 6) * kMiB);
    }
    timeline->setGhost(std::move(ghost), QStringLiteral("recompute blocks: 420 MiB"));
    timeline->setCursorItem(40);
    return timeline;
}

/// 1F1B of four stages and six microbatches, with the halves of each backward one after the other.
QWidget* makePipeline() {
    GanttData data;
    data.unit = QStringLiteral("ms");
    constexpr int kStages = 4;
    constexpr int kMicrobatches = 6;
    for (int stage = 0; stage < kStages; ++stage) {
        GanttRow row{QStringLiteral("blocks.%1").arg(stage), {}};
        const int ahead = kStages - 1 - stage; // forwards before the first backward
        for (int m = 0; m < ahead; ++m) {
            row.cells.push_back({GanttKind::Forward, m, 0, stage + 1.0 * m, stage + 1.0 * m + 1});
        }
        double time = stage + 3.0 * ahead;
        for (int m = 0; m < kMicrobatches; ++m) {
            if (m + ahead < kMicrobatches) {
                row.cells.push_back({GanttKind::Forward, m + ahead, 0, time, time + 1});
            }
            row.cells.push_back({GanttKind::InputGradient, m, 0, time + 1, time + 2});
            row.cells.push_back({GanttKind::WeightGradient, m, 0, time + 2, time + 3});
            time += 3;
        }
        data.rows.push_back(row);
    }
    auto* view = new GanttView;
    view->setData(data);
    view->setCursorItem(view->itemOf(1, 3));
    return view;
}

QWidget* makeCollectives() {
    CollectiveGraph graph{
        {2, 2}, {0, 1, 2, 3}, {QStringLiteral("data"), QStringLiteral("model")}, {}};
    const auto arrow = [&](int from, int to, qint64 bytes, int axes) {
        graph.arrows.push_back({from, to, bytes, axes,
                                QStringLiteral("%1 → %2: %3 a step, all-reduce over %4")
                                    .arg(from)
                                    .arg(to)
                                    .arg(formatMemory(bytes), graph.axes[axes])});
    };
    const std::pair<int, int> rows[] = {{0, 1}, {1, 0}, {2, 3}, {3, 2}};
    for (const auto& [from, to] : rows) {
        arrow(from, to, 36 * kMiB, 1);
    }
    const std::pair<int, int> columns[] = {{0, 2}, {2, 0}, {1, 3}, {3, 1}};
    for (const auto& [from, to] : columns) {
        arrow(from, to, 5 * kMiB, 0);
    }
    auto* view = new CollectiveView;
    view->setGraph(std::move(graph));
    return view;
}

/// Seven layers over three stages, the last layer with the head; axes of a mesh above them.
QWidget* makeStages() {
    auto* holder = new QWidget;
    auto* column = new QVBoxLayout(holder);
    auto* row = new QWidget;
    auto* flow = new FlowLayout(row);
    flow->setContentsMargins(0, 0, 0, 0);
    flow->addWidget(new AxisGrip(QStringLiteral("data"), row));
    flow->addWidget(new AxisTag(QStringLiteral("data")));
    flow->addWidget(new AxisTag(QStringLiteral("model")));
    flow->addWidget(new DropSlot(QStringLiteral("drop an axis")));
    auto* refused = new DropSlot(QStringLiteral("drop an axis"));
    refused->setState(DropSlot::State::Refused, QStringLiteral("not here"));
    flow->addWidget(refused);
    column->addWidget(row);
    auto* strip = new StageStrip;
    std::vector<StripLayer> layers;
    for (int i = 0; i < 7; ++i) {
        layers.push_back({QStringLiteral("blocks.%1").arg(i), i == 6 ? 1.8 : 1.0});
    }
    strip->setParts(std::move(layers), {3, 2, 2}, 3);
    column->addWidget(strip);
    column->addStretch(1);
    return holder;
}

QWidget* makeTradeOff() {
    auto* chart = new TradeOffChart;
    chart->setAxis(QStringLiteral("ms a step"));
    const auto point = [](double ms, qint64 mib, const char* label, bool current) {
        return TradeOffPoint{ms,
                             mib * kMiB,
                             QString::fromLatin1(label),
                             QStringLiteral("%1 ms, %2 MiB").arg(ms).arg(mib),
                             current,
                             true};
    };
    chart->setPoints({point(21.8, 920, "none", true), point(22.3, 780, "", false),
                      point(23.6, 640, "auto", false), point(25.1, 520, "", false),
                      point(26.9, 420, "blocks", false)});
    return chart;
}

QWidget* makeText() {
    auto* view = new LineView;
    QStringList lines{QStringLiteral("program train_step {")};
    std::vector<bool> fresh{false};
    for (int i = 0; i < 4000; ++i) {
        lines.append(
            QStringLiteral("  %%1 = matmul(%%2, %%3) {transpose_b=false} : f32[64,256,1536] @ "
                           "\"blocks.%4.mlp.up\" forward")
                .arg(i + 2)
                .arg(i + 1)
                .arg(i)
                .arg(i / 400));
        fresh.push_back(i % 17 == 3);
    }
    lines.append(QStringLiteral("}"));
    fresh.push_back(false);
    view->lineModel()->setText(lines, std::move(fresh));
    view->setNeedle(QStringLiteral("mlp.up"));
    return view;
}

QWidget* makeGraph() {
    Graph graph;
    const auto node = [&](const char* title, const char* detail, int shade) {
        graph.nodes.push_back({QString::fromLatin1(title), QString::fromLatin1(detail), {}, shade});
        return static_cast<int>(graph.nodes.size()) - 1;
    };
    const auto edge = [&](int from, int to, const char* type) {
        graph.edges.push_back({from, to, QString::fromLatin1(type)});
    };
    const int input = node("blocks.2", "", 3);
    const int weight = node("blocks.3.mlp.up.weight", "", 3);
    const int norm = node("layer_norm", "blocks.3.mlp.norm", 0);
    const int up = node("matmul", "blocks.3.mlp.up", 0);
    const int gelu = node("fused add, gelu", "blocks.3.mlp", 0);
    const int down = node("matmul", "blocks.3.mlp.down", 0);
    const int sum = node("add", "blocks.3", 0);
    edge(input, norm, "bf16[64,256,384]");
    edge(norm, up, "bf16[64,256,384]");
    edge(weight, up, "bf16[384,1536]");
    edge(up, gelu, "bf16[64,256,1536]");
    edge(gelu, down, "bf16[64,256,1536]");
    edge(down, sum, "bf16[64,256,384]");
    edge(input, sum, "bf16[64,256,384]");
    auto* scroll = new GraphScroll;
    GraphLayout layout = layoutGraph(graph, graphNodeSizes(graph));
    scroll->view()->setGraph(std::move(graph), std::move(layout));
    return scroll;
}

QWidget* titled(const QString& title, QWidget* content) {
    auto* panel = new Surface;
    auto* layout = new QVBoxLayout(panel);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(new SectionHeader(title));
    layout->addWidget(content, 1);
    return panel;
}

} // namespace

QWidget* makePlanPage() {
    auto* page = new Surface;
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(1);
    auto* top = new QHBoxLayout;
    top->setSpacing(1);
    top->addWidget(titled(QStringLiteral("Memory over one step"), makeTimeline()), 3);
    top->addWidget(titled(QStringLiteral("Memory against time"), makeTradeOff()), 1);
    column->addLayout(top, 3);
    auto* middle = new QHBoxLayout;
    middle->setSpacing(1);
    middle->addWidget(titled(QStringLiteral("Pipeline"), makePipeline()), 3);
    middle->addWidget(titled(QStringLiteral("Collectives"), makeCollectives()), 2);
    middle->addWidget(titled(QStringLiteral("Stages"), makeStages()), 2);
    column->addLayout(middle, 1);
    auto* bottom = new QHBoxLayout;
    bottom->setSpacing(1);
    bottom->addWidget(titled(QStringLiteral("Program"), makeText()), 3);
    bottom->addWidget(titled(QStringLiteral("Graph"), makeGraph()), 2);
    column->addLayout(bottom, 3);
    return page;
}

} // namespace weft::gallery
