// SPDX-License-Identifier: GPL-3.0-or-later
// Step dots, sketch pad, confusion matrix, bars; and what the Train page asks of the line chart.
#include "tests/support/weft_test.h"
#include "tests/widgets/writing.h"
#include "widgets/curves/chart_axis.h"
#include "widgets/curves/line_chart.h"
#include "widgets/look/theme_controller.h"
#include "widgets/views/confusion_view.h"
#include "widgets/views/parallel_view.h"
#include "widgets/views/probability_bars.h"
#include "widgets/views/sketch_pad.h"
#include "widgets/views/step_dots.h"

#include <QAccessible>
#include <QClipboard>
#include <QDateTime>
#include <QTemporaryDir>
#include <qcustomplot.h>

#include <cmath>
#include <numeric>

using namespace weft::widgets;

class TrainWidgetsTest : public QObject {
    Q_OBJECT
private slots:
    void init() { controller_ = std::make_unique<ThemeController>(); }

    // Names beside one axis reach to the next one's ends.
    void names_on_axes_in_parallel_touch_no_end_of_another() {
        for (const QSize size : {QSize(700, 270), QSize(480, 200)}) {
            ParallelView view;
            view.resize(size);
            view.setContent({{"transforms",
                              {1, 0},
                              {"–", "normalize, random_crop (0.353)"},
                              {"normalize, random_crop, random_flip (0.353)", "–"}},
                             {"dropout", {0.1, 0.2}, {"0.1", "0.2"}, {}},
                             {"path", {0, 1}, {"/data/a", "/data/b"}, {"/data/a", "/data/b"}},
                             {"loss", {0.5, 0.25}, {"0.5", "0.25"}, {}, true}},
                            {{"one", 0}, {"two", 1}});
            weft::test::Writing writing(size);
            view.renderTo(&writing, size);
            QVERIFY(writing.texts.size() >= 12);
            for (std::size_t i = 0; i < writing.texts.size(); ++i) {
                QVERIFY(QRectF(QPointF(), size).contains(writing.texts[i].second));
                for (std::size_t k = 0; k < i; ++k) {
                    const QRectF around = writing.texts[i].second.adjusted(-3, -3, 3, 3);
                    QVERIFY2(!around.intersects(writing.texts[k].second),
                             qPrintable(writing.texts[i].first + " / " + writing.texts[k].first));
                }
            }
        }
    }

    void step_dots_follow_the_newest_until_another_is_chosen() {
        StepDots dots;
        dots.resize(300, 24);
        QSignalSpy chosen(&dots, &StepDots::chosenChanged);
        dots.setSteps({10, 20});
        QCOMPARE(dots.chosen(), 1);
        dots.setSteps({10, 20, 30});
        QCOMPARE(dots.chosen(), 2);
        QTest::keyClick(&dots, Qt::Key_Left);
        QCOMPARE(dots.chosen(), 1);
        dots.setSteps({10, 20, 30, 40}); // who looks at 20 goes on looking at 20
        QCOMPARE(dots.chosen(), 1);
        dots.setSteps({10}); // 20 is gone: the newest
        QCOMPARE(dots.chosen(), 0);
        QCOMPARE(chosen.count(), 4);
    }

    void step_dots_of_a_long_run_are_a_slider() {
        StepDots dots;
        dots.resize(214, 24);
        std::vector<qint64> steps(5000);
        std::iota(steps.begin(), steps.end(), 1);
        dots.setSteps(std::move(steps));
        QTest::mouseClick(&dots, Qt::LeftButton, {}, QPoint(107, 12));
        QVERIFY(std::abs(dots.chosen() - 2500) < 25); // a pixel is 25 of them
    }

    void a_stroke_whitens_the_pixels_under_it_and_undo_takes_it_back() {
        SketchPad pad;
        pad.setFormat(28, 28, 1);
        pad.resize(224, 224);
        pad.show();
        QVERIFY(pad.isBlank());
        QSignalSpy changed(&pad, &SketchPad::changed);
        QTest::mousePress(&pad, Qt::LeftButton, {}, QPoint(44, 100));
        QTest::mouseMove(&pad, QPoint(180, 100));
        QTest::mouseRelease(&pad, Qt::LeftButton, {}, QPoint(180, 100));
        QVERIFY(changed.count() >= 2);
        const std::vector<float> values = pad.values();
        QCOMPARE(values.size(), std::size_t{784});
        QCOMPARE(values[12 * 28 + 14], 1.0f); // 100 of 224 is row 12
        QCOMPARE(values[20 * 28 + 14], 0.0f);
        QTest::keyClick(&pad, Qt::Key_Z, Qt::ControlModifier);
        QVERIFY(pad.isBlank());
    }

