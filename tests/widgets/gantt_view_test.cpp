// SPDX-License-Identifier: GPL-3.0-or-later
// The chart of a pipeline: what its items say, where they lie, keys, stretched time, scrolled rows.
#include "tests/support/weft_test.h"
#include "tests/widgets/writing.h"
#include "widgets/look/theme_controller.h"
#include "widgets/mesh/gantt_view.h"

#include <QAccessible>
#include <QHelpEvent>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>

using namespace weft::widgets;

namespace {

/// GPipe with even stages whose backward takes `backward` forwards (Huang et al. 2019, figure 2c):
/// stage s of p forwards microbatch m from s + m on; the last stage begins the backwards when all
/// forwards are done, and each stage before it one backward later.
GanttData gpipe(int stages, int microbatches, double backward) {
    GanttData data;
    data.unit = QStringLiteral("ms");
    const double turn = stages + microbatches - 1;
    for (int stage = 0; stage < stages; ++stage) {
        GanttRow row{QStringLiteral("layer %1").arg(stage), {}};
        for (int m = 0; m < microbatches; ++m) {
            const double start = stage + m;
            row.cells.push_back({GanttKind::Forward, m, 0, start, start + 1});
        }
        for (int m = 0; m < microbatches; ++m) {
            const double start = turn + backward * (stages - 1 - stage + m);
            row.cells.push_back({GanttKind::Backward, m, 0, start, start + backward});
        }
        data.rows.push_back(row);
    }
    return data;
}

void wheel(QWidget& view, const QPointF& place, int turns, Qt::KeyboardModifiers modifiers) {
    QWheelEvent event(place, view.mapToGlobal(place), {}, {0, 120 * turns}, Qt::NoButton, modifiers,
                      Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(&view, &event);
}

} // namespace

class GanttViewTest : public QObject {
    Q_OBJECT
private slots:
    void a_stage_does_not_look_like_the_device_of_its_number() {
        GanttView view;
        view.resize(800, 300);
        view.setData(gpipe(4, 4, 2));
        const QImage image = view.grab().toImage();
        for (int y = 0; y < image.height(); ++y) {
            for (int x = 0; x < 40; ++x) { // before the first cell
                for (int row = 0; row < 4; ++row) {
                    QVERIFY(image.pixelColor(x, y) != Theme::current().series(row));
                }
            }
        }
    }

    void initTestCase() { controller_ = std::make_unique<ThemeController>(); }

    void its_times_are_written_as_those_of_other_axes() {
        GanttView view;
        view.resize(800, 300);
        GanttData data;
        data.rows.push_back({{}, {{GanttKind::Forward, 0, 0, 0, 3000}}});
        view.setData(data);
        weft::test::Writing writing(view.size());
        view.renderTo(&writing, view.size());
        QStringList texts;
        for (const auto& [text, rect] : writing.texts) {
            texts << text;
        }
        QVERIFY2(texts.contains("1,000"), qPrintable(texts.join(' ')));
    }

    void a_cell_is_named_by_stage_action_microbatch_and_time() {
        GanttView view;
        view.setData(gpipe(4, 4, 2));
        QCOMPARE(view.itemCount(), 4 * 2 * 4);
        QCOMPARE(view.item(view.itemOf(1, 3)).name,
                 QStringLiteral("stage 1: forward of microbatch 3, 4.0 to 5.0 ms"));
        QCOMPARE(view.item(view.itemOf(3, 4)).name,
                 QStringLiteral("stage 3: backward of microbatch 0, 7.0 to 9.0 ms"));
        QAccessibleInterface* list = QAccessible::queryAccessibleInterface(&view);
        QCOMPARE(list->childCount(), view.itemCount());
        QCOMPARE(list->child(view.itemOf(1, 3))->text(QAccessible::Name),
                 view.item(view.itemOf(1, 3)).name);
    }

    void a_chunk_is_named_where_there_are_several() {
        GanttData data;
        data.chunks = 2;
        data.unit = QStringLiteral("ms");
        data.rows = {{{}, {{GanttKind::InputGradient, 3, 1, 0, 20}}}};
        GanttView view;
        view.setData(data);
        QCOMPARE(view.item(0).name,
                 QStringLiteral("stage 0: input gradient of microbatch 3.1, 0.0 to 20.0 ms"));
    }

