// SPDX-License-Identifier: GPL-3.0-or-later
// The curve with points to drag, bars that live for a while, figures that follow from others.
#include "tests/support/weft_test.h"
#include "tests/widgets/writing.h"
#include "widgets/controls/figure_strip.h"
#include "widgets/curves/curve_editor.h"
#include "widgets/look/theme_controller.h"
#include "widgets/views/lifeline_chart.h"

#include <QScopeGuard>
#include <QVBoxLayout>

#include <cmath>

namespace {

using namespace weft::widgets;

const std::vector<CurveHandle> kHandles = {{0, 0.0, false, true, "start", "start"},
                                           {200, 0.001, true, true, "peak", "peak"},
                                           {1000, 0.0, false, true, "end", "end"}};

void fill(CurveEditor& editor) {
    editor.resize(500, 300);
    editor.setCurve({{0, 200, 1000}, {0.0, 0.001, 0.0}, {}}, kHandles);
    editor.show();
}

struct Move {
    int handle;
    double x, y;
};

void record(CurveEditor& editor, std::vector<Move>& out) {
    QObject::connect(&editor, &CurveEditor::handleMoved, &editor,
                     [&out](int handle, double x, double y) {
                         out.push_back({handle, x, y});
                     });
}

} // namespace

class TrainingWidgetsTest : public QObject {
    Q_OBJECT

private slots:
    void init() { QTest::failOnWarning(QRegularExpression(".*")); }

    void round_ticks_are_round_and_cover_the_range() {
        QCOMPARE(roundTicks(0, 5000, 5), (std::vector<double>{0, 1000, 2000, 3000, 4000, 5000}));
        QCOMPARE(roundTicks(0, 1, 4), (std::vector<double>{0, 0.25, 0.5, 0.75, 1.0}));
        QVERIFY(roundTicks(1, 1, 4).empty());
        QVERIFY(roundTicks(0, 3e-4, 3).size() <= 5);
    }

    // Of a run that is longer, or beside the words of a handle.
    void the_name_of_the_other_curve_is_read_in_full() {
        for (const double end : {1000.0, 2000.0, 5000.0}) {
            for (const double height : {0.0002, 0.0007, 0.00085, 0.001}) {
                CurveEditor editor;
                fill(editor);
                CurveLine other;
                for (int i = 0; i <= 100; ++i) {
                    other.x.push_back(end * i / 100);
                    other.y.push_back(height);
                }
                other.label = "another run";
                editor.setOther(other);
                weft::test::Writing writing(editor.size());
                editor.renderTo(&writing, editor.size());
                const auto place = [&](const QString& wanted) {
                    for (const auto& [text, rect] : writing.texts) {
                        if (text == wanted) {
                            return rect;
                        }
                    }
                    return QRectF();
                };
                QVERIFY(QRectF(editor.rect()).contains(place("another run")));
                QVERIFY(!place("peak").isEmpty());
                QVERIFY(!place("another run").intersects(place("peak").adjusted(-10, -5, 10, 5)));
            }
        }
    }

    void the_words_of_a_handle_stand_clear_of_the_curve_data() {
        QTest::addColumn<double>("scale");
        QTest::addColumn<int>("width");
        QTest::addColumn<int>("height"); // 0: as low as it becomes
        QTest::newRow("high") << 1.0 << 600 << 340;
        QTest::newRow("low") << 1.0 << 600 << 0;
        QTest::newRow("low and narrow") << 1.0 << 400 << 0;
        QTest::newRow("in large text") << 1.5 << 430 << 0;
    }

