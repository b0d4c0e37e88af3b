// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/weft_test.h"
#include "widgets/curves/curve_raster.h"

#include <cmath>
#include <vector>

using namespace weft::widgets;

namespace {

constexpr QSize kSize(40, 30);
const QColor kColor(200, 40, 10);

/// How much of each pixel of a column a line covers, in all.
double covered(const QImage& image, int column) {
    double sum = 0.0;
    for (int row = 0; row < image.height(); ++row) {
        sum += qAlpha(image.pixel(column, row)) / 255.0;
    }
    return sum;
}

} // namespace

class CurveRasterTest : public QObject {
    Q_OBJECT
private slots:
    void a_level_line_is_one_pixel_high_and_lies_where_it_should() {
        CurveRaster raster;
        raster.begin(kSize);
        raster.draw(std::vector<QPointF>{{0, 10.25}, {40, 10.25}}, kColor);
        // From 9.75 to 10.75.
        for (const int column : {0, 17, 39}) {
            QVERIFY(std::abs(qAlpha(raster.image().pixel(column, 9)) - 64) <= 1);
            QVERIFY(std::abs(qAlpha(raster.image().pixel(column, 10)) - 191) <= 1);
            QVERIFY(std::abs(covered(raster.image(), column) - 1.0) < 0.02);
        }
        QCOMPARE(raster.used(), QRect(0, 9, 40, 2));
    }

    void a_slope_is_as_thick_as_a_stroke_of_one_pixel() {
        CurveRaster raster;
        raster.begin(kSize);
        raster.draw(std::vector<QPointF>{{0, 0}, {30, 30}}, kColor);
        // A stroke of width 1 covers sqrt(2) of each column at 45 degrees.
        QVERIFY(std::abs(covered(raster.image(), 15) - std::sqrt(2.0)) < 0.05);
    }

    void a_wide_line_is_as_thick_everywhere() {
        CurveRaster raster;
        raster.begin(kSize);
        raster.draw(std::vector<QPointF>{{0, 10}, {40, 10}}, kColor, 2.0);
        QVERIFY(std::abs(covered(raster.image(), 20) - 2.0) < 0.02);
        raster.begin(kSize);
        // Ten rows a column: each row has two pixels of it.
        raster.draw(std::vector<QPointF>{{7, -30}, {16, 60}}, kColor, 2.0);
        for (int row = 8; row < 22; ++row) {
            double sum = 0.0;
            for (int column = 0; column < kSize.width(); ++column) {
                sum += qAlpha(raster.image().pixel(column, row)) / 255.0;
            }
            QVERIFY2(std::abs(sum - 2.0) < 0.05, qPrintable(QString::number(sum)));
        }
    }

    void a_steep_line_has_no_steps() {
        CurveRaster raster;
        raster.begin(kSize);
        raster.draw(std::vector<QPointF>{{7, -30}, {16, 60}}, kColor);
        // It fades from one column into the next: ten rows a column, from one to nothing.
        for (int row = 8; row < 22; ++row) {
            double sum = 0.0;
            double place = 0.0;
            for (int column = 0; column < kSize.width(); ++column) {
                const double share = qAlpha(raster.image().pixel(column, row)) / 255.0;
                sum += share;
                place += share * (column + 0.5);
            }
            QVERIFY(std::abs(sum - 1.0) < 0.05);
            QVERIFY(std::abs(place / sum - (10.0 + (row + 0.5) / 10.0)) < 0.05);
        }
    }

    void what_happens_within_a_column_is_drawn_from_its_lowest_to_its_highest_point() {
        CurveRaster raster;
        raster.begin(kSize);
        raster.draw(
            std::vector<QPointF>{{0, 20}, {10.3, 20}, {10.5, 5}, {10.6, 25}, {10.8, 20}, {40, 20}},
            kColor);
        for (int row = 5; row < 25; ++row) {
            QCOMPARE(raster.image().pixel(10, row), kColor.rgb());
        }
        QCOMPARE(qAlpha(raster.image().pixel(10, 3)), 0);
        QCOMPARE(qAlpha(raster.image().pixel(10, 26)), 0);
        QCOMPARE(qAlpha(raster.image().pixel(12, 10)), 0); // its neighbours know nothing of it
    }

    void lines_that_leave_the_picture_are_cut_off_at_its_edges() {
        CurveRaster raster;
        raster.begin(kSize);
        raster.draw(std::vector<QPointF>{{-100, 15}, {140, 15}}, kColor);
        raster.draw(std::vector<QPointF>{{5, -1e300}, {5.5, 1e300}, {6, 15}}, kColor);
        raster.draw(std::vector<QPointF>{{-9, 3}, {-4, 3}}, kColor);
        raster.draw(std::vector<QPointF>{{40, 3}, {49, 3}}, kColor);
        for (const int column : {0, 39}) {
            QVERIFY(std::abs(covered(raster.image(), column) - 1.0) < 0.02);
        }
        QVERIFY(std::abs(covered(raster.image(), 5) - kSize.height()) < 0.1);
    }

    void a_later_line_lies_over_an_earlier_one() {
        CurveRaster raster;
        raster.begin(kSize);
        raster.draw(std::vector<QPointF>{{0, 10.5}, {40, 10.5}}, kColor);
        raster.draw(std::vector<QPointF>{{0, 0}, {20, 10.5}, {40, 10.5}}, Qt::blue);
        QCOMPARE(raster.image().pixel(5, 10), kColor.rgb());
        QCOMPARE(raster.image().pixel(30, 10), QColor(Qt::blue).rgb());
    }

    void dashes_have_gaps_of_the_pens_length() {
        CurveRaster raster;
        raster.begin(kSize);
        raster.draw(std::vector<QPointF>{{0, 10.5}, {40, 10.5}}, kColor, 1.0, Qt::DashLine);
        // Four pixels and a gap of two.
        for (int column = 0; column < 36; ++column) {
            QCOMPARE(qAlpha(raster.image().pixel(column, 10)), column % 6 < 4 ? 255 : 0);
        }
    }

    void a_new_picture_is_empty() {
        CurveRaster raster;
        raster.begin(kSize);
        raster.draw(std::vector<QPointF>{{0, 10}, {40, 10}}, kColor);
        raster.begin(kSize);
        QVERIFY(raster.used().isEmpty());
        QCOMPARE(qAlpha(raster.image().pixel(5, 10)), 0);
    }
};

WEFT_TEST(CurveRasterTest)
#include "curve_raster_test.moc"
