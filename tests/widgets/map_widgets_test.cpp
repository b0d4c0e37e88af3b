// SPDX-License-Identifier: GPL-3.0-or-later
// Matrices, channels, bars and patches of numbers: where things are, what is said of them, and that
// keys reach all of it.
#include "tests/support/weft_test.h"
#include "widgets/look/theme_controller.h"
#include "widgets/maps/channel_view.h"
#include "widgets/maps/matrix_view.h"
#include "widgets/maps/patch_view.h"
#include "widgets/maps/value_bars.h"
#include "widgets/maps/value_colour.h"

#include <QSignalSpy>

#include <cmath>
#include <memory>

using namespace weft::widgets;

namespace {

QColor pixel(const PaintedView& view, const QPointF& at) {
    QImage image(view.size(), QImage::Format_RGB32);
    view.renderTo(&image, view.size());
    return image.pixelColor(at.toPoint());
}

/// How different two colours are, 0 to 1.
double apart(const QColor& a, const QColor& b) {
    return std::max({std::abs(a.redF() - b.redF()), std::abs(a.greenF() - b.greenF()),
                     std::abs(a.blueF() - b.blueF())});
}

NamedMatrix causal(int places) {
    NamedMatrix out;
    out.rows = out.columns = places;
    out.square = true;
    for (int row = 0; row < places; ++row) {
        out.first.push_back(0);
        out.end.push_back(row + 1);
        for (int column = 0; column < places; ++column) {
            out.values.push_back(column <= row ? 1.0F / float(row + 1) : 0.0F);
        }
    }
    out.most = 1;
    return out;
}

QString wordsOf(int row, int column) {
    return QString("%1 to %2").arg(row).arg(column);
}

} // namespace

class MapWidgetsTest : public QObject {
    Q_OBJECT
private slots:
    void init() { controller_ = std::make_unique<ThemeController>(); }

    void colours_tell_sizes_and_signs_apart() {
        const QColor none = valueColour(0);
        QVERIFY(apart(valueColour(1), none) > apart(valueColour(0.4), none));
        QVERIFY(apart(valueColour(0.4), none) > 0.05);
        QVERIFY(apart(valueColour(1), valueColour(-1)) > 0.2);
        QCOMPARE(valueColour(7), valueColour(1));
        QCOMPARE(valueColour(std::nan("")), Theme::current().color(Role::Error));
        const std::vector<float> values{-3, 2, INFINITY, NAN};
        QCOMPARE(largestSize(values), 3.0F);
    }

    void a_matrix_has_its_cells_where_they_are_painted() {
        MatrixView view;
        view.resize(400, 300);
        view.setMatrix(causal(4), wordsOf);
        QCOMPARE(view.itemCount(), 16);
        for (int i = 0; i < 16; ++i) {
            QCOMPARE(view.hitTest(view.item(i).rect.center()), i);
            QCOMPARE(view.item(i).name, wordsOf(i / 4, i % 4));
            QVERIFY(std::abs(view.item(i).rect.width() - view.item(i).rect.height()) < 0.01);
        }
        QCOMPARE(view.hitTest({2, 2}), -1);
        // 1 on the diagonal's beginning, 1/4 in the last row.
        const QColor ground = valueColour(0);
        QVERIFY(apart(pixel(view, view.item(0).rect.center()), valueColour(1)) < 0.02);
        QVERIFY(apart(pixel(view, view.item(12).rect.center()), valueColour(0.25)) < 0.02);
        // What does not exist has no colour of a number, and lines over it.
        const QRectF missing = view.item(3).rect;
        int lines = 0;
        const QColor paper = Theme::current().color(Role::Surface);
        for (int x = 2; x < missing.width() - 2; ++x) {
            const QColor seen = pixel(view, missing.topLeft() + QPointF(x, missing.height() / 2));
            QVERIFY(apart(seen, ground) > 0.001 || ground == paper);
            lines += apart(seen, paper) > 0.02 ? 1 : 0;
        }
        QVERIFY(lines > 2);
        NamedMatrix roots = causal(4);
        roots.rooted = true;
        view.setMatrix(roots, wordsOf);
        QVERIFY(apart(pixel(view, view.item(12).rect.center()), valueColour(0.5)) < 0.02);
    }

    void no_number_of_a_column_is_cut_at_the_edge() {
        MatrixView view;
        view.resize(300, 100);
        for (int columns = 150; columns < 220; ++columns) {
            NamedMatrix wide;
            wide.rows = 1;
            wide.columns = columns;
            wide.values.assign(static_cast<std::size_t>(columns), 1.0F);
            view.setMatrix(wide, wordsOf);
            const int names = int(view.item(0).rect.top()) - 1;
            QVERIFY(names > 5);
            QImage image(view.size(), QImage::Format_RGB32);
            view.renderTo(&image, view.size());
            for (int y = 0; y < names; ++y) {
                QVERIFY2(apart(image.pixelColor(view.width() - 1, y), image.pixelColor(0, 0)) <
                             0.02,
                         qPrintable(QString::number(columns)));
            }
        }
    }

    void keys_walk_over_a_matrix_and_stop_at_its_edges() {
        MatrixView view;
        view.resize(400, 300);
        view.setMatrix(causal(3), wordsOf);
        view.setCursorItem(0);
        QSignalSpy activated(&view, &PaintedView::itemActivated);
        const auto press = [&](Qt::Key key) {
            QTest::keyClick(&view, key);
            return view.cursorItem();
        };
        QCOMPARE(press(Qt::Key_Left), 0);
        QCOMPARE(press(Qt::Key_Right), 1);
        QCOMPARE(press(Qt::Key_Down), 4);
        QCOMPARE(press(Qt::Key_Right), 5);
        QCOMPARE(press(Qt::Key_Right), 5);
        QCOMPARE(press(Qt::Key_Up), 2);
        press(Qt::Key_Return);
        QCOMPARE(activated.size(), 1);
        QCOMPARE(activated[0][0].toInt(), 2);
    }

