// SPDX-License-Identifier: GPL-3.0-or-later
// Layers over stages, chips of axes and widgets that flow onto lines, by mouse and keys.
#include "tests/support/weft_test.h"
#include "widgets/controls/flow_layout.h"
#include "widgets/look/theme_controller.h"
#include "widgets/mesh/axis_chip.h"
#include "widgets/mesh/stage_strip.h"

#include <QDropEvent>
#include <QMimeData>
#include <QPushButton>

#include <memory>

using namespace weft::widgets;

namespace {

/// Six layers, the last one as dear as three of the others.
std::vector<StripLayer> sixLayers() {
    std::vector<StripLayer> out;
    for (int i = 0; i < 6; ++i) {
        out.push_back({QStringLiteral("blocks.%1").arg(i), i == 5 ? 3.0 : 1.0});
    }
    return out;
}

QPoint middleOf(const StageStrip& strip, int item) {
    return strip.item(item).rect.center().toPoint();
}

} // namespace

class MeshWidgetsTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { controller_ = std::make_unique<ThemeController>(); }

    void parts_are_as_wide_as_their_work() {
        StageStrip strip;
        strip.resize(804, 80); // 800 for the layers
        strip.setParts(sixLayers(), {4, 2}, 2);
        QCOMPARE(strip.share(0), 0.5);
        QCOMPARE(strip.item(0).rect.width(), 400.0);
        QCOMPARE(strip.item(2).rect.width(), 400.0);
        strip.setEqual(true);
        // Four of six boxes, on whole pixels.
        QCOMPARE(strip.item(0).rect.width(), std::round(2 + 800.0 * 4 / 6) - 2);
        QCOMPARE(strip.share(0), 0.5); // what it costs stays
        QVERIFY(strip.accessibleDescription().contains("blocks.0 to blocks.3"));
        QVERIFY(strip.accessibleDescription().contains("50.0 %"));
    }

    void a_border_is_dragged_and_told_when_it_is_let_go() {
        StageStrip strip;
        strip.resize(804, 80);
        strip.setParts(sixLayers(), {4, 2}, 2);
        strip.show();
        QSignalSpy chosen(&strip, &StageStrip::countsChosen);
        const QPoint from = middleOf(strip, 1);
        QTest::mousePress(&strip, Qt::LeftButton, {}, from);
        QTest::mouseMove(&strip, from + QPoint(-90, 0)); // a layer is 100 wide
        QCOMPARE(strip.counts(), (std::vector<int>{3, 3}));
        QCOMPARE(strip.share(0), 3.0 / 8.0); // seen while it is dragged
        QCOMPARE(chosen.count(), 0);
        QTest::mouseMove(&strip, QPoint(2, 10)); // no stage is ever empty
        QCOMPARE(strip.counts(), (std::vector<int>{1, 5}));
        QTest::mouseRelease(&strip, Qt::LeftButton, {}, QPoint(2, 10));
        QCOMPARE(chosen.count(), 1);
        QCOMPARE(chosen.front().front().value<std::vector<int>>(), (std::vector<int>{1, 5}));
        // Escape gives a drag up; one that ends where it began tells nothing.
        const QPoint again = middleOf(strip, 1);
        QTest::mousePress(&strip, Qt::LeftButton, {}, again);
        QTest::mouseMove(&strip, again + QPoint(200, 0));
        QTest::keyClick(&strip, Qt::Key_Escape);
        QTest::mouseRelease(&strip, Qt::LeftButton, {}, again + QPoint(200, 0));
        QCOMPARE(strip.counts(), (std::vector<int>{1, 5}));
        QCOMPARE(chosen.count(), 1);
    }

    void a_border_is_moved_by_keys() {
        StageStrip strip;
        strip.resize(804, 80);
        strip.setParts(sixLayers(), {2, 2, 2}, 3);
        strip.show();
        strip.setCursorItem(0);
        QSignalSpy chosen(&strip, &StageStrip::countsChosen);
        QTest::keyClick(&strip, Qt::Key_Right); // from the first stage to its border
        QCOMPARE(strip.cursorItem(), 1);
        QTest::keyClick(&strip, Qt::Key_Right);
        QCOMPARE(strip.counts(), (std::vector<int>{3, 1, 2}));
        QTest::keyClick(&strip, Qt::Key_Right); // the next stage keeps its last layer
        QCOMPARE(chosen.count(), 1);
        QTest::keyClick(&strip, Qt::Key_Down);
        QTest::keyClick(&strip, Qt::Key_Down);
        QCOMPARE(strip.cursorItem(), 3);
        QTest::keyClick(&strip, Qt::Key_Right);
        QCOMPARE(strip.counts(), (std::vector<int>{3, 2, 1}));
        QCOMPARE(chosen.count(), 2);
        QVERIFY(strip.item(3).name.contains("behind 5 layer"));
    }

    void chunks_are_named_by_their_stage() {
        StageStrip strip;
        strip.resize(804, 80);
        strip.setParts(sixLayers(), {2, 1, 2, 1}, 2);
        QVERIFY(strip.item(4).name.startsWith("stage 0.1"));
        QVERIFY(strip.item(6).name.startsWith("stage 1.1"));
    }

    void an_axis_can_be_dropped_onto_the_layers_and_nothing_else() {
        StageStrip strip;
        strip.resize(804, 80);
        strip.setParts(sixLayers(), {6}, 1);
        QSignalSpy dropped(&strip, &StageStrip::axisDropped);
        const auto enters = [&](const QMimeData& data) {
            QDragEnterEvent enter({9, 9}, Qt::MoveAction, &data, Qt::LeftButton, Qt::NoModifier);
            enter.ignore();
            QApplication::sendEvent(&strip, &enter);
            return enter.isAccepted();
        };
        QMimeData text;
        text.setText("model");
        QVERIFY(!enters(text));
        const std::unique_ptr<QMimeData> axis(axisMime("model"));
        QVERIFY(enters(*axis));
        QDropEvent drop({9, 9}, Qt::MoveAction, axis.get(), Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&strip, &drop);
        QCOMPARE(dropped.count(), 1);
        QCOMPARE(dropped.front().front().toString(), "model");
    }

    void a_tag_has_a_cross_for_the_mouse_and_a_key_for_it() {
        AxisTag tag("model");
        tag.resize(tag.sizeHint());
        tag.show();
        QSignalSpy removed(&tag, &AxisTag::removeRequested);
        QSignalSpy clicked(&tag, &AxisTag::clicked);
        QTest::mouseClick(&tag, Qt::LeftButton, {}, tag.crossRect().center());
        QCOMPARE(removed.count(), 1);
        QCOMPARE(clicked.count(), 0);
        QTest::mouseClick(&tag, Qt::LeftButton, {}, QPoint(6, 6));
        QTest::keyClick(&tag, Qt::Key_Return);
        QTest::keyClick(&tag, Qt::Key_Space);
        QCOMPARE(clicked.count(), 3);
        QTest::keyClick(&tag, Qt::Key_Delete);
        QCOMPARE(removed.count(), 2);
        tag.setRemovable(false);
        QTest::keyClick(&tag, Qt::Key_Delete);
        QCOMPARE(removed.count(), 2);
        QVERIFY(tag.crossRect().isEmpty());
    }

    void a_grip_moves_and_removes_by_keys() {
        AxisGrip grip("data");
        // It is dragged by its name, too.
        QVERIFY(grip.sizeHint().width() >
                textWidth(Theme::current().font(TextStyle::Mono), QStringLiteral("data")));
        grip.show();
        QSignalSpy moved(&grip, &AxisGrip::moveRequested);
        QSignalSpy removed(&grip, &AxisGrip::removeRequested);
        QTest::keyClick(&grip, Qt::Key_Right);
        QTest::keyClick(&grip, Qt::Key_Left);
        QTest::keyClick(&grip, Qt::Key_Delete);
        QCOMPARE(moved.count(), 2);
        QCOMPARE(moved.front().front().toInt(), 1);
        QCOMPARE(moved.back().front().toInt(), -1);
        QCOMPARE(removed.count(), 1);
    }

    void what_does_not_fit_goes_onto_the_next_line() {
        QWidget holder;
        auto* flow = new FlowLayout(&holder);
        flow->setContentsMargins(0, 0, 0, 0);
        flow->setSpacing(10);
        flow->setLineSpacing(4);
        std::vector<QWidget*> boxes;
        for (int i = 0; i < 3; ++i) {
            boxes.push_back(new QWidget);
            boxes.back()->setFixedSize(100, 20);
            flow->addWidget(boxes.back());
        }
        QCOMPARE(flow->linesIn(320), 1);
        QCOMPARE(flow->linesIn(319), 2);
        QCOMPARE(flow->heightForWidth(319), 20 + 4 + 20);
        holder.resize(319, 60);
        holder.show();
        QCOMPARE(boxes[1]->pos(), QPoint(110, 0));
        QCOMPARE(boxes[2]->pos(), QPoint(0, 24));
        boxes[0]->hide(); // takes no room
        QCOMPARE(flow->linesIn(210), 1);
        // What expands takes the rest of its line.
        auto* wide = new QPushButton("rest");
        wide->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
        wide->setMinimumWidth(50);
        flow->addWidget(wide);
        holder.resize(320, 60);
        QTRY_COMPARE(wide->width(), 320 - 220);
    }

    void those_that_expand_share_the_rest_of_their_line() {
        QWidget holder;
        auto* flow = new FlowLayout(&holder);
        flow->setContentsMargins(0, 0, 0, 0);
        flow->setSpacing(10);
        std::vector<QWidget*> boxes;
        for (int i = 0; i < 3; ++i) {
            boxes.push_back(new QWidget);
            boxes.back()->setMinimumSize(50, 20);
            boxes.back()->setSizePolicy(i == 1 ? QSizePolicy::Fixed : QSizePolicy::Expanding,
                                        QSizePolicy::Fixed);
            flow->addWidget(boxes.back());
        }
        holder.resize(320, 20);
        holder.show();
        QTRY_COMPARE(boxes[2]->geometry().right(), 319);
        QCOMPARE(boxes[0]->width(), 125); // 320 less two gaps and 50, in halves
        QCOMPARE(boxes[1]->width(), 50);
        QCOMPARE(boxes[2]->width(), 125);
    }

    void columns_put_lines_in_rank_and_file() {
        QWidget holder;
        auto* flow = new FlowLayout(&holder);
        flow->setContentsMargins(0, 0, 0, 0);
        flow->setSpacing(10);
        flow->setColumnWidth(90); // three of 100 in 320
        std::vector<QWidget*> boxes;
        for (const int width : {60, 130, 100, 40}) {
            boxes.push_back(new QWidget);
            boxes.back()->setMinimumSize(width, 20);
            boxes.back()->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
            flow->addWidget(boxes.back());
        }
        holder.resize(320, 60);
        holder.show();
        QTRY_COMPARE(boxes[0]->geometry(), QRect(0, 0, 100, 20));
        QCOMPARE(boxes[1]->geometry(), QRect(110, 0, 210, 20));
        QCOMPARE(boxes[2]->geometry(), QRect(0, 24, 100, 20));
        QCOMPARE(boxes[3]->geometry(), QRect(110, 24, 100, 20));
    }

private:
    std::unique_ptr<ThemeController> controller_;
};

WEFT_TEST(MeshWidgetsTest)
#include "mesh_widgets_test.moc"
