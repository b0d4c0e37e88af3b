// SPDX-License-Identifier: GPL-3.0-or-later
// Charts of many lines: bands, the moved picture while a view moves, brushes over axes.
#include "tests/support/weft_test.h"
#include "widgets/curves/line_chart.h"
#include "widgets/curves/scatter_view.h"
#include "widgets/look/theme_controller.h"
#include "widgets/views/parallel_view.h"

#include <QImage>
#include <QSignalSpy>
#include <qcustomplot.h>

#include <cmath>

using namespace weft::widgets;

namespace {

QImage picture_now(LineChart& chart) {
    return chart.plot()->toPixmap().toImage();
}

bool is_tinted(const QColor& pixel) {
    return pixel != Theme::current().color(Role::Surface) &&
           pixel != Theme::current().color(Role::Hairline);
}

ParallelAxis axis_with(const char* name, std::vector<std::optional<double>> values) {
    ParallelAxis axis;
    axis.name = name;
    axis.values = std::move(values);
    axis.texts.assign(axis.values.size(), "x");
    return axis;
}

} // namespace

class SwiftChartTest : public QObject {
    Q_OBJECT
private slots:
    void init() {
        controller_ = std::make_unique<ThemeController>();
        controller_->setMode(ThemeController::Mode::Light);
    }

    void a_band_is_painted_between_its_bounds_and_fits_into_the_view() {
        LineChart chart;
        chart.resize(600, 300);
        chart.show();
        const int id = chart.addSeries({"mean", {}, 0, SeriesForm::Bold});
        const std::vector<double> x{0, 50, 100};
        chart.append(id, x, std::vector<double>{5, 5, 5});
        chart.setBand(id, x, std::vector<double>{4, 4, 4}, std::vector<double>{8, 8, 8});
        chart.replotNow();
        QVERIFY(chart.yRange().low < 4 && chart.yRange().high > 8);
        const QImage image = picture_now(chart);
        const auto at = [&](double place_x, double y) {
            return image.pixelColor(static_cast<int>(chart.plot()->xAxis->coordToPixel(place_x)),
                                    static_cast<int>(chart.plot()->yAxis->coordToPixel(y)));
        };
        QVERIFY(is_tinted(at(23, 7.3)) && is_tinted(at(77, 4.4)));
        QVERIFY(!is_tinted(at(23, 8.2)) && !is_tinted(at(77, 3.85)));
        QCOMPARE(*chart.valueAt(id, 50), 5.0);
        QVERIFY(!chart.valueAt(id, 101).has_value());
    }

    void a_moved_view_shows_the_last_picture_and_then_the_lines_themselves() {
        LineChart chart;
        LineChart twin; // always exact
        for (LineChart* one : {&chart, &twin}) {
            one->resize(600, 300);
            one->setSwift(one == &chart);
            one->setFollowing(false);
            one->show();
            for (int line = 0; line < 40; ++line) {
                const int id = one->addSeries({QString::number(line), {}, line, SeriesForm::Thin});
                for (int step = 0; step < 400; ++step) {
                    one->append(id, step, std::sin(step * 0.05 + line) + line * 0.1);
                }
            }
            one->setYRange({-2, 6});
            one->replotNow();
        }
        QVERIFY(chart.isExact());
        QCOMPARE(picture_now(chart), picture_now(twin));
        chart.setXRange({100, 300});
        QCoreApplication::processEvents();
        QVERIFY(!chart.isExact());
        QCOMPARE(chart.xRange().low, 100.0); // the axis is exact at once
        twin.setXRange({100, 300});
        QTRY_VERIFY(chart.isExact());
        twin.replotNow();
        QCOMPARE(picture_now(chart), picture_now(twin));
    }