    void cells_lie_in_proportion_to_their_times_and_are_found_there() {
        GanttView view;
        view.resize(700, 160);
        view.setData(gpipe(4, 4, 2));
        // The whole is 21 forwards long: 7 until the last forward ends, 7 backwards of two.
        QCOMPARE(view.makespan(), 21.0);
        const double left = view.item(view.itemOf(0, 0)).rect.left();
        const double unit = (view.item(view.itemOf(0, 7)).rect.right() - left) / 21.0;
        for (int index = 0; index < view.itemCount(); ++index) {
            const QRectF rect = view.item(index).rect;
            const GanttCell& cell = view.cellOf(index);
            QVERIFY(std::abs(rect.left() - (left + unit * cell.start)) <= 1.0); // whole pixels
            QVERIFY(std::abs(rect.right() - (left + unit * cell.end)) <= 1.0);
            QCOMPARE(view.hitTest(rect.center()), index);
        }
        // While it waits a stage has no cell: stage 3 until microbatch 0 arrives.
        const QRectF first = view.item(view.itemOf(3, 0)).rect;
        QCOMPARE(view.hitTest(first.center() - QPointF(unit * 1.5, 0)), -1);
    }

    void arrows_walk_a_row_and_go_to_other_rows_at_the_same_time() {
        GanttView view;
        view.resize(700, 160);
        view.setData(gpipe(4, 4, 2));
        view.setCursorItem(view.itemOf(1, 2)); // from 3 to 4
        QTest::keyClick(&view, Qt::Key_Down);
        QCOMPARE(view.cursorItem(), view.itemOf(2, 1)); // also from 3 to 4
        QTest::keyClick(&view, Qt::Key_Down);
        QCOMPARE(view.cursorItem(), view.itemOf(3, 0));
        QTest::keyClick(&view, Qt::Key_Down); // there is no row below
        QCOMPARE(view.cursorItem(), view.itemOf(3, 0));
        QTest::keyClick(&view, Qt::Key_Right);
        QCOMPARE(view.cursorItem(), view.itemOf(3, 1));
        QTest::keyClick(&view, Qt::Key_Left);
        QTest::keyClick(&view, Qt::Key_Left); // the row ends, and the cursor stays in it
        QCOMPARE(view.cursorItem(), view.itemOf(3, 0));
        view.setCursorItem(view.itemOf(0, 3));
        QTest::keyClick(&view, Qt::Key_Right); // over the bubble to the first backward
        QCOMPARE(view.cursorItem(), view.itemOf(0, 4));
    }

    void a_mark_goes_round_what_runs_at_its_time() {
        GanttView view;
        view.resize(700, 160);
        view.setData(gpipe(4, 4, 2));
        view.show();
        // At 3.5 each stage forwards another microbatch.
        QCOMPARE(view.itemsAt(3.5), (std::vector<int>{view.itemOf(0, 3), view.itemOf(1, 2),
                                                      view.itemOf(2, 1), view.itemOf(3, 0)}));
        // At 7.5 the last stage works alone.
        QCOMPARE(view.itemsAt(7.5), std::vector<int>{view.itemOf(3, 4)});
        const QImage before = view.grab().toImage();
        view.setMark(7.5);
        const QImage marked = view.grab().toImage();
        const QPoint corner = view.item(view.itemOf(3, 4)).rect.topLeft().toPoint();
        QVERIFY(marked.pixelColor(corner) != before.pixelColor(corner));
        const QPoint other = view.item(view.itemOf(3, 6)).rect.topLeft().toPoint();
        QCOMPARE(marked.pixelColor(other), before.pixelColor(other));
        view.setMark(std::nullopt);
        QCOMPARE(view.grab().toImage(), before);
    }

    void the_wheel_and_keys_stretch_the_time_and_the_cursor_stays_in_sight() {
        GanttView view;
        view.resize(700, 160);
        view.setData(gpipe(4, 4, 2));
        const QPointF place = view.item(view.itemOf(0, 2)).rect.center();
        wheel(view, place, 4, Qt::ControlModifier);
        QVERIFY(view.lastTime() - view.firstTime() < view.makespan() / 2);
        QCOMPARE(view.hitTest(place), view.itemOf(0, 2)); // what is under the mouse stays there
        view.setCursorItem(view.itemOf(0, 7));            // the last backward ends the step
        QVERIFY(view.lastTime() >= view.cellOf(view.cursorItem()).end);
        wheel(view, place, 1000, Qt::ShiftModifier);
        QCOMPARE(view.firstTime(), 0.0);
        QTest::keyClick(&view, Qt::Key_0);
        QCOMPARE(view.lastTime() - view.firstTime(), view.makespan());
        QTest::keyClick(&view, Qt::Key_Plus);
        QVERIFY(view.lastTime() - view.firstTime() < view.makespan());
        wheel(view, place, -1000, Qt::ControlModifier);
        QCOMPARE(view.lastTime() - view.firstTime(), view.makespan());
    }

