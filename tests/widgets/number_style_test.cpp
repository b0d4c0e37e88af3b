// SPDX-License-Identifier: GPL-3.0-or-later
// How the numbers of a column are written.
#include "tests/support/weft_test.h"
#include "widgets/look/number_style.h"

#include <cmath>

using weft::widgets::NumberStyle;

class NumberStyleTest : public QObject {
    Q_OBJECT

private slots:
    void a_column_has_as_many_decimals_as_its_middle_value_needs_data() {
        QTest::addColumn<std::vector<double>>("values");
        QTest::addColumn<QStringList>("written");
        const auto row = [](const char* name, std::vector<double> values, QStringList written) {
            QTest::newRow(name) << std::move(values) << written;
        };
        row("losses", {2.543, 1.3691, 1}, {"2.543", "1.369", "1.000"});
        row("shares", {0.9712, 1, 0.5}, {"0.971", "1.000", "0.500"});
        row("across ten", {12.4, 9.87, 31.25}, {"12.40", "9.87", "31.25"});
        row("prices", {125014.6, 982, 15230}, {"125,015", "982", "15,230"});
        row("small", {0.0123, 0.2, 0.00456}, {"0.0123", "0.2000", "0.0046"});
        row("very small", {1.13e-5, 2e-4, 0}, {"1.13e-5", "2.00e-4", "0"});
        row("one that went away", {2.5, 2.25, 3e9}, {"2.500", "2.250", "3.00e9"});
        row("one that is nearly nothing", {2.5, 2.25, 1e-6}, {"2.500", "2.250", "1.00e-6"});
        row("one of few digits", {0.561, 0.00413, 1.294, 0.004},
            {"0.561", "0.00413", "1.294", "0.004"});
        row("a millionth among thousandths", {0.00413, 0.0021, 2.55e-5},
            {"0.00413", "0.00210", "2.55e-5"});
        row("signs", {-1.5, 0.25, 1.25}, {"-1.500", "0.250", "1.250"});
        row("none that is finite", {std::nan(""), INFINITY}, {"NaN", "∞"});
    }

    void a_column_has_as_many_decimals_as_its_middle_value_needs() {
        QFETCH(std::vector<double>, values);
        QFETCH(QStringList, written);
        const NumberStyle style(values);
        QStringList texts;
        for (const double value : values) {
            texts << style.text(value);
        }
        QCOMPARE(texts, written);
    }

    void whole_numbers_may_be_bare() {
        const std::vector<double> ages{39, 50, 1200};
        QCOMPARE(NumberStyle(ages, NumberStyle::Wholes::Bare).text(39), QString("39"));
        QCOMPARE(NumberStyle({1890, 2023}, NumberStyle::Wholes::Bare).text(2023), QString("2023"));
        QCOMPARE(NumberStyle({890, 12023}, NumberStyle::Wholes::Bare).text(12023),
                 QString("12,023"));
        QCOMPARE(NumberStyle(ages).text(39), QString("39.00"));
        QCOMPARE(NumberStyle({39, 50.5}, NumberStyle::Wholes::Bare).text(39), QString("39.00"));
    }
};

WEFT_TEST(NumberStyleTest)
#include "number_style_test.moc"
