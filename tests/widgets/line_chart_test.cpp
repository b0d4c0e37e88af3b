// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/weft_test.h"
#include "tests/widgets/writing.h"
#include "widgets/curves/chart_axis.h"
#include "widgets/curves/line_chart.h"
#include "widgets/look/painting.h"
#include "widgets/look/theme_controller.h"

#include <QImage>
#include <QTemporaryDir>
#include <qcustomplot.h>

#include <cmath>
#include <map>

using namespace weft::widgets;

namespace {

// Pixels that are this colour up to anti-aliasing.
int countColor(const QImage& image, const QColor& color, const QRect& area) {
    int count = 0;
    for (int y = area.top(); y <= area.bottom(); ++y) {
        for (int x = area.left(); x <= area.right(); ++x) {
            const QColor pixel = image.pixelColor(x, y);
            count += std::abs(pixel.red() - color.red()) < 12 &&
                             std::abs(pixel.green() - color.green()) < 12 &&
                             std::abs(pixel.blue() - color.blue()) < 12
                         ? 1
                         : 0;
        }
    }
    return count;
}

QImage chartPicture(LineChart& chart) {
    chart.replotNow();
    return chart.plot()->toPixmap().toImage();
}

} // namespace

class LineChartTest : public QObject {
    Q_OBJECT
private slots:
    void init() {
        controller_ = std::make_unique<ThemeController>();
        controller_->setMode(ThemeController::Mode::Light);
        chart_ = std::make_unique<LineChart>();
        chart_->resize(600, 300);
        chart_->show();
        id_ = chart_->addSeries(
            {QStringLiteral("loss"), {}, 0, SeriesForm::Plain, Qt::SolidLine, true});
    }

    void cleanup() { chart_.reset(); }

    void a_line_appears_where_the_data_is() {
        const QColor color = Theme::current().series(0);
        QCOMPARE(countColor(chartPicture(*chart_), color, QRect(60, 20, 520, 240)), 0);
        chart_->append(id_, std::vector<double>{0, 50, 100}, std::vector<double>{1, 1, 1});
        const QImage image = chartPicture(*chart_);
        const int y = static_cast<int>(chart_->plot()->yAxis->coordToPixel(1.0));
        // Two pixels high, nearly as wide as the plot.
        QVERIFY(countColor(image, color, QRect(60, y - 3, 500, 7)) > 480);
        QCOMPARE(countColor(image, color, QRect(60, y + 8, 500, 20)), 0);
    }

    void the_newest_of_flags_that_are_close_is_whole() {
        chart_->append(id_, std::vector<double>{0, 700}, std::vector<double>{2, 1});
        chart_->setFlags({{400, true, false, {}}, {692, true, false, {}}, {695, true, false, {}}});
        const QImage image = chartPicture(*chart_);
        const int x = static_cast<int>(std::round(chart_->plot()->xAxis->coordToPixel(695)));
        const int foot = chart_->plot()->axisRect()->bottom();
        // The upper half of a flag of 9 pixels.
        QVERIFY(countColor(image, Theme::current().color(Role::Muted),
                           QRect(x - 3, foot - 8, 7, 4)) >= 26);
    }

    // At the end of a run, where everything comes together.
    void the_words_of_marks_hide_no_other_mark() {
        std::vector<double> x;
        std::vector<double> y;
        for (int i = 0; i <= 100; ++i) {
            x.push_back(i);
            y.push_back(1 - 0.009 * i);
        }
        chart_->append(id_, x, y);
        chart_->setBest(100, 0.1, "best validation loss 0.100");
        chart_->setSelection(100, "selected 100");
        chart_->setThreshold(0.11, "clipped above 0.11");
        chart_->setEvents({{99, "resumed"}});
        chart_->setFlags({{80, true, false, {}}, {90, true, false, {}}, {100, true, false, {}}});
        chart_->replotNow();
        weft::test::Writing writing(chart_->size());
        QCPPainter painter(&writing);
        chart_->plot()->toPainter(&painter, chart_->width(), chart_->height());
        painter.end();
        std::map<QString, QRectF> words;
        for (const auto& [text, rect] : writing.texts) {
            words.emplace(text, rect);
        }
        const QString all[] = {"best validation loss 0.100", "selected 100", "clipped above 0.11",
                               "resumed"};
        const auto at = [this](double step) { return chart_->plot()->xAxis->coordToPixel(step); };
        const double foot = chart_->plot()->axisRect()->bottom();
        for (const QString& one : all) {
            const QRectF rect = words.at(one);
            QVERIFY(QRectF(chart_->plot()->axisRect()->rect()).contains(rect));
            for (const double vertical : {99.0, 100.0}) {
                QVERIFY2(at(vertical) < rect.left() || at(vertical) > rect.right(),
                         qPrintable(one));
            }
            for (const double flag : {80.0, 90.0, 100.0}) {
                QVERIFY2(!rect.intersects(QRectF(at(flag) - 4, foot - 10, 8, 10)), qPrintable(one));
            }
            for (const QString& other : all) {
                QVERIFY2(one == other || !rect.intersects(words.at(other)), qPrintable(one));
            }
        }
    }

