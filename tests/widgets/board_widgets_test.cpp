// SPDX-License-Identifier: GPL-3.0-or-later
// Boards by mouse and keys, what a screen reader says of them, and charts of steps.
#include "tests/support/weft_test.h"
#include "widgets/boards/board_strip.h"
#include "widgets/boards/board_view.h"
#include "widgets/boards/cycle_slider.h"
#include "widgets/boards/halting_chart.h"
#include "widgets/boards/puzzle_list.h"
#include "widgets/boards/share_curves.h"
#include "widgets/look/theme_controller.h"

#include <cmath>

using namespace weft::widgets;

namespace {

Board small_board() {
    Board board{4, 4, 2, 2, {}};
    for (int i = 0; i < 16; ++i) {
        BoardCell cell;
        cell.text = QString::number(i % 4 + 1);
        cell.given = i % 3 == 0;
        board.cells.push_back(cell);
    }
    return board;
}

/// How many pixels of a picture of the view have exactly this colour.
int pixels_of(const PaintedView& view, const QSize& size, const QColor& color) {
    QImage image(size, QImage::Format_ARGB32);
    image.fill(Qt::white);
    view.renderTo(&image, size);
    int out = 0;
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) {
            out += image.pixelColor(x, y) == color ? 1 : 0;
        }
    }
    return out;
}

} // namespace

class BoardWidgetsTest : public QObject {
    Q_OBJECT

private slots:
    void init() { controller_ = std::make_unique<ThemeController>(); }

    void cells_are_chosen_by_mouse_and_arrows_that_stop_at_edges() {
        BoardView view;
        view.resize(200, 201);
        view.setBoard(small_board());
        view.show();
        QSignalSpy chosen(&view, &BoardView::chosenChanged);
        QTest::mouseClick(&view, Qt::LeftButton, {}, view.item(5).rect.center().toPoint());
        QCOMPARE(view.chosen(), 5);
        QTest::keyClick(&view, Qt::Key_Down);
        QCOMPARE(view.chosen(), 9);
        QTest::keyClick(&view, Qt::Key_Right);
        QTest::keyClick(&view, Qt::Key_Right);
        QCOMPARE(view.chosen(), 11);
        QTest::keyClick(&view, Qt::Key_Right);
        QCOMPARE(view.chosen(), 11);
        QCOMPARE(chosen.count(), 4);
    }

    void symbols_are_typed_where_a_board_may_be_written() {
        BoardView view;
        view.resize(200, 201);
        view.setBoard(small_board());
        view.show();
        QSignalSpy typed(&view, &BoardView::typed);
        view.setChosen(0);
        QTest::keyClick(&view, Qt::Key_3);
        QCOMPARE(typed.count(), 0);
        view.setTyped("1234");
        QTest::keyClick(&view, Qt::Key_3);
        QCOMPARE(typed.takeFirst(), (QVariantList{0, QChar('3')}));
        QCOMPARE(view.chosen(), 1); // on to the next
        QTest::keyClick(&view, Qt::Key_5);
        QCOMPARE(typed.count(), 0); // no symbol of this board
        QTest::keyClick(&view, Qt::Key_Backspace);
        QCOMPARE(typed.takeFirst(), (QVariantList{1, QChar()}));
        QCOMPARE(view.chosen(), 0);
        QTest::keyClick(&view, Qt::Key_Delete);
        QCOMPARE(typed.takeFirst(), (QVariantList{0, QChar()}));
        QCOMPARE(view.chosen(), 0);
    }

    void a_screen_reader_hears_what_stands_in_a_cell() {
        Board board = small_board();
        board.cells[6].wrong = board.cells[6].changed = true;
        QCOMPARE(boardCellName(board, 6), QString("row 2, column 3: 3, given, changed, wrong"));
        board.cells[7].text.clear();
        QCOMPARE(boardCellName(board, 7), QString("row 2, column 4: blank"));
    }

    // Without its colour a wrong cell has a corner that a right one has not.
    void a_wrong_cell_is_marked_by_a_shape() {
        BoardView view;
        const QSize size(200, 201);
        Board board = small_board();
        board.cells[5].text.clear();
        view.setBoard(board);
        const QColor error = Theme::current().color(Role::Error);
        QCOMPARE(pixels_of(view, size, error), 0);
        board.cells[5].wrong = true;
        view.setBoard(board);
        QVERIFY(pixels_of(view, size, error) > 20);
    }