    void the_words_of_a_handle_stand_clear_of_the_curve() {
        QFETCH(double, scale);
        QFETCH(int, width);
        QFETCH(int, height);
        ThemeController theme;
        theme.setFontScale(scale);
        const auto restore = qScopeGuard([&theme] { theme.setFontScale(1.0); });
        CurveEditor editor;
        editor.resize(width, height > 0 ? height : editor.minimumSizeHint().height());
        CurveLine cosine; // a rise, then half a cosine down
        for (int i = 0; i <= 500; ++i) {
            const double x = 10.0 * i;
            cosine.x.push_back(x);
            cosine.y.push_back(x < 100 ? 3e-5 * x
                                       : 1.5e-3 * (1 + std::cos(M_PI * (x - 100) / 4900)));
        }
        editor.setCurve(cosine, {{100, 3e-3, true, true, "peak", "warm-up ends: step 100, 3e-3"}});
        weft::test::Writing writing(editor.size());
        editor.renderTo(&writing, editor.size());
        QRectF words;
        for (const auto& [text, rect] : writing.texts) {
            words = text == editor.handles()[0].text ? rect.adjusted(-10, -5, 10, 5) : words;
        }
        QVERIFY(QRectF(editor.rect()).contains(words));
        QVERIFY(!words.contains(editor.toView(100, 3e-3, editor.size())));
        for (std::size_t i = 0; i < cosine.x.size(); ++i) {
            QVERIFY(!words.contains(editor.toView(cosine.x[i], cosine.y[i], editor.size())));
        }
    }

    void a_handle_follows_the_mouse_within_its_freedom() {
        CurveEditor editor;
        fill(editor);
        std::vector<Move> moves;
        record(editor, moves);
        const QPoint from = editor.toView(200, 0.001, editor.size()).toPoint();
        const QPoint to = editor.toView(600, 0.0005, editor.size()).toPoint();
        QTest::mousePress(&editor, Qt::LeftButton, {}, from);
        QTest::mouseMove(&editor, to);
        QTest::mouseRelease(&editor, Qt::LeftButton, {}, to);
        QVERIFY(!moves.empty());
        QCOMPARE(moves.back().handle, 1);
        // A pixel is about 2.5 in x and 4e-6 in y.
        QVERIFY(std::abs(moves.back().x - 600) < 5);
        QVERIFY(std::abs(moves.back().y - 0.0005) < 1e-5);
        moves.clear();
        const QPoint end = editor.toView(1000, 0.0, editor.size()).toPoint();
        QTest::mousePress(&editor, Qt::LeftButton, {}, end);
        QTest::mouseMove(&editor, to);
        QTest::mouseRelease(&editor, Qt::LeftButton, {}, to);
        QCOMPARE(moves.back().x, 1000.0); // the end moves up and down only
    }

    void a_handle_that_goes_while_it_is_in_hand_is_let_go() {
        CurveEditor editor;
        fill(editor);
        std::vector<Move> moves;
        record(editor, moves);
        const QPoint end = editor.item(2).rect.center().toPoint();
        QTest::mousePress(&editor, Qt::LeftButton, Qt::NoModifier, end);
        editor.setCurve({{0, 1000}, {0.001, 0.001}, {}}, {{0, 0.001, false, true, "all", "all"}});
        QTest::mouseMove(&editor, end - QPoint(0, 40));
        (void)editor.grab(); // paints the words of the handle in hand
        QTest::mouseRelease(&editor, Qt::LeftButton, Qt::NoModifier, end - QPoint(0, 40));
        QVERIFY(moves.empty());
    }

    void a_handle_moves_by_keys_and_only_as_it_may() {
        CurveEditor editor;
        fill(editor);
        std::vector<Move> moves;
        record(editor, moves);
        editor.setFocus(Qt::TabFocusReason);
        QTest::keyClick(&editor, Qt::Key_Home);
        QTest::keyClick(&editor, Qt::Key_Right, Qt::ShiftModifier);
        QVERIFY(moves.empty()); // the start does not move sideways
        QTest::keyClick(&editor, Qt::Key_Right);
        QTest::keyClick(&editor, Qt::Key_Left, Qt::ShiftModifier);
        QCOMPARE(moves.back().x, 190.0); // a hundredth of 1000
        QTest::keyClick(&editor, Qt::Key_Right, Qt::ShiftModifier | Qt::ControlModifier);
        QCOMPARE(moves.back().x, 201.0);
    }