    void a_ring_lies_where_its_point_is_to_a_fraction_of_a_pixel() {
        const int rings = chart_->addSeries(
            {QStringLiteral("validation"), {}, 3, SeriesForm::Markers, Qt::SolidLine, true});
        // So far apart that a ring stands alone, and each at another place within its pixel.
        for (int i = 0; i < 12; ++i) {
            chart_->append(rings, 7.31 * i, 1.0 + 0.037 * (i % 5));
        }
        const QImage image = chartPicture(*chart_);
        const QColor color = Theme::current().series(3);
        const QColor ground = Theme::current().color(Role::Surface);
        for (int i = 0; i < 12; ++i) {
            const QPointF at(chart_->plot()->xAxis->coordToPixel(7.31 * i),
                             chart_->plot()->yAxis->coordToPixel(1.0 + 0.037 * (i % 5)));
            const QPoint middle(static_cast<int>(at.x()), static_cast<int>(at.y()));
            double sum = 0.0;
            QPointF place;
            for (int y = middle.y() - 7; y <= middle.y() + 7; ++y) {
                for (int x = middle.x() - 7; x <= middle.x() + 7; ++x) {
                    const double covered =
                        static_cast<double>(ground.green() - qGreen(image.pixel(x, y))) /
                        (ground.green() - color.green());
                    const QPointF pixel(x + 0.5, y + 0.5);
                    // Neither the grid nor the line between rings.
                    if (covered > 0.3 && QLineF(pixel, at).length() < 5.5) {
                        sum += covered;
                        place += covered * pixel;
                    }
                }
            }
            // A ring of radius 4, two pixels wide.
            QVERIFY2(std::abs(sum - 2 * M_PI * 4 * 2) < 12, qPrintable(QString::number(sum)));
            const QPointF off = place / sum - at;
            QVERIFY2(std::abs(off.x()) < 0.3 && std::abs(off.y()) < 0.3,
                     qPrintable(QString("%1 %2").arg(off.x()).arg(off.y())));
            QCOMPARE(image.pixelColor(middle), ground);
        }
    }

    void outliers_can_be_left_out_of_the_range_and_are_counted() {
        std::vector<double> x;
        std::vector<double> y;
        for (int i = 0; i < 1000; ++i) {
            x.push_back(i);
            y.push_back(i == 200 || i == 700 ? 90.0 : 1.0 + 0.001 * (i % 10));
        }
        chart_->append(id_, x, y);
        chart_->replotNow();
        QVERIFY(chart_->hasOutliers());
        QVERIFY(chart_->yRange().high > 90.0); // nothing is hidden unless asked for
        QCOMPARE(chart_->clippedCount(), std::size_t{0});
        QSignalSpy clipped(chart_.get(), &LineChart::outliersClippedChanged);
        QTest::keyClick(chart_.get(), Qt::Key_O);
        QCOMPARE(clipped.count(), 1);
        chart_->replotNow();
        QVERIFY(chart_->yRange().high < 1.1);
        QCOMPARE(chart_->clippedCount(), std::size_t{2});
        QTest::keyClick(chart_.get(), Qt::Key_O);
        chart_->replotNow();
        QVERIFY(chart_->yRange().high > 90.0);
    }

    void clipping_without_outliers_changes_nothing() {
        std::vector<double> x;
        std::vector<double> y;
        for (int i = 0; i < 1000; ++i) {
            x.push_back(i);
            y.push_back(std::sin(i * 0.1));
        }
        chart_->append(id_, x, y);
        chart_->replotNow();
        const auto before = chart_->yRange();
        chart_->setOutliersClipped(true);
        chart_->replotNow();
        QVERIFY(!chart_->hasOutliers());
        QCOMPARE(chart_->yRange().high, before.high);
        QCOMPARE(chart_->yRange().low, before.low);
        QCOMPARE(chart_->clippedCount(), std::size_t{0});
    }