    void many_names_are_thinned_out_not_painted_over_each_other() {
        MatrixView view;
        view.resize(300, 300);
        NamedMatrix big = causal(200);
        for (int i = 0; i < 200; ++i) {
            big.row_names << QString("w%1").arg(i);
        }
        big.column_names = big.row_names;
        view.setMatrix(big, wordsOf);
        QImage image(view.size(), QImage::Format_RGB32);
        view.renderTo(&image, view.size());
        // Between two lines of names there is a row of pixels without ink.
        const QRectF cells = view.item(0).rect.united(view.item(200 * 200 - 1).rect);
        int empty = 0;
        for (int y = int(cells.top()); y < int(cells.bottom()); ++y) {
            bool ink = false;
            for (int x = 0; x < int(cells.left()) - 2; ++x) {
                ink |= image.pixelColor(x, y) != Theme::current().color(Role::Surface);
            }
            empty += ink ? 0 : 1;
        }
        QVERIFY2(empty > 20, qPrintable(QString::number(empty)));
    }

    void channels_have_a_scale_of_their_own_or_one_for_all() {
        ChannelView view;
        // Two channels of 2 x 3: one is ten times the other.
        Channels two{2, 3, 2, {}};
        for (int i = 0; i < 6; ++i) {
            two.values.push_back(float(i));
            two.values.push_back(float(-10 * i));
        }
        view.resize(300, 200);
        view.setChannels(two);
        QCOMPARE(view.itemCount(), 2);
        QVERIFY(view.item(1).name.contains("-50"));
        const auto last = [&](int channel) { // its last pixel: the largest
            return view.item(channel).rect.bottomRight() - QPointF(6, 6);
        };
        QVERIFY(apart(pixel(view, last(0)), valueColour(1)) < 0.02);
        QVERIFY(apart(pixel(view, last(1)), valueColour(-1)) < 0.02);
        view.setTogether(true);
        QVERIFY(apart(pixel(view, last(0)), valueColour(0.1)) < 0.02);
        QVERIFY(apart(pixel(view, last(1)), valueColour(-1)) < 0.02);
        QCOMPARE(view.wordsAt(last(1)), QString("channel 1, row 1, column 2: -50.0"));
        QCOMPARE(view.wordsAt({299, 199}), QString());
        // All are within the height that is asked for.
        Channels many{7, 7, 300, std::vector<float>(7 * 7 * 300, 1.0F)};
        view.setChannels(many);
        view.resize(300, view.heightForWidth(300));
        QVERIFY(view.item(299).rect.bottom() <= view.height());
        QVERIFY(view.item(299).rect.right() <= view.width());
    }

    void bars_rise_above_zero_and_fall_below() {
        ValueBars view;
        view.resize(400, 200);
        view.setValues({2, -1, 0, NAN});
        QCOMPARE(view.itemCount(), 4);
        QCOMPARE(view.item(1).name, QString("unit 1: -1.00"));
        for (int i = 0; i < 4; ++i) {
            QCOMPARE(view.hitTest(view.item(i).rect.center()), i);
        }
        // Of 3 units of height the upper two are above zero.
        const QRectF room = view.item(0).rect;
        const auto at = [&](int bar, double share) {
            const QRectF own = view.item(bar).rect;
            return pixel(view, QPointF(own.center().x(), room.top() + share * room.height()));
        };
        const QColor ground = Theme::current().color(Role::Inset);
        QCOMPARE(at(0, 0.1), valueColour(1));
        QCOMPARE(at(0, 0.9), ground);
        QCOMPARE(at(1, 0.5), ground);
        QCOMPARE(at(1, 0.9), valueColour(-1));
        QCOMPARE(at(3, 0.3), Theme::current().color(Role::Error));
    }

    void patches_lie_over_the_picture_behind_the_class_token() {
        PatchView view;
        view.resize(240, 280);
        Patches patches;
        patches.rows = 2;
        patches.columns = 3;
        patches.before = 1;
        patches.weights = {0.1F, 0, 0, 0.2F, 0.6F, 0, 0};
        for (int i = 0; i < 7; ++i) {
            patches.words.push_back(QString::number(i));
        }
        patches.picture = QImage(6, 4, QImage::Format_RGB32);
        patches.picture.fill(Qt::black);
        view.setPatches(patches);
        QCOMPARE(view.itemCount(), 7);
        for (int i = 0; i < 7; ++i) {
            QCOMPARE(view.hitTest(view.item(i).rect.center()), i);
        }
        const auto colour = [&](int i) { return pixel(view, view.item(i).rect.center()); };
        QCOMPARE(colour(1), QColor(Qt::black));
        QVERIFY(apart(colour(4), Qt::black) > apart(colour(3), Qt::black));
        QVERIFY(apart(colour(3), Qt::black) > 0.05);
        view.setCursorItem(0);
        const auto press = [&](Qt::Key key) {
            QTest::keyClick(&view, key);
            return view.cursorItem();
        };
        QCOMPARE(press(Qt::Key_Down), 1);
        QCOMPARE(press(Qt::Key_Down), 4);
        QCOMPARE(press(Qt::Key_Right), 5);
        QCOMPARE(press(Qt::Key_Up), 2);
        QCOMPARE(press(Qt::Key_Up), 0);
    }

private:
    std::unique_ptr<ThemeController> controller_;
};

WEFT_TEST(MapWidgetsTest)
#include "map_widgets_test.moc"