    void a_shift_by_whole_pixels_of_the_picture_is_where_the_lines_will_be() {
        LineChart chart;
        chart.resize(648, 300);
        chart.setSwift(true);
        chart.setFollowing(false);
        chart.show();
        const int id = chart.addSeries({"a", {}, 0, SeriesForm::Plain});
        chart.append(id, std::vector<double>{0, 1000}, std::vector<double>{0, 1000});
        chart.setYRange({0, 1000});
        chart.setXRange({0, 1000});
        chart.replotNow();
        chart.setXRange({-200, 800});
        QCoreApplication::processEvents();
        QVERIFY(!chart.isExact());
        const QImage moved = chart.grab().toImage();
        const auto height_at = [&](double x) { // of the line in the picture
            const int column = static_cast<int>(chart.plot()->xAxis->coordToPixel(x));
            const QColor color = Theme::current().series(0);
            for (int y = 20; y < moved.height(); ++y) {
                if (std::abs(moved.pixelColor(column, y).red() - color.red()) < 30 &&
                    std::abs(moved.pixelColor(column, y).blue() - color.blue()) < 30) {
                    return chart.plot()->yAxis->pixelToCoord(y);
                }
            }
            return -1.0;
        };
        for (const double x : {100.0, 400.0, 700.0}) {
            QVERIFY2(std::abs(height_at(x) - x) < 20, qPrintable(QString::number(height_at(x))));
        }
    }

    void a_line_that_stands_out_needs_no_new_picture_of_the_others() {
        LineChart chart;
        chart.resize(600, 300);
        chart.setSwift(true);
        chart.show();
        std::vector<int> ids;
        for (int line = 0; line < 5; ++line) {
            ids.push_back(chart.addSeries({QString::number(line), {}, line, SeriesForm::Thin}));
            chart.append(ids.back(), std::vector<double>{0, 100},
                         std::vector<double>{1.0 * line, 1.0 * line});
        }
        chart.replotNow();
        const QImage before = picture_now(chart);
        chart.setHighlightedSeries(ids[2]);
        QCoreApplication::processEvents();
        QVERIFY(chart.isExact());
        QVERIFY(chart.grab().toImage() != before);
        chart.setHighlightedSeries(-1);
        QCoreApplication::processEvents();
        QCOMPARE(picture_now(chart), before);
    }

    void a_drag_along_an_axis_brushes_lines_and_a_click_takes_it_away() {
        ParallelView view;
        view.resize(600, 300);
        view.setBrushable(true);
        view.show();
        view.setContent({axis_with("a", {0.0, 1.0, 2.0}), axis_with("b", {2.0, 1.0, {}})},
                        {{"x"}, {"y"}, {"z"}});
        QSignalSpy changed(&view, &ParallelView::brushChanged);
        const QLineF axis = view.axisLine(1); // from 1 at the bottom to 2
        QTest::mousePress(&view, Qt::LeftButton, {}, axis.pointAt(0.7).toPoint());
        QTest::mouseMove(&view, axis.p2().toPoint());
        QTest::mouseRelease(&view, Qt::LeftButton, {}, axis.p2().toPoint());
        QVERIFY(changed.count() > 0);
        QVERIFY(view.isBrushed(0) && !view.isBrushed(1));
        QVERIFY(!view.isBrushed(2)); // it has no value there
        // The brush stays on its axis when that has another place.
        view.setContent({axis_with("b", {2.0, 1.0}), axis_with("a", {0.0, 1.0})}, {{"x"}, {"y"}});
        QVERIFY(view.brush(0).has_value() && !view.brush(1).has_value());
        QTest::mouseClick(&view, Qt::LeftButton, {}, view.axisLine(0).center().toPoint());
        QVERIFY(!view.hasBrush());
    }

    void a_box_in_a_scatter_brushes_dots() {
        ScatterView view;
        view.resize(500, 300);
        view.show();
        view.setContent(axis_with("rate", {1e-4, 1e-3, 1e-2}), axis_with("loss", {3.0, 1.0, {}}),
                        {{"x"}, {"y"}, {"z"}});
        QVERIFY(!view.dotAt(2).has_value());
        // Logarithmic: the middle one in the middle.
        const QLineF between(*view.dotAt(0), *view.dotAt(1));
        QCOMPARE(view.hitTest(*view.dotAt(1)), 1);
        QTest::mousePress(&view, Qt::LeftButton, {}, (between.p1() + QPointF(-12, -8)).toPoint());
        QTest::mouseMove(&view, (between.p1() + QPointF(12, 12)).toPoint());
        QTest::mouseRelease(&view, Qt::LeftButton, {}, (between.p1() + QPointF(12, 12)).toPoint());
        QVERIFY(view.hasBrush() && view.isBrushed(0) && !view.isBrushed(1) && !view.isBrushed(2));
        QTest::keyClick(&view, Qt::Key_Escape);
        QVERIFY(!view.hasBrush() && view.isBrushed(1));
    }

private:
    std::unique_ptr<ThemeController> controller_;
};

WEFT_TEST(SwiftChartTest)

#include "swift_chart_test.moc"