    void steps_taken_back_are_not_the_newest() {
        chart_->append(id_, std::vector<double>{0, 10, 20}, std::vector<double>{1, 1, 1});
        const int lost = chart_->addSeries(
            {QStringLiteral("lost"), {}, 0, SeriesForm::Abandoned, Qt::SolidLine, true});
        chart_->append(lost, std::vector<double>{20, 30, 40}, std::vector<double>{1, 2, 3});
        chart_->replotNow();
        QVERIFY(chart_->yRange().high > 3.0); // drawn
        QVERIFY2(chart_->describe().contains("20"), qPrintable(chart_->describe()));
    }

    void ticks_are_named_by_what_they_are() {
        QCOMPARE(axisLabel(2.5, 2.5, 6), QStringLiteral("2.5"));
        QCOMPARE(axisLabel(5, 2.5, 6), QStringLiteral("5.0"));
        QCOMPARE(axisLabel(3, 1, 6), QStringLiteral("3"));
        QCOMPARE(axisLabel(0.25, 0.25, 1), QStringLiteral("0.25"));
        QCOMPARE(axisLabel(1500, 500, 3000), QStringLiteral("1,500"));
        QCOMPARE(timeLabel(30, 30), QStringLiteral("30 s"));
        QCOMPARE(timeLabel(90, 30), QStringLiteral("1 m 30 s"));
        QCOMPARE(timeLabel(11.36, 0.1), QStringLiteral("11.4 s"));
        QCOMPARE(timeLabel(65.04, 0.01), QStringLiteral("1 m 05.04 s"));
        QCOMPARE(timeLabel(59.97, 0.1), QStringLiteral("1 m 00.0 s"));
        QCOMPARE(timeLabel(120, 60), QStringLiteral("2 m"));
        QCOMPARE(timeLabel(5400, 1800), QStringLiteral("1 h 30 m"));
    }

    void an_axis_has_two_numbers_at_least() {
        ChartTicker ticker;
        ticker.setRoom(2); // of a low chart
        for (const double low : {0.0, 0.07, 3.4, 62.0, 996.0}) {
            for (const double size : {0.004, 1.0, 17.0, 37.0, 4000.0}) {
                const QCPRange range(low, low + size);
                QVector<double> ticks;
                ticker.generate(range, QLocale::c(), 'g', 6, ticks, nullptr, nullptr);
                const auto seen = std::count_if(ticks.begin(), ticks.end(), [&](double tick) {
                    return range.lower <= tick && tick <= range.upper;
                });
                QVERIFY2(seen >= 2 && seen <= 8, qPrintable(QString("%1 %2").arg(low).arg(size)));
            }
        }
    }

    // At its first step a run has an axis from 0 to 1.
    void an_axis_that_counts_has_whole_numbers_only() {
        ChartTicker ticker;
        ticker.setKind(ChartTicker::Kind::Count);
        for (const int room : {2, 5, 8}) {
            ticker.setRoom(room, 600);
            for (const double high : {1.0, 2.0, 3.0, 7.0, 24.0, 1000.0, 12345.0}) {
                QVector<double> ticks;
                QVector<QString> labels;
                ticker.generate(QCPRange(0, high), QLocale::c(), 'g', 6, ticks, nullptr, &labels);
                QVERIFY(std::count_if(ticks.begin(), ticks.end(),
                                      [&](double tick) { return tick >= 0 && tick <= high; }) >= 2);
                for (int i = 0; i < ticks.size(); ++i) {
                    QVERIFY2(ticks[i] == std::round(ticks[i]), qPrintable(labels[i]));
                    QVERIFY2(!labels[i].contains('.'), qPrintable(labels[i]));
                }
            }
        }
    }

    void labels_side_by_side_do_not_touch() {
        using Kind = ChartTicker::Kind;
        const QFont font = Theme::current().font(TextStyle::MonoSmall);
        ChartTicker ticker;
        for (const Kind kind : {Kind::Linear, Kind::Seconds}) {
            for (const double high : {0.5, 3.0, 38.0, 100.0, 229.0, 5000.0, 900000.0}) {
                for (const int pixels : {90, 120, 200, 400}) {
                    ticker.setKind(kind);
                    ticker.setRoom(3, pixels);
                    QVector<double> ticks;
                    QVector<QString> labels;
                    ticker.generate(QCPRange(0, high), QLocale::c(), 'g', 6, ticks, nullptr,
                                    &labels);
                    QVERIFY(!labels.isEmpty());
                    double end = -1000;
                    for (int i = 0; i < labels.size(); ++i) {
                        const double half = textWidth(font, labels[i]) / 2;
                        const double at = ticks[i] / high * pixels;
                        const bool within = ticks[i] >= 0 && ticks[i] <= high;
                        QVERIFY2(
                            !within || at - half > end,
                            qPrintable(QString("%1 at %2 px").arg(labels.join("|")).arg(pixels)));
                        end = within ? at + half : end;
                    }
                }
            }
        }
    }

