// SPDX-License-Identifier: GPL-3.0-or-later
// Arrows between devices: which one is pointed at, how thick it is, what keys and screen readers
// find; and the pattern view: what moves, and what stands still with reduced motion.
#include "tests/support/weft_test.h"
#include "widgets/look/theme_controller.h"
#include "widgets/mesh/collective_view.h"
#include "widgets/mesh/pattern_view.h"

#include <QAccessible>
#include <QSignalSpy>
#include <QTemporaryDir>

using namespace weft::widgets;

namespace {

/// Four devices, a ring over the rows ("model") and one over the columns ("data").
CollectiveGraph twoByTwo() {
    CollectiveGraph graph;
    graph.mesh = {2, 2};
    graph.devices = {0, 1, 2, 3};
    graph.axes = {"data", "model"};
    const std::pair<int, int> rows[] = {{0, 1}, {1, 0}, {2, 3}, {3, 2}};
    for (const auto& [from, to] : rows) {
        graph.arrows.push_back({from, to, 1 << 20, 1, QString("%1 to %2").arg(from).arg(to)});
    }
    const std::pair<int, int> columns[] = {{0, 2}, {2, 0}, {1, 3}, {3, 1}};
    for (const auto& [from, to] : columns) {
        graph.arrows.push_back({from, to, 1 << 10, 0, QString("%1 to %2").arg(from).arg(to)});
    }
    return graph;
}

/// Two devices exchange one part.
Pattern swap() {
    Pattern pattern;
    pattern.devices = {0, 1};
    pattern.mesh = {2};
    pattern.steps.push_back({"start", {}, {{{1}}, {{2}}}});
    pattern.steps.push_back(
        {"swap", {{0, 1, 0, 0, 1, false}, {1, 0, 0, 0, 2, false}}, {{{2, true}}, {{1, true}}}});
    return pattern;
}

} // namespace

class CollectiveViewTest : public QObject {
    Q_OBJECT
    std::unique_ptr<ThemeController> controller_;

private slots:
    void initTestCase() { controller_ = std::make_unique<ThemeController>(); }
    void cleanup() {
        controller_->setMode(ThemeController::Mode::Light);
        controller_->setReducedMotion(false);
    }

    void both_directions_of_a_pair_can_be_pointed_at() {
        CollectiveView view;
        view.resize(420, 220);
        view.setGraph(twoByTwo());
        for (int arrow = 0; arrow < view.itemCount(); ++arrow) {
            QCOMPARE(view.hitTest(view.middle(arrow)), arrow);
        }
        QCOMPARE(view.hitTest({2.0, 2.0}), -1);
    }

    void more_bytes_make_a_thicker_arrow_by_the_logarithm() {
        CollectiveView view;
        view.setGraph(twoByTwo());
        const double thin = view.thickness(1 << 10);
        const double thick = view.thickness(1 << 20);
        QVERIFY(thick > thin);
        // Half way in the exponent is half way in pixels.
        QCOMPARE(view.thickness(1 << 15), (thin + thick) / 2.0);
    }

    void keys_and_screen_readers_find_every_arrow() {
        CollectiveView view;
        view.resize(420, 220);
        view.setGraph(twoByTwo());
        view.show();
        view.setFocus(Qt::TabFocusReason);
        QTest::keyClick(&view, Qt::Key_Home);
        QCOMPARE(view.cursorItem(), 0);
        QTest::keyClick(&view, Qt::Key_Right);
        QTest::keyClick(&view, Qt::Key_Right);
        QCOMPARE(view.cursorItem(), 2);
        QAccessibleInterface* reader = QAccessible::queryAccessibleInterface(&view);
        QCOMPARE(reader->childCount(), 8);
        QCOMPARE(reader->child(2)->text(QAccessible::Name), QString("2 to 3"));
    }

    void axes_are_told_apart_without_colour() {
        QVERIFY(seriesDash(0) != seriesDash(1));
        for (const auto mode : {ThemeController::Mode::Light, ThemeController::Mode::Dark}) {
            controller_->setMode(mode);
            QTemporaryDir dir;
            CollectiveView view;
            view.resize(420, 220);
            view.setGraph(twoByTwo());
            QVERIFY(view.exportPng(dir.filePath("arrows.png")));
            QVERIFY(view.exportSvg(dir.filePath("arrows.svg")));
        }
    }

    void no_arrows_are_no_trouble() {
        CollectiveView view;
        view.resize(300, 160);
        view.setGraph({});
        QImage image(view.size(), QImage::Format_ARGB32_Premultiplied);
        view.renderTo(&image, view.size());
        QCOMPARE(view.itemCount(), 0);
    }

    void devices_of_a_pattern_say_what_they_have_and_sent() {
        PatternView view;
        view.resize(400, 160);
        view.setPattern(swap());
        QCOMPARE(view.item(0).name, QString("device 0 has 1"));
        view.setStep(1);
        QCOMPARE(view.item(0).name, QString("device 0 has 2; it sent 1 to device 1"));
        view.setStep(7); // there is none
        QCOMPARE(view.step(), 1);
    }

    void messages_travel_unless_motion_is_reduced() {
        PatternView view;
        view.resize(400, 160);
        view.setPattern(swap());
        QSignalSpy arrived(&view, &PatternView::arrived);
        view.setStep(1, 50);
        QVERIFY(view.isMoving());
        QVERIFY(arrived.wait());
        QVERIFY(!view.isMoving());
        controller_->setReducedMotion(true);
        view.setStep(0);
        view.setStep(1, 50);
        QVERIFY(!view.isMoving());
        QCOMPARE(view.step(), 1);
    }
};

WEFT_TEST(CollectiveViewTest)
#include "collective_view_test.moc"