    void drawing_goes_by_keyboard_too() {
        SketchPad pad;
        pad.setFormat(8, 8, 3);
        pad.resize(80, 80);
        QTest::keyClick(&pad, Qt::Key_Left);
        QTest::keyClick(&pad, Qt::Key_Space);
        const std::vector<float> values = pad.values();
        QCOMPARE(values.size(), std::size_t{192});
        QVERIFY(values[(4 * 8 + 3) * 3] > 0.5f);
        QTest::keyClick(&pad, Qt::Key_Backspace);
        QVERIFY(pad.values()[(4 * 8 + 3) * 3] < 0.5f);
    }

    void a_picture_is_scaled_onto_the_pixels() {
        SketchPad pad;
        pad.setFormat(28, 28, 1);
        QImage picture(280, 280, QImage::Format_RGB32);
        picture.fill(Qt::black);
        for (int y = 0; y < 140; ++y) {
            for (int x = 0; x < 280; ++x) {
                picture.setPixel(x, y, qRgb(255, 255, 255));
            }
        }
        pad.setImage(picture);
        const std::vector<float> values = pad.values();
        QCOMPARE(values[5 * 28 + 5], 1.0f);
        QCOMPARE(values[22 * 28 + 5], 0.0f);
    }

    void cells_of_a_confusion_matrix_are_named_counted_and_reached_by_key() {
        ConfusionView view;
        view.resize(320, 320);
        view.setCounts(2, {8, 2, 1, 9}, {"cat", "dog"});
        QCOMPARE(view.item(1).name, QString("dog said of cat: 2, 20.0 % of its class"));
        QCOMPARE(view.item(3).name, QString("dog said of dog, right: 9, 90.0 % of its class"));
        QSignalSpy activated(&view, &PaintedView::itemActivated);
        QTest::mouseClick(&view, Qt::LeftButton, {}, view.item(2).rect.center().toPoint());
        QCOMPARE(activated.count(), 1);
        QCOMPARE(activated.at(0).at(0).toInt(), 2);
        QTest::keyClick(&view, Qt::Key_Right);
        QCOMPARE(view.cursorItem(), 3);
        QTest::keyClick(&view, Qt::Key_Right); // the edge
        QCOMPARE(view.cursorItem(), 3);
        QTest::keyClick(&view, Qt::Key_Up);
        QCOMPARE(view.cursorItem(), 1);
        QAccessibleInterface* spoken = QAccessible::queryAccessibleInterface(&view);
        QCOMPARE(spoken->childCount(), 4);
        QCOMPARE(spoken->child(1)->text(QAccessible::Name), view.item(1).name);
        QTemporaryDir dir;
        QVERIFY(view.exportPng(dir.filePath("confusion.png")));
        QVERIFY(view.exportSvg(dir.filePath("confusion.svg")));
    }

    void bars_say_names_and_percent() {
        ProbabilityBars bars;
        bars.setBars({{"Sneaker", 0.917}, {"Sandal", 0.08}});
        QCOMPARE(bars.itemCount(), 2);
        QCOMPARE(bars.item(0).name, QString("Sneaker, 91.7 %"));
    }

    void a_small_share_has_a_bar_and_none_has_none() {
        const auto filled = [](double share) {
            ProbabilityBars bars;
            bars.setRows(1);
            bars.setBars({{"a", share}});
            bars.resize(200, bars.sizeHint().height());
            const QImage image = bars.grab().toImage();
            int count = 0;
            for (int y = 0; y < image.height(); ++y) {
                count += image.pixelColor(1, y) == Theme::current().color(Role::Accent) ? 1 : 0;
            }
            return count;
        };
        QCOMPARE(filled(0.0), 0);
        for (const double share : {0.0005, 0.004, 0.012, 0.02, 0.029}) {
            QVERIFY2(filled(share) >= 3, qPrintable(QString::number(share)));
        }
    }