    void the_star_appears_at_the_best_point() {
        chart_->append(id_, std::vector<double>{0, 100}, std::vector<double>{1, 3});
        chart_->setBest(50.0, 1.4);
        const QImage image = chartPicture(*chart_);
        const QPoint at(static_cast<int>(chart_->plot()->xAxis->coordToPixel(50.0)),
                        static_cast<int>(chart_->plot()->yAxis->coordToPixel(1.4)));
        QVERIFY(countColor(image, Theme::current().color(Role::Accent),
                           QRect(at - QPoint(8, 8), QSize(17, 17))) > 40);
    }

    void the_label_of_the_best_point_leaves_its_star_free() {
        chart_->append(id_, std::vector<double>{0, 100}, std::vector<double>{1, 3});
        const auto star = [this](double y, const QString& label) {
            chart_->setBest(50.0, y, label);
            const QImage image = chartPicture(*chart_);
            const QPoint at(static_cast<int>(chart_->plot()->xAxis->coordToPixel(50.0)),
                            static_cast<int>(chart_->plot()->yAxis->coordToPixel(y)));
            return countColor(image, Theme::current().color(Role::Accent),
                              QRect(at - QPoint(9, 9), QSize(19, 19)));
        };
        for (const double y : {1.0, 2.5, 2.8, 3.0}) { // from the bottom to the top of the plot
            QCOMPARE(star(y, QStringLiteral("best 2.279")), star(y, {}));
        }
    }

    // Compact charts have one figure beside the crosshair, large ones a table.
    void what_the_crosshair_says_covers_no_label() {
        const QString words = QStringLiteral("clipped above a threshold");
        for (int step = 0; step <= 100; ++step) {
            chart_->append(id_, step, 2.0);
        }
        chart_->setYRange({0, 2.3});
        chart_->setThreshold(2.0, words, Role::Warning);
        const auto label = [this] { // between the line and where its words begin
            const QImage image = chartPicture(*chart_);
            const int line = static_cast<int>(chart_->plot()->yAxis->coordToPixel(2.0));
            return countColor(image, Theme::current().color(Role::Warning),
                              QRect(0, line - 18, image.width(), 16));
        };
        for (const bool compact : {true, false}) {
            chart_->setCompactCrosshair(compact);
            chart_->setCrosshair(std::nullopt);
            const int whole = label();
            QVERIFY(whole > 40);
            // So that what stands at its right stands where the words are.
            const QCPAxis& axis = *chart_->plot()->xAxis;
            const double width = textWidth(Theme::current().font(TextStyle::Caption), words);
            chart_->setCrosshair(axis.pixelToCoord(axis.coordToPixel(100) - width - 40));
            QCOMPARE(label(), whole);
        }
    }

    void non_finite_points_become_red_triangles_and_are_counted() {
        chart_->append(id_, std::vector<double>{0, 50, 100}, std::vector<double>{1, NAN, 2});
        const QImage image = chartPicture(*chart_);
        QCOMPARE(chart_->nonFiniteCount(id_), std::size_t{1});
        const int x = static_cast<int>(chart_->plot()->xAxis->coordToPixel(50.0));
        const int bottom = chart_->plot()->axisRect()->bottom();
        QVERIFY(countColor(image, Theme::current().color(Role::Error),
                           QRect(x - 6, bottom - 12, 13, 12)) > 15);
        QVERIFY(chart_->describe().contains(QStringLiteral("not finite: 1")));
    }

    void infinite_values_do_not_reach_the_range() {
        chart_->append(id_, std::vector<double>{0, 1, 2}, std::vector<double>{1, INFINITY, 2});
        chart_->replotNow();
        QVERIFY(chart_->yRange().high < 3.0);
    }

    void a_log_axis_counts_what_it_cannot_show() {
        chart_->append(id_, std::vector<double>{0, 1, 2}, std::vector<double>{1, 0, 10});
        QCOMPARE(chart_->hiddenByLogCount(), std::size_t{0});
        chart_->setLogScale(true);
        chart_->replotNow();
        QCOMPARE(chart_->hiddenByLogCount(), std::size_t{1});
        QVERIFY(chart_->yRange().low > 0.5 && chart_->yRange().low < 1.0);
    }

    void following_keeps_the_width_of_a_zoom() {
        for (int i = 0; i <= 100; ++i) {
            chart_->append(id_, i, 1.0 + i);
        }
        chart_->setXRange({80, 100});
        chart_->replotNow();
        for (int i = 101; i <= 200; ++i) {
            chart_->append(id_, i, 1.0 + i);
        }
        chart_->replotNow();
        const ChartRange range = chart_->xRange();
        QVERIFY(std::abs(range.high - range.low - 20.0) < 1e-9);
        QVERIFY(range.low < 200.0 && range.high >= 200.0);
    }