    void a_logarithmic_axis_has_a_place_for_zero() {
        CurveEditor editor;
        fill(editor);
        // The axis begins below the smallest value above zero.
        editor.setCurve({{0, 20, 200, 1000}, {0.0, 1e-4, 1e-3, 0.0}, {}}, kHandles);
        editor.setLogarithmic(true);
        const QPointF zero = editor.toView(0, 0.0, editor.size());
        QVERIFY(std::isfinite(zero.y()) && zero.y() <= editor.height());
        const double tenth = editor.toView(0, 1e-4, editor.size()).y();
        const double whole = editor.toView(0, 1e-3, editor.size()).y();
        QVERIFY(whole < tenth && tenth < zero.y());
        QImage image(editor.size(), QImage::Format_ARGB32_Premultiplied);
        editor.renderTo(&image, editor.size());
    }

    void small_values_are_told_apart_on_the_axis_data() {
        QTest::addColumn<double>("peak");
        QTest::addColumn<bool>("logarithmic");
        for (const double peak : {2.0, 0.02, 3e-3, 6e-4, 1e-5}) {
            for (const bool logarithmic : {false, true}) {
                QTest::addRow("%g %s", peak, logarithmic ? "log" : "linear") << peak << logarithmic;
            }
        }
    }

    void small_values_are_told_apart_on_the_axis() {
        QFETCH(double, peak);
        QFETCH(bool, logarithmic);
        CurveEditor editor;
        fill(editor);
        editor.setCurve({{0, 20, 200, 1000}, {0.0, peak / 90, peak, 0.0}, {}}, kHandles);
        editor.setLogarithmic(logarithmic);
        const auto rows = editor.rows(editor.size());
        QVERIFY(rows.size() >= 2);
        for (const CurveEditor::Row& row : rows) {
            bool number = false;
            const double said = row.label.toDouble(&number);
            QVERIFY2(number, qPrintable(row.label));
            QVERIFY2(std::abs(said - row.y) <= 1e-3 * row.y, qPrintable(row.label));
        }
    }

    void the_moment_of_the_bars_follows_the_mouse() {
        LifelineChart chart;
        chart.resize(600, 300);
        chart.setLifelines(
            {{100, 300, false, false, "100", "a"}, {200, 1000, true, true, "200", "b"}}, 1000);
        chart.show();
        double moment = -1;
        connect(&chart, &LifelineChart::momentChanged, &chart, [&](double at) { moment = at; });
        const QRectF second = chart.item(1).rect;
        QTest::mouseMove(&chart, QPoint(static_cast<int>(second.left()) + 1, 280));
        // A pixel is two steps.
        QVERIFY2(std::abs(moment - 200) <= 4, qPrintable(QString::number(moment)));
        QTest::mouseMove(&chart, QPoint(599, 280));
        QCOMPARE(moment, 1000.0);
    }

    // Of saves of which three are kept: each bar reaches over those that begin next.
    void no_bar_goes_through_the_label_of_another() {
        for (const int height : {130, 150, 200, 400}) {
            LifelineChart chart;
            chart.resize(600, height);
            std::vector<Lifeline> lines;
            for (int i = 1; i <= 14; ++i) {
                const bool stays = i > 10;
                lines.push_back({i * 250.0,
                                 stays ? 4000.0 : i * 250.0 + 750,
                                 stays,
                                 i == 11,
                                 QString("at %1").arg(i * 250),
                                 {}});
            }
            chart.setLifelines(lines, 4000);
            weft::test::Writing writing(chart.size());
            chart.renderTo(&writing, chart.size());
            int labels = 0;
            for (const auto& [text, rect] : writing.texts) {
                if (text.startsWith("at ")) {
                    ++labels;
                    for (int i = 0; i < chart.itemCount(); ++i) {
                        QVERIFY2(!chart.item(i).rect.intersects(rect.adjusted(0, -1, 0, 1)),
                                 qPrintable(text));
                    }
                }
            }
            QVERIFY(labels >= 4);
        }
    }