    void what_is_changed_is_tinted_and_a_wall_is_dark() {
        BoardView view;
        const QSize size(200, 201);
        Board board = small_board();
        board.cells[5].changed = true;
        view.setBoard(board);
        QVERIFY(pixels_of(view, size, Theme::current().color(Role::AccentTint)) > 500);
        board.cells[5].kind = BoardCell::Kind::Wall;
        view.setBoard(board);
        QCOMPARE(pixels_of(view, size, Theme::current().color(Role::AccentTint)), 0);
    }

    void the_slider_walks_through_all_cycles() {
        CycleSlider slider;
        slider.resize(600, slider.sizeHint().height());
        slider.setCycles(4, 3, 2, true);
        slider.show();
        QCOMPARE(slider.count(), 12);
        QSignalSpy chosen(&slider, &CycleSlider::chosenChanged);
        slider.setChosen(4);
        QTest::keyClick(&slider, Qt::Key_Right);
        QCOMPARE(slider.chosen(), 5);
        QTest::keyClick(&slider, Qt::Key_End);
        QCOMPARE(slider.chosen(), 11);
        QTest::mouseClick(&slider, Qt::LeftButton, {}, slider.item(2).rect.center().toPoint());
        QCOMPARE(slider.chosen(), 2);
        QCOMPARE(chosen.count(), 4);
        QCOMPARE(slider.item(5).name, QString("cycle 6 of 12, step 2"));
        // Another puzzle of the same model leaves the moment as it is.
        slider.setCycles(4, 3, 4, false);
        QCOMPARE(slider.chosen(), 2);
    }

    void boards_of_the_strip_fit_its_width_and_can_be_chosen() {
        BoardStrip strip;
        strip.resize(700, strip.sizeHint().height());
        QCOMPARE(strip.capacity(), 4); // 144 each, 14 between them
        std::vector<BoardMoment> moments(4);
        for (BoardMoment& moment : moments) {
            moment.board = small_board();
            moment.title = "Cycle 1";
        }
        strip.setMoments(moments);
        strip.show();
        for (int i = 0; i < 4; ++i) {
            QVERIFY(QRectF(strip.rect()).contains(strip.item(i).rect));
        }
        QSignalSpy activated(&strip, &PaintedView::itemActivated);
        QTest::mouseClick(&strip, Qt::LeftButton, {}, strip.item(2).rect.center().toPoint());
        QCOMPARE(activated.takeFirst(), (QVariantList{2}));
    }

    void halting_has_a_mean_and_names_each_step() {
        HaltingChart chart;
        chart.resize(400, 160);
        chart.setCounts({0, 6, 2}, {0, 0, 8});
        QVERIFY(std::abs(chart.mean() - (6 * 2 + 10 * 3) / 16.0) < 1e-12);
        QCOMPARE(chart.item(2).name, QString("step 3: 10 stop, 2 of them solved"));
        const QSize size(400, 160);
        const int columns = pixels_of(chart, size, Theme::current().color(Role::Accent));
        QVERIFY(columns > 0);
        chart.setCounts({0, 0, 0}, {0, 6, 10});
        QCOMPARE(pixels_of(chart, size, Theme::current().color(Role::Accent)), 0);
        chart.setCounts({}, {});
        QCOMPARE(chart.mean(), 0.0);
    }

    void shares_are_points_of_the_last_curve() {
        ShareCurves curves;
        curves.resize(400, 160);
        curves.setCurves({{"step 1", {0.1, 0.2, 0.2}}, {"step 2", {0.2, 0.5, 1.0}}});
        QCOMPARE(curves.itemCount(), 3);
        QCOMPARE(curves.item(1).name, QString("step 2: 0.500 of the boards solved"));
        QVERIFY(curves.item(0).rect.right() <= curves.item(1).rect.left() + 1e-6);
    }

    void a_puzzle_of_the_list_is_chosen_by_keys() {
        PuzzleList list;
        list.setRows({{"0", "7 given", {false, true}, "in 2 steps"},
                      {"1", "6 given", {false, false}, "3 wrong"}});
        list.resize(320, list.sizeHint().height());
        list.show();
        list.setChosen(0);
        QSignalSpy chosen(&list, &PuzzleList::chosenChanged);
        QTest::keyClick(&list, Qt::Key_Down);
        QCOMPARE(chosen.takeFirst(), (QVariantList{1}));
        QCOMPARE(list.item(0).name, QString("puzzle 0, 7 given, solved in 2 steps"));
        QCOMPARE(list.item(1).name, QString("puzzle 1, 6 given, not solved: 3 wrong"));
    }

private:
    std::unique_ptr<ThemeController> controller_;
};

WEFT_TEST(BoardWidgetsTest)
#include "board_widgets_test.moc"