    void without_following_a_zoom_stays_where_it_is() {
        chart_->append(id_, std::vector<double>{0, 100}, std::vector<double>{1, 2});
        chart_->setFollowing(false);
        chart_->setXRange({20, 40});
        chart_->append(id_, 500, 3.0);
        chart_->replotNow();
        QCOMPARE(chart_->xRange().low, 20.0);
        QCOMPARE(chart_->xRange().high, 40.0);
    }

    void following_a_wide_view_begins_where_the_curve_does() {
        chart_->setPlannedRange(ChartRange{0, 2000}, 200);
        for (int i = 0; i <= 200; ++i) {
            chart_->append(id_, i, 1.0 + i);
        }
        chart_->replotNow();
        const double first = chart_->xRange().low;
        chart_->setXRange({100, 1800});
        chart_->replotNow();
        QCOMPARE(chart_->xRange().low, first);
        QCOMPARE(chart_->xRange().high, first + 1700.0); // the width stays
        chart_->setXRange({-4000, 4000});
        chart_->replotNow();
        QCOMPARE(chart_->xRange().low, first);
        QVERIFY(chart_->xRange().high < 2200.0); // no wider than all there is
    }

    void following_shows_the_newest_curve_at_whatever_height() {
        for (int i = 0; i <= 100; ++i) {
            chart_->append(id_, i, 100.0 - i);
        }
        chart_->setXRange({80, 100});
        chart_->setYRange({0, 20});
        chart_->replotNow();
        QCOMPARE(chart_->yRange().high, 20.0); // a height with the newest in it is kept
        chart_->setYRange({60, 90});
        chart_->replotNow();
        QVERIFY(chart_->yRange().low <= 0.0 && chart_->yRange().high < 30.0);
    }

    void a_zoom_of_the_height_alone_stays_while_following() {
        for (int i = 0; i <= 100; ++i) {
            chart_->append(id_, i, 100.0 - i);
        }
        chart_->setYRange({60, 90}); // all of x is in view: the curve crosses it
        chart_->replotNow();
        QCOMPARE(chart_->yRange().low, 60.0);
        QCOMPARE(chart_->yRange().high, 90.0);
    }

    void keys_reset_scale_follow_move_and_zoom() {
        chart_->append(id_, std::vector<double>{0, 50, 100}, std::vector<double>{1, 2, 3});
        chart_->replotNow();
        QTest::keyClick(chart_.get(), Qt::Key_L);
        QVERIFY(chart_->isLogScale());
        QTest::keyClick(chart_.get(), Qt::Key_F);
        QVERIFY(!chart_->isFollowing());
        QTest::keyClick(chart_.get(), Qt::Key_Plus);
        QVERIFY(chart_->isZoomed());
        QTest::keyClick(chart_.get(), Qt::Key_R);
        QVERIFY(!chart_->isZoomed());
        QVERIFY(chart_->isFollowing());
        QTest::keyClick(chart_.get(), Qt::Key_Left);
        QCOMPARE(chart_->crosshair().value_or(-1), 100.0);
        QTest::keyClick(chart_.get(), Qt::Key_Left);
        QCOMPARE(chart_->crosshair().value_or(-1), 50.0);
        QSignalSpy exported(chart_.get(), &LineChart::exportRequested);
        QTest::keyClick(chart_.get(), Qt::Key_E);
        QCOMPARE(exported.count(), 1);
    }

    void right_drag_zooms_to_the_box_and_double_click_resets() {
        chart_->append(id_, std::vector<double>{0, 100}, std::vector<double>{0, 10});
        chart_->replotNow();
        QCustomPlot* plot = chart_->plot();
        const QPoint from(200, 100);
        const QPoint to(300, 200);
        const double low = plot->xAxis->pixelToCoord(from.x());
        const double high = plot->xAxis->pixelToCoord(to.x());
        QTest::mousePress(plot, Qt::RightButton, {}, from);
        QTest::mouseMove(plot, QPoint(250, 150));
        QTest::mouseMove(plot, to);
        QTest::mouseRelease(plot, Qt::RightButton, {}, to);
        chart_->replotNow();
        QVERIFY(std::abs(chart_->xRange().low - low) < 1e-6);
        QVERIFY(std::abs(chart_->xRange().high - high) < 1e-6);
        QTest::mouseDClick(plot, Qt::LeftButton, {}, from);
        QVERIFY(!chart_->isZoomed());
    }