    void many_bars_share_rows_and_none_covers_another() {
        LifelineChart chart;
        chart.resize(600, 300);
        std::vector<Lifeline> lines;
        for (int i = 0; i < 200; ++i) {
            lines.push_back({i * 10.0, i * 10.0 + 40, false, false, {}, {}});
        }
        chart.setLifelines(lines, 4000);
        for (int i = 0; i < 200; ++i) {
            const QRectF own = chart.item(i).rect;
            for (int k = i + 1; k < 200; ++k) {
                const QRectF other = chart.item(k).rect;
                // Bars are drawn some pixels long at least, and may touch what comes after them.
                const QRectF drawn = own.intersected(other);
                QVERIFY(drawn.isEmpty() || drawn.width() < 6.5);
            }
            QVERIFY(own.bottom() <= chart.height());
        }
    }

    void what_is_said_of_the_moment_covers_no_bar_data() {
        QTest::addColumn<int>("bars");
        QTest::addColumn<QSize>("size");
        for (const int bars : {12, 28, 200}) {
            for (const QSize size : {QSize(640, 320), QSize(320, 240)}) {
                QTest::addRow("%d %d", bars, size.width()) << bars << size;
            }
        }
    }

    void what_is_said_of_the_moment_covers_no_bar() {
        QFETCH(int, bars);
        QFETCH(QSize, size);
        LifelineChart chart;
        chart.resize(size);
        std::vector<Lifeline> lines;
        for (int i = 0; i < bars; ++i) {
            const double from = 1000.0 * (i + 1) / bars;
            const bool stays = i % 3 == 0;
            lines.push_back({from,
                             stays ? 1000.0 : std::min(1000.0, from + 200),
                             stays,
                             false,
                             QString::number(from),
                             {}});
        }
        chart.setLifelines(lines, 1000);
        chart.show();
        chart.setSummary({"at step 600 exist 8, 83.2 MB",
                          "2,000  4,000  6,000  8,000  10,000  12,000  14,000  16,000",
                          "assumes that validation/loss improves up to step 2,062"});
        const QRectF first = chart.summaryRect();
        QVERIFY(QRectF(chart.rect()).contains(first));
        const QRectF bar = chart.item(0).rect;
        for (int i = 0; i < bars; ++i) {
            QVERIFY2(!chart.item(i).rect.intersects(first), qPrintable(QString::number(i)));
        }
        // Less to say at another moment moves nothing.
        chart.setSummary({"at step 1 exist 0, 0 B", "nothing yet"});
        QCOMPARE(chart.summaryRect(), first);
        QCOMPARE(chart.item(0).rect, bar);
    }

    void figures_take_further_lines_where_there_is_no_room() {
        FigureStrip strip;
        std::vector<Figure> figures;
        for (int i = 0; i < 6; ++i) {
            figures.push_back({"1,234", "updates an epoch", {}});
        }
        strip.setFigures(figures);
        const int line = strip.heightForWidth(2000);
        QCOMPARE(strip.heightForWidth(strip.sizeHint().width()), line);
        QCOMPARE(strip.heightForWidth(strip.sizeHint().width() - 10), 2 * line);
        QVERIFY(strip.accessibleDescription().contains("1,234 updates an epoch"));
        QWidget holder;
        holder.setMinimumSize(1, 1);
        auto* column = new QVBoxLayout(&holder);
        column->setContentsMargins(0, 0, 0, 0);
        auto* inside = new FigureStrip;
        inside->setFigures(figures);
        column->addWidget(inside);
        column->addStretch(1);
        holder.resize(strip.sizeHint().width() - 10, 10 * line);
        holder.show();
        QTRY_COMPARE(inside->height(), 2 * line); // and it gets them
    }
};

WEFT_TEST(TrainingWidgetsTest)
#include "training_widgets_test.moc"
