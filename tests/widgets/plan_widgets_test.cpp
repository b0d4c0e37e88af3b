// SPDX-License-Identifier: GPL-3.0-or-later
// Memory over steps, trade-off chart, program text and graph layout against numbers made by hand.
#include "tests/support/weft_test.h"
#include "widgets/controls/line_view.h"
#include "widgets/look/theme_controller.h"
#include "widgets/views/graph_view.h"
#include "widgets/views/memory_figures.h"
#include "widgets/views/memory_legend.h"
#include "widgets/views/memory_timeline.h"
#include "widgets/views/trade_off_chart.h"

#include <QAbstractItemModelTester>
#include <QAccessible>
#include <QClipboard>
#include <QFile>
#include <QScrollBar>
#include <QTemporaryDir>

using namespace weft::widgets;

namespace {

constexpr qint64 kMiB = 1 << 20;

/// Four steps: parameters 2 MiB throughout; activations 1, 3, 5, 2 MiB. Totals 3, 5, 7, 4 MiB.
TimelineData fourSteps() {
    TimelineData data;
    data.names = {QStringLiteral("matmul a"), QStringLiteral("gelu a"), QStringLiteral("matmul b"),
                  QStringLiteral("adamw")};
    // Given in the wrong order on purpose.
    data.layers = {{MemoryCategory::Activations, {1 * kMiB, 3 * kMiB, 5 * kMiB, 2 * kMiB}},
                   {MemoryCategory::Parameters, {2 * kMiB, 2 * kMiB, 2 * kMiB, 2 * kMiB}}};
    data.spans = {{QStringLiteral("forward"), 0, 2, 0},
                  {QStringLiteral("backward"), 2, 1, 1},
                  {QStringLiteral("update"), 3, 1, 2}};
    return data;
}

QColor pixelAt(const QWidget& widget, const QPointF& place) {
    return const_cast<QWidget&>(widget).grab().toImage().pixelColor(place.toPoint());
}

} // namespace

class PlanWidgetsTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { controller_ = std::make_unique<ThemeController>(); }

    void the_timeline_adds_up_its_layers_and_finds_the_peak() {
        MemoryTimeline timeline;
        timeline.setData(fourSteps());
        QCOMPARE(timeline.stepCount(), 4);
        QCOMPARE(timeline.totalAt(0), 3 * kMiB);
        QCOMPARE(timeline.totalAt(2), 7 * kMiB);
        QCOMPARE(timeline.peakStep(), 2);
        QVERIFY(timeline.accessibleDescription().contains(QStringLiteral("7.0 MiB")));
    }

    void a_position_on_the_timeline_belongs_to_the_step_drawn_there() {
        MemoryTimeline timeline;
        timeline.resize(600, 300);
        timeline.setData(fourSteps());
        for (int step = 0; step < 4; ++step) {
            const QRectF column = timeline.item(step).rect;
            QCOMPARE(timeline.hitTest(column.center()), step);
            QCOMPARE(timeline.stepAt(column.left() + 1), step);
            QCOMPARE(timeline.stepAt(column.right() - 1), step);
        }
        QCOMPARE(timeline.hitTest({2, 2}), -1);
        QCOMPARE(timeline.stepAt(-100), 0);
        QCOMPARE(timeline.stepAt(10000), 3);
    }

    void the_timeline_stacks_categories_in_their_one_order() {
        MemoryTimeline timeline;
        timeline.resize(600, 300);
        timeline.setData(fourSteps());
        timeline.show();
        // In the first step parameters fill the lower two thirds of what is drawn, activations the
        // rest.
        const QRectF column = timeline.item(0).rect;
        const auto at = [&](double bytes) {
            // The axis ends 4 % above the peak of 7 MiB.
            return QPointF(column.center().x() + 8,
                           column.bottom() - column.height() * bytes / (7.0 * 1.04));
        };
        QCOMPARE(pixelAt(timeline, at(1.0)), Theme::current().memory(MemoryCategory::Parameters));
        QCOMPARE(pixelAt(timeline, at(2.5)), Theme::current().memory(MemoryCategory::Activations));
        // Above the stack nothing is painted: it is what lies behind the view.
        QCOMPARE(pixelAt(timeline, at(3.4)), Theme::current().color(Role::Background));
    }

    void no_peak_is_lost_when_there_are_more_steps_than_pixels() {
        TimelineData data;
        TimelineLayer layer{MemoryCategory::Activations, {}};
        for (int i = 0; i < 20000; ++i) {
            data.names.push_back(QString::number(i));
            layer.bytes.push_back(i == 12345 ? 100 * kMiB : kMiB);
        }
        data.layers = {layer};
        MemoryTimeline timeline;
        timeline.resize(500, 240);
        timeline.setData(data);
        timeline.show();
        QCOMPARE(timeline.peakStep(), 12345);
        const QRectF column = timeline.item(12345).rect;
        const QImage picture = timeline.grab().toImage();
        const QColor wanted = Theme::current().memory(MemoryCategory::Activations);
        bool found = false; // half way up there is nothing but the peak
        for (int dx = -1; dx <= 1; ++dx) {
            found |= picture.pixelColor(static_cast<int>(column.left()) + dx,
                                        static_cast<int>(column.center().y())) == wanted;
        }
        QVERIFY(found);
    }

    void keys_walk_the_timeline_and_a_drag_moves_its_cursor() {
        MemoryTimeline timeline;
        timeline.resize(600, 300);
        timeline.setData(fourSteps());
        timeline.show();
        QSignalSpy spy(&timeline, &PaintedView::cursorChanged);
        QTest::keyClick(&timeline, Qt::Key_Right);
        QCOMPARE(timeline.cursorItem(), 0);
        QTest::keyClick(&timeline, Qt::Key_Right);
        QCOMPARE(timeline.cursorItem(), 1);
        QTest::keyClick(&timeline, Qt::Key_End);
        QCOMPARE(timeline.cursorItem(), 3);
        QTest::keyClick(&timeline, Qt::Key_P);
        QCOMPARE(timeline.cursorItem(), 2);
        QTest::keyClick(&timeline, Qt::Key_PageUp); // from the begin of a span to the one before
        QCOMPARE(timeline.cursorItem(), 0);
        QTest::keyClick(&timeline, Qt::Key_PageDown);
        QCOMPARE(timeline.cursorItem(), 2);
        QTest::keyClick(&timeline, Qt::Key_Left, Qt::ShiftModifier); // ten, as far as there are
        QCOMPARE(timeline.cursorItem(), 0);
        QTest::keyClick(&timeline, Qt::Key_Right, Qt::ShiftModifier);
        QCOMPARE(timeline.cursorItem(), 3);
        QCOMPARE(spy.count(), 8);
        const auto middle = [&](int step) { return timeline.item(step).rect.center().toPoint(); };
        QTest::mousePress(&timeline, Qt::LeftButton, {}, middle(0));
        QCOMPARE(timeline.cursorItem(), 0);
        QMouseEvent move(QEvent::MouseMove, middle(3), timeline.mapToGlobal(middle(3)),
                         Qt::NoButton, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&timeline, &move);
        QCOMPARE(timeline.cursorItem(), 3);
        QTest::mouseRelease(&timeline, Qt::LeftButton, {}, middle(3));
        QCOMPARE(timeline.cursorItem(), 3);
    }

    void a_low_timeline_keeps_spans_and_ticks() {
        TimelineData data = fourSteps();
        data.ticks = {1};
        MemoryTimeline timeline;
        timeline.setData(data);
        const int full = timeline.minimumSizeHint().height();
        timeline.setForm(MemoryTimeline::Form::Compact);
        QVERIFY(timeline.minimumSizeHint().height() < full);
        timeline.resize(600, timeline.minimumSizeHint().height());
        timeline.show();
        // A tick stands under the middle of its step and under no other.
        const QColor tick = Theme::current().memory(MemoryCategory::Communication);
        const QImage picture = timeline.grab().toImage();
        const auto ticked = [&](int step) {
            const int x = static_cast<int>(std::round(timeline.item(step).rect.center().x()));
            for (int y = static_cast<int>(timeline.item(step).rect.bottom()); y < picture.height();
                 ++y) {
                if (picture.pixelColor(x, y) == tick) {
                    return true;
                }
            }
            return false;
        };
        QVERIFY(ticked(1));
        QVERIFY(!ticked(2));
        timeline.setForm(MemoryTimeline::Form::Slim);
        timeline.resize(600, timeline.minimumSizeHint().height());
        QVERIFY(timeline.item(2).rect.height() >= 8); // there is still something to see
        QCOMPARE(timeline.hitTest(timeline.item(2).rect.center()), 2);
    }

    void a_legend_gives_way_in_a_narrow_place() {
        TimelineData data = fourSteps();
        for (const auto category : {MemoryCategory::Gradients, MemoryCategory::Batch,
                                    MemoryCategory::Optimizer, MemoryCategory::State}) {
            data.layers.push_back({category, {kMiB, kMiB, kMiB, kMiB}});
        }
        MemoryTimeline timeline;
        timeline.setData(data);
        timeline.resize(160, 200); // an entry a line
        QVERIFY(timeline.item(0).rect.height() >= 100);
        timeline.resize(900, 200);
        const double wide = timeline.item(0).rect.height();
        timeline.resize(900, 400);
        QVERIFY(timeline.item(0).rect.height() > wide + 150); // and there it is one line high
    }

    void a_low_timeline_has_a_number_above_nought() {
        for (const qint64 peak : {394, 457, 480, 500, 960}) {
            TimelineData data = fourSteps();
            for (TimelineLayer& layer : data.layers) {
                layer.bytes = {kMiB, kMiB, peak * kMiB / 2, kMiB};
            }
            MemoryTimeline timeline;
            timeline.setForm(MemoryTimeline::Form::Compact);
            timeline.resize(600, timeline.minimumSizeHint().height());
            timeline.setData(data);
            const QImage picture = timeline.grab().toImage();
            const QRectF plot = timeline.item(0).rect;
            // Left of the plot, clear of the line of the number at its foot.
            const int foot = static_cast<int>(plot.bottom() - 12.0);
            int written = 0;
            for (int y = 0; y < foot; ++y) {
                for (int x = 0; x < static_cast<int>(plot.left()) - 8; ++x) {
                    written += picture.pixelColor(x, y) != picture.pixelColor(0, 0) ? 1 : 0;
                }
            }
            QVERIFY2(written > 10, qPrintable(QString::number(peak)));
        }
    }

    void figures_of_memory_share_a_unit() {
        MemoryFigures figures;
        MemoryFigures::Bytes most{};
        most[static_cast<std::size_t>(MemoryCategory::Parameters)] = 300 * kMiB;
        most[static_cast<std::size_t>(MemoryCategory::Batch)] = kMiB / 2;
        figures.setMost(most, 301 * kMiB);
        QCOMPARE(figures.itemCount(), 2);
        const int width = figures.sizeHint().width();
        MemoryFigures::Bytes now = most;
        now[static_cast<std::size_t>(MemoryCategory::Parameters)] = 20 * kMiB;
        figures.setBytes(now);
        QCOMPARE(figures.item(0).name, QStringLiteral("Parameters  20.0 MiB"));
        QCOMPARE(figures.item(1).name, QStringLiteral("Batch  0.5 MiB"));
        QCOMPARE(figures.accessibleDescription(), QStringLiteral("20.5 MiB"));
        QCOMPARE(figures.sizeHint().width(), width); // nothing beside it moves
        figures.setSumName(QStringLiteral("arena"));
        QCOMPARE(figures.accessibleDescription(), QStringLiteral("arena 20.5 MiB"));
        QVERIFY(figures.sizeHint().width() > width);
        figures.setTotalOnly(true);
        QCOMPARE(figures.itemCount(), 0);
        QVERIFY(figures.sizeHint().width() < width);
    }

    void a_legend_breaks_into_lines_where_it_is_narrow() {
        MemoryLegend legend;
        QCOMPARE(legend.heightForWidth(400), 0);
        legend.setCategories({MemoryCategory::Parameters, MemoryCategory::Batch});
        QCOMPARE(legend.accessibleDescription(), QStringLiteral("Parameters, Batch"));
        const int line = legend.heightForWidth(1000);
        QVERIFY(line > 0);
        QCOMPARE(legend.heightForWidth(90), 2 * line);
    }

    void a_screen_reader_hears_each_step_with_its_bytes() {
        MemoryTimeline timeline;
        timeline.resize(600, 300);
        timeline.setData(fourSteps());
        QAccessibleInterface* list = QAccessible::queryAccessibleInterface(&timeline);
        QVERIFY(list != nullptr);
        QCOMPARE(list->childCount(), 4);
        QCOMPARE(list->child(1)->text(QAccessible::Name),
                 QStringLiteral("op 2 of 4: gelu a, 5.0 MiB alive"));
        QVERIFY(list->child(2)->text(QAccessible::Name).endsWith(QStringLiteral("the peak")));
        const QString detail = list->child(2)->text(QAccessible::Description);
        QVERIFY(detail.contains(QStringLiteral("Activations  5.0 MiB")));
        QVERIFY(detail.contains(QStringLiteral("Parameters  2.0 MiB")));
    }

    void the_timeline_is_written_as_picture_and_as_vectors() {
        MemoryTimeline timeline;
        timeline.resize(600, 300);
        timeline.setData(fourSteps());
        timeline.setLimit(6 * kMiB);
        timeline.setGhost({2 * kMiB, 3 * kMiB, 4 * kMiB}, QStringLiteral("recompute blocks"));
        QTemporaryDir dir;
        QVERIFY(timeline.exportPng(dir.filePath(QStringLiteral("a.png")), 2.0));
        QCOMPARE(QImage(dir.filePath(QStringLiteral("a.png"))).size(), QSize(1200, 600));
        QVERIFY(timeline.exportSvg(dir.filePath(QStringLiteral("a.svg"))));
        QFile svg(dir.filePath(QStringLiteral("a.svg")));
        QVERIFY(svg.open(QIODevice::ReadOnly));
        const QByteArray text = svg.readAll();
        QVERIFY(text.contains("recompute blocks"));
        QVERIFY(text.contains("limit 6.0 MiB"));
    }

    void trade_off_points_are_walked_in_the_order_of_their_cost() {
        TradeOffChart chart;
        chart.resize(320, 160);
        chart.setPoints(
            {{30, 1 * kMiB, QStringLiteral("blocks"), QStringLiteral("blocks: 1 MiB"), false, true},
             {10, 9 * kMiB, QStringLiteral("none"), QStringLiteral("none: 9 MiB"), true, true},
             {20, 5 * kMiB, {}, QStringLiteral("half: 5 MiB"), false, true}});
        chart.show();
        QCOMPARE(chart.itemCount(), 3);
        QVERIFY(chart.item(0).rect.left() < chart.item(1).rect.left());
        QVERIFY(chart.item(0).rect.top() < chart.item(2).rect.top()); // more memory is higher up
        QTest::keyClick(&chart, Qt::Key_Home);
        QTest::keyClick(&chart, Qt::Key_Right);
        QCOMPARE(chart.item(chart.cursorItem()).name, QStringLiteral("half: 5 MiB"));
        QSignalSpy activated(&chart, &PaintedView::itemActivated);
        QTest::mouseClick(&chart, Qt::LeftButton, {}, chart.item(2).rect.center().toPoint());
        QCOMPARE(activated.count(), 1);
        QCOMPARE(activated.first().first().toInt(), 2);
    }

    // A number that is cut off touches the edge of the drawing.
    void numbers_of_the_memory_axis_are_whole_at_any_text_size() {
        for (const double scale : {1.0, 1.5}) {
            controller_->setFontScale(scale);
            TradeOffChart chart;
            chart.resize(420, 220);
            chart.setPoints({{10, 100 * kMiB, {}, QStringLiteral("a"), true, true},
                             {20, 50 * kMiB, {}, QStringLiteral("b"), false, true}});
            const QImage image = chart.grab().toImage();
            const QRgb empty = image.pixel(0, 0);
            for (int y = 0; y < image.height(); ++y) {
                QCOMPARE(image.pixel(1, y), empty);
            }
        }
        controller_->setFontScale(1.0);
    }

    void program_text_is_found_narrowed_and_copied() {
        LineView view;
        const QAbstractItemModelTester tester(view.lineModel());
        view.lineModel()->setText({QStringLiteral("program p {"),
                                   QStringLiteral("  %1 = MatMul(%0)"),
                                   QStringLiteral("  %2 = gelu(%1)"), QStringLiteral("}")},
                                  {false, true, false, false});
        QCOMPARE(view.lineModel()->find(QStringLiteral("matmul")), std::vector<int>{1});
        view.lineModel()->setShown({2, 3});
        QCOMPARE(view.lineModel()->rowCount(), 2);
        const QModelIndex first = view.lineModel()->index(0);
        QCOMPARE(first.data(LineModel::kNumberRole).toInt(), 3);
        view.show();
        view.selectAll();
        QTest::keyClick(&view, Qt::Key_C, Qt::ControlModifier);
        QCOMPARE(QGuiApplication::clipboard()->text(), QStringLiteral("  %2 = gelu(%1)\n}"));
    }

    void ten_thousand_lines_paint_only_what_is_seen() {
        LineView view;
        view.resize(600, 400);
        QStringList lines;
        for (int i = 0; i < 10000; ++i) {
            lines.append(QStringLiteral("%%1 = add(%0)").arg(i));
        }
        view.lineModel()->setText(lines, {});
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        view.goTo(9000);
        QVERIFY(view.visualRect(view.lineModel()->index(9000)).intersects(view.viewport()->rect()));
        QVERIFY(view.verticalScrollBar()->maximum() > 100000); // 10,000 rows of at least 20 px
    }

    void a_graph_is_laid_out_in_layers_without_overlap() {
        // A diamond with a long edge: a -> b, a -> c, b -> d, c -> d, a -> d.
        Graph graph;
        for (const char* name : {"a", "b", "c", "d"}) {
            graph.nodes.push_back({QString::fromLatin1(name), {}, {}, 0});
        }
        graph.edges = {{0, 1, {}}, {0, 2, {}}, {1, 3, {}}, {2, 3, {}}, {0, 3, {}}};
        const std::vector<QSizeF> sizes(4, QSizeF(100, 40));
        const GraphLayout layout = layoutGraph(graph, sizes);
        QCOMPARE(layout.nodes.size(), std::size_t{4});
        QVERIFY(layout.nodes[0].bottom() < layout.nodes[1].top());
        QCOMPARE(layout.nodes[1].top(), layout.nodes[2].top());
        QVERIFY(layout.nodes[1].bottom() < layout.nodes[3].top());
        for (std::size_t i = 0; i < 4; ++i) {
            QVERIFY(QRectF({0, 0}, layout.size).contains(layout.nodes[i]));
            for (std::size_t k = i + 1; k < 4; ++k) {
                QVERIFY(!layout.nodes[i].intersects(layout.nodes[k]));
            }
        }
        QCOMPARE(layout.edges[4].front().x(), layout.nodes[0].center().x());
        QCOMPARE(layout.edges[4].back().y(), layout.nodes[3].top());
    }

    void a_cycle_loses_its_edges_and_nothing_else() {
        Graph graph;
        graph.nodes.resize(3);
        graph.edges = {{0, 1, {}}, {1, 2, {}}, {2, 1, {}}};
        const GraphLayout layout = layoutGraph(graph, std::vector<QSizeF>(3, QSizeF(80, 30)));
        QCOMPARE(layout.nodes.size(), std::size_t{3});
        QVERIFY(layout.edges[1].isEmpty());
        QVERIFY(layout.edges[2].isEmpty());
    }

    void a_stopped_layout_is_empty() {
        Graph graph;
        graph.nodes.resize(2);
        graph.edges = {{0, 1, {}}};
        std::stop_source stop;
        stop.request_stop();
        QVERIFY(layoutGraph(graph, std::vector<QSizeF>(2, QSizeF(80, 30)), stop.get_token())
                    .nodes.empty());
    }

    void keys_follow_the_edges_of_a_graph() {
        Graph graph;
        for (const char* name : {"matmul", "gelu", "add"}) {
            graph.nodes.push_back({QString::fromLatin1(name), {}, {}, 0});
        }
        graph.edges = {{0, 1, QStringLiteral("f32[2]")}, {1, 2, QStringLiteral("f32[2]")}};
        GraphScroll scroll;
        scroll.resize(400, 300);
        GraphLayout layout = layoutGraph(graph, graphNodeSizes(graph));
        scroll.view()->setGraph(graph, std::move(layout));
        scroll.show();
        QTest::keyClick(scroll.view(), Qt::Key_Home);
        QTest::keyClick(scroll.view(), Qt::Key_Down);
        QCOMPARE(scroll.view()->item(scroll.view()->cursorItem()).name, QStringLiteral("gelu"));
        QTest::keyClick(scroll.view(), Qt::Key_Down);
        QTest::keyClick(scroll.view(), Qt::Key_Up);
        QCOMPARE(scroll.view()->cursorItem(), 1);
        const double before = scroll.view()->zoom();
        QTest::keyClick(scroll.view(), Qt::Key_Minus);
        QVERIFY(scroll.view()->zoom() < before);
        QTest::keyClick(scroll.view(), Qt::Key_F);
        QVERIFY(scroll.view()->width() <= scroll.viewport()->width());
    }

private:
    std::unique_ptr<ThemeController> controller_;
};

WEFT_TEST(PlanWidgetsTest)
#include "plan_widgets_test.moc"