    void linked_charts_share_range_and_crosshair() {
        LineChart other;
        const int other_id = other.addSeries(
            {QStringLiteral("rate"), {}, 1, SeriesForm::Plain, Qt::SolidLine, true});
        for (int i = 0; i <= 100; ++i) {
            chart_->append(id_, i, i);
            other.append(other_id, i, 2.0 * i);
        }
        ChartLink link;
        link.add(chart_.get());
        link.add(&other);
        chart_->setFollowing(false);
        chart_->setXRange({10, 30});
        chart_->setCrosshair(17.2);
        chart_->replotNow();
        other.replotNow();
        QCOMPARE(other.xRange().low, 10.0);
        QCOMPARE(other.xRange().high, 30.0);
        QCOMPARE(other.crosshair().value_or(-1), 17.0);
        other.resetView();
        QVERIFY(!chart_->isZoomed());
    }

    void batches_before_one_turn_of_the_loop_cause_one_replot() {
        QSignalSpy replots(chart_->plot(), &QCustomPlot::afterReplot);
        QApplication::processEvents();
        replots.clear();
        for (int i = 0; i < 1000; ++i) {
            chart_->append(id_, i, 1.0);
        }
        QCOMPARE(replots.count(), 0);
        QTRY_VERIFY(replots.count() >= 1);
        QVERIFY(replots.count() <= 2); // QCustomPlot may add the one of its own first resize
    }

    void a_chart_that_nobody_sees_is_drawn_when_it_is_shown() {
        chart_->replotNow();
        chart_->hide();
        QApplication::processEvents();
        QSignalSpy replots(chart_->plot(), &QCustomPlot::afterReplot);
        chart_->append(id_, std::vector<double>{0, 100}, std::vector<double>{1, 1});
        QApplication::processEvents();
        QApplication::processEvents();
        QCOMPARE(replots.count(), 0);
        chart_->show();
        QTRY_VERIFY(chart_->xRange().high >= 100);
    }

    void a_chart_asked_for_at_once_is_not_drawn_again_for_the_same_change() {
        QApplication::processEvents();
        QSignalSpy replots(chart_->plot(), &QCustomPlot::afterReplot);
        chart_->append(id_, std::vector<double>{0, 100}, std::vector<double>{1, 1});
        chart_->replotNow();
        const auto at_once = replots.count();
        QApplication::processEvents();
        QApplication::processEvents();
        QCOMPARE(replots.count(), at_once);
    }

    void thin_lines_are_where_the_data_is_in_pictures_and_drawings() {
        chart_->removeSeries(id_);
        const int id = chart_->addSeries(
            {QStringLiteral("loss"), QStringLiteral("other"), 2, SeriesForm::Thin});
        chart_->append(id, std::vector<double>{0, 50, 100}, std::vector<double>{1.23, 1.23, 1.23});
        chart_->setYRange({0.5, 2.5}); // no line of the grid where the data is
        const QColor color = Theme::current().series(2);
        const QImage image = chartPicture(*chart_);
        const double y = chart_->plot()->yAxis->coordToPixel(1.23);
        const int column = static_cast<int>(chart_->plot()->xAxis->coordToPixel(47));
        const QRect around(60, static_cast<int>(y) - 2, 500, 5);
        // One pixel high, over one row or two: what they cover adds up to one.
        double covered = 0.0;
        const QColor paper = Theme::current().color(Role::Surface);
        for (int row = around.top(); row <= around.bottom(); ++row) {
            const QColor pixel = image.pixelColor(column, row);
            covered += double(paper.red() - pixel.red()) / (paper.red() - color.red());
        }
        QVERIFY2(std::abs(covered - 1.0) < 0.05, qPrintable(QString::number(covered)));
        QTemporaryDir dir;
        const QString svg = dir.filePath(QStringLiteral("chart.svg"));
        QVERIFY(chart_->exportSvg(svg));
        QFile file(svg);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray drawing = file.readAll();
        QVERIFY(drawing.contains("<polyline"));
        QVERIFY(drawing.contains(color.name().toLatin1()));
        QVERIFY(!drawing.contains("<image"));
    }