    void rows_that_do_not_fit_scroll_with_the_cursor() {
        GanttView view;
        view.resize(700, 160);
        view.setData(gpipe(32, 8, 2));
        auto* bar = view.findChild<QScrollBar*>();
        QVERIFY(!bar->isHidden());
        QCOMPARE(bar->value(), 0);
        view.setCursorItem(view.itemOf(31, 0));
        const QRectF rect = view.item(view.cursorItem()).rect;
        QVERIFY(rect.top() >= 0 && rect.bottom() <= view.height());
        QCOMPARE(view.hitTest(rect.center()), view.cursorItem());
        view.setData(gpipe(4, 4, 2));
        QVERIFY(bar->isHidden());
    }

    void cells_have_the_colour_of_what_they_do_and_readable_numbers() {
        GanttView view;
        view.resize(700, 160);
        view.setData(gpipe(4, 4, 2));
        view.show();
        for (const bool dark : {false, true}) {
            controller_->setMode(dark ? ThemeController::Mode::Dark : ThemeController::Mode::Light);
            const QImage picture = view.grab().toImage();
            const auto at = [&](int row, int cell) {
                const QRectF rect = view.item(view.itemOf(row, cell)).rect;
                return picture.pixel(rect.topLeft().toPoint() + QPoint(1, 1));
            };
            QCOMPARE(at(2, 1), ganttColor(GanttKind::Forward).rgb());
            QCOMPARE(at(2, 5), ganttColor(GanttKind::Backward).rgb());
            for (const GanttKind kind :
                 {GanttKind::Forward, GanttKind::Backward, GanttKind::WeightGradient}) {
                QVERIFY(contrastRatio(ganttColor(kind), ganttTextColor(kind)) >= 4.5); // WCAG AA
            }
            // Neighbours in a row differ by more than their hue.
            QVERIFY(contrastRatio(ganttColor(GanttKind::Forward),
                                  ganttColor(GanttKind::Backward)) >= 2.0);
        }
        controller_->setMode(ThemeController::Mode::Light);
    }

    void new_data_keep_the_cursor_only_where_there_is_a_cell() {
        GanttView view;
        view.setData(gpipe(4, 4, 2));
        view.setCursorItem(view.itemOf(3, 7));
        view.setData(gpipe(2, 2, 2));
        QCOMPARE(view.cursorItem(), view.itemCount() - 1);
        view.setData({});
        QCOMPARE(view.cursorItem(), -1);
        QCOMPARE(view.itemCount(), 0);
        QVERIFY(!view.grab().isNull());
    }

    void a_chart_without_a_stage_says_nothing_of_one() {
        GanttView view;
        view.resize(600, 200);
        view.show();
        for (int y = 0; y < view.height(); ++y) { // beside all rows there could be
            const QPoint place(1, y);
            QHelpEvent help(QEvent::ToolTip, place, view.mapToGlobal(place));
            QCoreApplication::sendEvent(&view, &help);
            QVERIFY(!QToolTip::text().startsWith("stage"));
        }
    }

    void the_legend_names_what_occurs() {
        GanttLegend legend;
        legend.setData(gpipe(2, 2, 2));
        QCOMPARE(legend.accessibleDescription(), QStringLiteral("forward, backward, bubble"));
        legend.setData({});
        QVERIFY(legend.accessibleDescription().isEmpty());
    }

private:
    std::unique_ptr<ThemeController> controller_;

    // Forward and backward in turn, many to a pixel: a third of the time forward, two backward.
    void cells_too_narrow_to_be_seen_are_drawn_as_their_mean() {
        GanttData data;
        GanttRow& row = data.rows.emplace_back();
        for (int m = 0; m < 4000; ++m) {
            row.cells.push_back({GanttKind::Forward, m, 0, 3.0 * m, 3.0 * m + 1});
            row.cells.push_back({GanttKind::Backward, m, 0, 3.0 * m + 1, 3.0 * m + 3});
        }
        GanttView view;
        view.resize(700, 100);
        view.setData(std::move(data));
        const QImage picture = view.grab().toImage();
        const QColor forward = ganttColor(GanttKind::Forward);
        const QColor backward = ganttColor(GanttKind::Backward);
        const auto near = [](int drawn, int one, int two) {
            return std::abs(drawn - (one + 2 * two) / 3) <= 8; // a column holds eight pairs or nine
        };
        const QPointF middle = view.item(0).rect.center();
        for (int x = 100; x < 600; x += 50) {
            const QColor drawn = picture.pixelColor(x, static_cast<int>(middle.y()));
            QVERIFY2(near(drawn.red(), forward.red(), backward.red()) &&
                         near(drawn.green(), forward.green(), backward.green()) &&
                         near(drawn.blue(), forward.blue(), backward.blue()),
                     qPrintable(drawn.name()));
        }
    }
};

WEFT_TEST(GanttViewTest)
#include "gantt_view_test.moc"
