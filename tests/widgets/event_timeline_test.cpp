// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline of a recorded step, and the roofline of its kernels.
#include "tests/support/weft_test.h"
#include "widgets/views/event_timeline.h"
#include "widgets/views/roofline_chart.h"

#include <QWheelEvent>

using namespace weft;
using namespace weft::widgets;

namespace {

/// Two devices of so many calls of 1 ms each, the second half a millisecond behind the first.
EventTimelineData two_devices(int calls) {
    EventTimelineData data;
    data.unit = "ms";
    data.length = calls + 0.5;
    data.labels = {{"matmul", "layers.0"}, {"gelu", "layers.1"}};
    for (int device = 0; device < 2; ++device) {
        EventRow row{QStringLiteral("cpu:%1").arg(device), false, {}};
        for (int call = 0; call < calls; ++call) {
            const double start = call + 0.5 * device;
            row.spans.push_back({SpanKind::Forward, call % 2, start, start + 1});
        }
        data.rows.push_back(std::move(row));
    }
    return data;
}

} // namespace

class EventTimelineTest : public QObject {
    Q_OBJECT

private slots:
    void a_stretch_is_found_where_it_is_drawn() {
        EventTimeline view;
        view.resize(800, 200);
        view.setData(two_devices(20));
        view.show();
        for (const int item : {0, 7, 20, 39}) {
            QCOMPARE(view.hitTest(view.item(item).rect.center()), item);
        }
        QCOMPARE(view.rowOf(20), 1);
        QVERIFY(view.item(3).name.contains("gelu"));
        QVERIFY(view.item(3).name.contains("layers.1"));
    }

    void keys_stretch_and_move_the_time_and_show_all_of_it_again() {
        EventTimeline view;
        view.resize(800, 200);
        view.setData(two_devices(20));
        view.show();
        QTest::keyClick(&view, Qt::Key_W);
        QCOMPARE(view.lastTime() - view.firstTime(), 20.5 / 1.25);
        QTest::keyClick(&view, Qt::Key_W);
        const double first = view.firstTime();
        QTest::keyClick(&view, Qt::Key_D);
        QVERIFY(view.firstTime() > first);
        QTest::keyClick(&view, Qt::Key_A);
        QCOMPARE(view.firstTime(), first);
        for (int i = 0; i < 100; ++i) {
            QTest::keyClick(&view, Qt::Key_A);
        }
        QCOMPARE(view.firstTime(), 0.0);
        QTest::keyClick(&view, Qt::Key_0);
        QCOMPARE(view.lastTime(), 20.5);
        for (int i = 0; i < 100; ++i) {
            QTest::keyClick(&view, Qt::Key_W);
        }
        QCOMPARE(view.lastTime() - view.firstTime(), 3.0); // three of the shortest
    }

    void dragging_moves_the_time_and_chooses_nothing() {
        EventTimeline view;
        view.resize(800, 200);
        view.setData(two_devices(20));
        view.showTime(5, 10);
        view.show();
        int chosen = 0;
        connect(&view, &PaintedView::itemActivated, &view, [&] { ++chosen; });
        const QPoint at = view.item(7).rect.center().toPoint();
        QTest::mousePress(&view, Qt::LeftButton, {}, at);
        QTest::mouseMove(&view, at - QPoint(40, 0));
        QTest::mouseMove(&view, at - QPoint(80, 0));
        QTest::mouseRelease(&view, Qt::LeftButton, {}, at - QPoint(80, 0));
        QVERIFY(view.firstTime() > 5);
        QCOMPARE(view.lastTime() - view.firstTime(), 5.0);
        QCOMPARE(chosen, 0);
        QTest::mouseClick(&view, Qt::LeftButton, {}, view.item(8).rect.center().toPoint());
        QCOMPARE(chosen, 1);
    }

    void what_is_marked_comes_into_sight_and_looks_different() {
        EventTimeline view;
        view.resize(800, 200);
        EventTimelineData data = two_devices(20);
        data.labels.push_back({"softmax", ""});
        data.rows[0].spans[19].label = 2;
        view.setData(std::move(data));
        view.showTime(0, 4);
        view.show();
        view.setMarked({false, false, true});
        view.showMarked();
        QVERIFY(view.firstTime() > 10);
        const QPoint at = view.item(19).rect.topLeft().toPoint() + QPoint(3, 3);
        QCOMPARE(QColor(view.grab().toImage().pixel(at)).rgb(),
                 Theme::current().color(Role::Warning).rgb());
    }

    // 100,000 stretches in a row: a column has the mean of what lies there, and painting is quick
    // enough to be done here twice.
    void a_step_of_many_calls_is_drawn_and_hit() {
        EventTimeline view;
        view.resize(800, 200);
        view.setData(two_devices(100000));
        view.show();
        QVERIFY(!view.grab().isNull());
        view.showTime(50000, 50010);
        QCOMPARE(view.hitTest(view.item(50005).rect.center()), 50005);
    }

    // Where the slope of memory meets a ceiling: 2 FLOP a byte at 1 GB/s are 2 GFLOP/s.
    void a_point_at_the_ridge_lies_on_slope_and_ceiling() {
        RooflineChart chart;
        chart.resize(400, 300);
        chart.setData({{2, 2e9, 0.5, "at the ridge", ""}, {0.5, 1e8, 0.1, "below", ""}},
                      {{2e9, "2 GFLOP/s"}}, 1e9, "memory");
        const QSizeF size = chart.size();
        const QPointF ridge = chart.item(0).rect.center();
        const QPointF slope = chart.place(1, 1e9, size);
        const QPointF further = chart.place(0.5, 0.5e9, size);
        // Three points of the slope lie on one line, and equal factors are equal distances.
        QVERIFY(std::abs((ridge.x() - slope.x()) - (slope.x() - further.x())) < 1e-6);
        QVERIFY(std::abs((ridge.y() - slope.y()) - (slope.y() - further.y())) < 1e-6);
        QVERIFY(ridge.y() < slope.y());
        QCOMPARE(ridge.y(), chart.place(100, 2e9, size).y());
        QCOMPARE(chart.hitTest(ridge), 0);
    }
};

WEFT_TEST(EventTimelineTest)
#include "event_timeline_test.moc"