    void one_spike_among_a_million_points_of_another_run_is_seen() {
        chart_->removeSeries(id_);
        const int id = chart_->addSeries(
            {QStringLiteral("loss"), QStringLiteral("other"), 2, SeriesForm::Thin});
        std::vector<double> x(1000000);
        std::vector<double> y(x.size(), 1.0);
        for (std::size_t i = 0; i < x.size(); ++i) {
            x[i] = static_cast<double>(i);
        }
        y[500000] = 40.0;
        chart_->append(id, x, y);
        const QImage image = chartPicture(*chart_);
        const auto column = static_cast<int>(chart_->plot()->xAxis->coordToPixel(500000));
        const auto top = static_cast<int>(chart_->plot()->yAxis->coordToPixel(30.0));
        const auto bottom = static_cast<int>(chart_->plot()->yAxis->coordToPixel(3.0));
        const QColor color = Theme::current().series(2);
        const QColor paper = Theme::current().color(Role::Surface);
        for (int row = top; row <= bottom; ++row) {
            double covered = 0.0; // of the columns that it may fall into
            for (int at = column - 2; at <= column + 2; ++at) {
                covered += double(paper.red() - image.pixelColor(at, row).red()) /
                           (paper.red() - color.red());
            }
            QVERIFY2(covered > 0.7, qPrintable(QStringLiteral("row %1: %2").arg(row).arg(covered)));
        }
    }

    void the_description_says_value_place_and_trend() {
        chart_->setAxisNames(QStringLiteral("step"), QStringLiteral("loss"));
        for (int i = 0; i <= 1200; ++i) {
            chart_->append(id_, i, 2.0 - i * (2.0 - 0.412) / 1200.0);
        }
        QCOMPARE(chart_->describe(), QStringLiteral("loss 0.412 at step 1,200, falling"));
    }

    void a_place_is_said_as_finely_as_the_view_shows_it() {
        chart_->setAxisNames(QStringLiteral("epoch"), QStringLiteral("loss"));
        chart_->setPlannedRange(ChartRange{0, 24}, 4.65);
        chart_->append(id_, std::vector<double>{0, 2, 4.65}, std::vector<double>{1, 1, 1});
        chart_->replotNow();
        QCOMPARE(chart_->describe(), QStringLiteral("loss 1.00 at epoch 4.65, steady"));
        chart_->setAxisNames(QStringLiteral("time"), QStringLiteral("loss"));
        chart_->setXKind(LineChart::XKind::Seconds);
        chart_->append(id_, 23.51, 1.0);
        chart_->replotNow();
        QCOMPARE(chart_->describe(), QStringLiteral("loss 1.00 at time 23.51 s, steady"));
        chart_->append(id_, 90.44, 1.0);
        chart_->replotNow();
        QCOMPARE(chart_->describe(), QStringLiteral("loss 1.00 at time 1 m 30.4 s, steady"));
        chart_->append(id_, 3605.5, 1.0); // no pixel stands for less than seconds
        chart_->replotNow();
        QCOMPARE(chart_->describe(), QStringLiteral("loss 1.00 at time 1 h 00 m, steady"));
    }

    void an_empty_chart_describes_its_phase() {
        chart_->setOverlayText(QStringLiteral("Compiling"), QStringLiteral("1.2 s"));
        QCOMPARE(chart_->describe(), QStringLiteral("Compiling"));
    }

    void csv_holds_every_point_at_full_precision() {
        QTemporaryDir dir;
        const std::vector<double> y{0.1, NAN, 1.0 / 3.0};
        chart_->append(id_, std::vector<double>{0, 1, 2}, y);
        const QString path = dir.filePath(QStringLiteral("points.csv"));
        QVERIFY(chart_->exportCsv(path));
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QList<QByteArray> lines = file.readAll().trimmed().split('\n');
        QCOMPARE(lines.size(), 4);
        QCOMPARE(lines[0], QByteArray("series,step,loss,smoothed"));
        QCOMPARE(lines[2].split(',')[2].toDouble(), 1.0 / 3.0);
        QVERIFY(lines[3].contains("nan"));
    }

    void columns_have_the_names_of_the_axes() {
        QTemporaryDir dir;
        const QString path = dir.filePath(QStringLiteral("points.csv"));
        const auto head = [&](LineChart::XKind kind, const char* x, const char* y) {
            chart_->setXKind(kind);
            chart_->setAxisNames(QString::fromLatin1(x), QString::fromLatin1(y));
            QFile file(path);
            return chart_->exportCsv(path) && file.open(QIODevice::ReadOnly)
                       ? file.readLine().trimmed()
                       : QByteArray();
        };
        QCOMPARE(head(LineChart::XKind::Number, "epoch", "accuracy"),
                 QByteArray("series,epoch,accuracy,smoothed"));
        QCOMPARE(head(LineChart::XKind::Seconds, "time", "loss, mean"),
                 QByteArray("series,time in seconds,\"loss, mean\",smoothed"));
    }