    void a_share_is_never_written_with_an_exponent() {
        ProbabilityBars bars;
        bars.setBars({{"sure", 0.9999999}, {"hardly", 0.0004}, {"no", 1.2e-10}, {"never", 0.0}});
        QCOMPARE(bars.item(0).name, QString("sure, 100.0 %"));
        QCOMPARE(bars.item(1).name, QString("hardly, 0.04 %"));
        QCOMPARE(bars.item(2).name, QString("no, <0.01 %"));
        QCOMPARE(bars.item(3).name, QString("never, 0.0 %"));
    }

    void the_table_of_the_crosshair_begins_with_the_curve_next_to_the_pointer() {
        LineChart chart;
        chart.resize(600, 400);
        chart.show();
        for (const auto& [name, level] :
             {std::pair("high", 3.0), std::pair("middle", 2.0), std::pair("low", 1.0)}) {
            const int id = chart.addSeries({name, name, 0, SeriesForm::Thin});
            chart.append(id, std::vector<double>{0, 50, 100},
                         std::vector<double>{level, level, level});
        }
        chart.replotNow();
        chart.setCrosshair(50.0); // no pointer: as they lie
        QVERIFY(chart.crosshairTable().front().startsWith("high"));
        QCustomPlot* plot = chart.plot();
        const QPoint at(static_cast<int>(plot->xAxis->coordToPixel(50.0)),
                        static_cast<int>(plot->yAxis->coordToPixel(1.2)));
        QTest::mouseMove(plot, at);
        QTRY_VERIFY(chart.crosshairTable().front().startsWith("low"));
        QVERIFY(chart.crosshairTable().back().startsWith("high"));
        // A click locks it where it is.
        QTest::mouseClick(plot, Qt::LeftButton, {}, at);
        QVERIFY(chart.isCrosshairLocked());
    }

    void numbers_of_the_crosshairs_table_have_one_style() {
        LineChart chart;
        chart.resize(600, 300);
        for (const auto& [name, level] : {std::pair("a", 9.5), std::pair("b", 10.25)}) {
            const int id = chart.addSeries({name, name, 0, SeriesForm::Thin});
            chart.append(id, std::vector<double>{0, 10}, std::vector<double>{level, level});
        }
        chart.replotNow();
        chart.setCrosshair(10.0);
        QCOMPARE(chart.crosshairTable(), (QStringList{"b 10.25 – –", "a 9.50 – –"}));
    }

    void values_that_are_only_noted_stand_in_the_table_and_nowhere_else() {
        LineChart chart;
        chart.resize(600, 300);
        const int line = chart.addSeries({"loss", "a", 0, SeriesForm::Thin});
        const int noted = chart.addSeries({"validation", "a", 0, SeriesForm::Noted});
        chart.append(line, std::vector<double>{0, 10}, std::vector<double>{1, 1});
        chart.append(noted, std::vector<double>{0, 10}, std::vector<double>{50, 50});
        chart.replotNow();
        QVERIFY(chart.yRange().high < 10.0);
        chart.setCrosshair(10.0);
        QVERIFY2(chart.crosshairTable().front().contains("50"),
                 qPrintable(chart.crosshairTable().front()));
    }

    void a_clock_axis_names_times_of_the_day() {
        const QDateTime when = QDateTime(QDate(2026, 3, 4), QTime(14, 5, 30));
        const double seconds = static_cast<double>(when.toSecsSinceEpoch());
        QCOMPARE(clockLabel(seconds, 1), QString("14:05:30"));
        QCOMPARE(clockLabel(seconds, 300), QString("14:05"));
        QCOMPARE(clockLabel(seconds, 86400), when.toString("d MMM"));
    }

    void a_chart_goes_into_a_document_and_its_data_onto_the_clipboard() {
        QTemporaryDir dir;
        LineChart chart;
        chart.resize(480, 240);
        const int id = chart.addSeries({"loss", "run", 0, SeriesForm::Plain});
        chart.append(id, std::vector<double>{0, 1, 2}, std::vector<double>{1, 0.5, 0.25});
        QVERIFY(chart.exportPdf(dir.filePath("chart.pdf")));
        QFile file(dir.filePath("chart.pdf"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QVERIFY(file.read(5) == "%PDF-");
        QVERIFY(!chart.exportPdf("/no/such/folder/chart.pdf"));
        chart.copyData();
        QCOMPARE(QGuiApplication::clipboard()->text().split('\n').value(2),
                 QString("run loss\t2\t0.25"));
    }

private:
    std::unique_ptr<ThemeController> controller_;
};

WEFT_TEST(TrainWidgetsTest)
#include "train_widgets_test.moc"