    void a_picture_says_what_it_shows() {
        QTemporaryDir dir;
        const int other = chart_->addSeries(
            {QStringLiteral("loss"), QStringLiteral("run-7"), 1, SeriesForm::Plain});
        const int hidden = chart_->addSeries(
            {QStringLiteral("loss"), QStringLiteral("run-8"), 2, SeriesForm::Plain});
        for (const int id : {other, hidden}) {
            chart_->append(id, std::vector<double>{0, 700}, std::vector<double>{1, 2});
        }
        chart_->setSeriesVisible(hidden, false);
        chart_->setAxisNames(QStringLiteral("epoch"), QStringLiteral("loss"));
        chart_->setXAxisVisible(false); // for want of room on screen
        const QString svg = dir.filePath(QStringLiteral("chart.svg"));
        QVERIFY(chart_->exportSvg(svg));
        QFile file(svg);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray drawing = file.readAll();
        QVERIFY(drawing.contains("loss over epoch"));
        QVERIFY(drawing.contains("run-7"));
        QVERIFY(!drawing.contains("run-8"));
        QVERIFY(drawing.contains(">600<"));
        QVERIFY(!chart_->plot()->xAxis->tickLabels()); // on screen it is as it was
        const QString png = dir.filePath(QStringLiteral("chart.png"));
        QVERIFY(chart_->exportPng(png, 1.0));
        QVERIFY(QImage(png).height() > chart_->plot()->height());
        QVERIFY(chart_->exportPdf(dir.filePath(QStringLiteral("chart.pdf"))));
    }

    void pictures_are_written_and_a_bad_folder_is_reported() {
        QTemporaryDir dir;
        chart_->append(id_, std::vector<double>{0, 1}, std::vector<double>{1, 2});
        const QString png = dir.filePath(QStringLiteral("chart.png"));
        QVERIFY(chart_->exportPng(png, 2.0));
        QCOMPARE(QImage(png).width(), chart_->plot()->width() * 2);
        const QString svg = dir.filePath(QStringLiteral("chart.svg"));
        QVERIFY(chart_->exportSvg(svg));
        QFile file(svg);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QVERIFY(file.readAll().contains("<svg"));
        QVERIFY(!chart_->exportSvg(QStringLiteral("/no/such/folder/chart.svg")));
        QVERIFY(!chart_->exportCsv(QStringLiteral("/no/such/folder/points.csv")));
    }

    void the_crosshair_stays_where_it_was_when_a_chart_is_exported() {
        QTemporaryDir dir;
        chart_->append(id_, std::vector<double>{0, 50, 100}, std::vector<double>{1, 3, 2});
        chart_->replotNow();
        const QImage without = chart_->grab().toImage();
        chart_->setCrosshair(50);
        const QImage before = chart_->grab().toImage();
        QVERIFY(before != without);
        QVERIFY(chart_->exportPng(dir.filePath(QStringLiteral("chart.png")), 2.0));
        QVERIFY(chart_->grab().toImage() == before);
    }

    void eight_runs_keep_their_lines_at_twice_the_scale() {
        chart_->removeSeries(id_);
        for (int run = 0; run < 8; ++run) {
            const int id =
                chart_->addSeries({QStringLiteral("loss"), QStringLiteral("run %1").arg(run), run,
                                   SeriesForm::Plain, Qt::SolidLine, true});
            chart_->append(id, std::vector<double>{0, 100},
                           std::vector<double>{double(run), double(run)});
        }
        chart_->replotNow();
        QPixmap drawn = chart_->plot()->toPixmap(0, 0, 2.0);
        QCOMPARE(drawn.size(), chart_->plot()->size() * 2);
        const QImage image = drawn.toImage();
        for (int run = 0; run < 8; ++run) {
            const int y = 2 * static_cast<int>(chart_->plot()->yAxis->coordToPixel(run));
            // Most of twice the plot's width, on a line of its own.
            QVERIFY2(countColor(image, Theme::current().series(run), QRect(120, y - 6, 1000, 13)) >
                         900,
                     qPrintable(QStringLiteral("run %1").arg(run)));
        }
    }

    void a_theme_change_recolours_the_lines() {
        chart_->append(id_, std::vector<double>{0, 100}, std::vector<double>{1, 1});
        controller_->setMode(ThemeController::Mode::Dark);
        // Widgets learn of a new palette in the next turn of the event loop.
        QTRY_VERIFY(countColor(chartPicture(*chart_), Theme::dark().series(0),
                               QRect(60, 20, 500, 240)) > 480);
        controller_->setMode(ThemeController::Mode::Light);
    }

private:
    std::unique_ptr<ThemeController> controller_;
    std::unique_ptr<LineChart> chart_;
    int id_ = 0;
};

WEFT_TEST(LineChartTest)
#include "line_chart_test.moc"
