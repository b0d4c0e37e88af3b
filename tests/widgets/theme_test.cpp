// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/weft_test.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/painting.h"
#include "widgets/look/style.h"
#include "widgets/look/theme_controller.h"

#include <QApplication>
#include <QImage>
#include <QLabel>
#include <QLineEdit>

using namespace weft::widgets;

namespace {

struct Pair {
    Role front;
    Role back;
};

// The WCAG 2.1 formula, written from the standard and not from the library.
double wcagContrast(const QColor& a, const QColor& b) {
    const auto luminance = [](const QColor& color) {
        double sum = 0.0;
        const double weights[] = {0.2126, 0.7152, 0.0722};
        const int channels[] = {color.red(), color.green(), color.blue()};
        for (int i = 0; i < 3; ++i) {
            const double c = channels[i] / 255.0;
            sum += weights[i] * (c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
        }
        return sum;
    };
    const double high = std::max(luminance(a), luminance(b));
    const double low = std::min(luminance(a), luminance(b));
    return (high + 0.05) / (low + 0.05);
}

bool hasInk(const QImage& image) {
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) {
            if (qAlpha(image.pixel(x, y)) > 128) {
                return true;
            }
        }
    }
    return false;
}

} // namespace

class ThemeTest : public QObject {
    Q_OBJECT
private slots:
    void every_text_follows_the_text_size() {
        ThemeController controller;
        TextLabel caption(QStringLiteral("a"), TextStyle::Caption);
        TextLabel title(QStringLiteral("a"), TextStyle::Title);
        SegmentedControl segments({QStringLiteral("Linear"), QStringLiteral("Log")});
        segments.setCompact(true);
        QLineEdit mono;
        setTextStyle(&mono, TextStyle::Mono);
        const int width = segments.sizeHint().width();
        controller.setFontScale(1.5);
        QCOMPARE(caption.font().pointSizeF(), 8.5 * 1.5);
        QCOMPARE(title.font().pointSizeF(), 15 * 1.5);
        QCOMPARE(mono.font().pointSizeF(), 9 * 1.5);
        QVERIFY(segments.sizeHint().width() > width);
        controller.setFontScale(1.0);
        QCOMPARE(caption.font().pointSizeF(), 8.5);
        QCOMPARE(segments.sizeHint().width(), width);
    }

    void text_reaches_4_5_to_1_on_all_it_stands_on() {
        const Role backs[] = {Role::Background, Role::Surface, Role::Inset};
        for (const Theme& theme : {Theme::light(), Theme::dark()}) {
            for (const Role front : {Role::Text, Role::Muted, Role::Accent, Role::Error,
                                     Role::Warning, Role::Success}) {
                QList<Role> all(std::begin(backs), std::end(backs));
                all.append(tintOf(front));
                for (const Role back : all) {
                    const double ratio = wcagContrast(theme.color(front), theme.color(back));
                    QVERIFY2(ratio >= 4.5, qPrintable(QStringLiteral("role %1 on %2, %3: %4")
                                                          .arg(int(front))
                                                          .arg(int(back))
                                                          .arg(theme.isDark())
                                                          .arg(ratio)));
                }
            }
            QVERIFY(wcagContrast(theme.color(Role::OnAccent), theme.color(Role::Accent)) >= 4.5);
            for (const Role front : {Role::Text, Role::Muted}) {
                // Selected rows and the banner.
                QVERIFY(wcagContrast(theme.color(front), theme.color(Role::AccentTint)) >= 4.5);
            }
        }
    }

    void graphics_reach_3_to_1_on_the_surface() {
        for (const Theme& theme : {Theme::light(), Theme::dark()}) {
            const QColor surface = theme.color(Role::Surface);
            for (int slot = 0; slot < 8; ++slot) {
                QVERIFY(wcagContrast(theme.series(slot), surface) >= 3.0);
            }
            for (int category = 0; category < kMemoryCategoryCount; ++category) {
                QVERIFY(wcagContrast(theme.memory(static_cast<MemoryCategory>(category)),
                                     surface) >= 3.0);
            }
            QVERIFY(wcagContrast(theme.color(Role::Faint), surface) >= 3.0);
        }
    }

    // Most charts show one run: its line is seen as well as text.
    void the_line_of_the_first_run_reaches_4_5_to_1() {
        for (const Theme& theme : {Theme::light(), Theme::dark()}) {
            const double ratio = wcagContrast(theme.series(0), theme.color(Role::Surface));
            QVERIFY2(ratio >= 4.5, qPrintable(QString::number(ratio)));
        }
    }

    void contrast_ratio_follows_the_standard() {
        QVERIFY(std::abs(contrastRatio(Qt::black, Qt::white) - 21.0) < 1e-9);
        QVERIFY(std::abs(contrastRatio(Qt::white, Qt::white) - 1.0) < 1e-9);
        const QColor gray(0x77, 0x77, 0x77); // 4.48:1, the well-known near miss
        QVERIFY(std::abs(contrastRatio(gray, Qt::white) - 4.48) < 0.005);
    }

    void every_icon_draws_something_in_both_themes_and_every_state() {
        const QStringList names = iconNames();
        QVERIFY(names.size() >= 40);
        for (const auto mode : {ThemeController::Mode::Light, ThemeController::Mode::Dark}) {
            ThemeController controller;
            controller.setMode(mode);
            for (const QString& name : names) {
                const QIcon made = icon(name);
                for (const auto state : {QIcon::Normal, QIcon::Disabled, QIcon::Selected}) {
                    const QImage image = made.pixmap(QSize(16, 16), 2.0, state).toImage();
                    QCOMPARE(image.size(), QSize(32, 32));
                    QVERIFY2(hasInk(image), qPrintable(name));
                }
            }
        }
    }

    void an_icon_made_once_changes_colour_with_the_theme() {
        ThemeController controller;
        controller.setMode(ThemeController::Mode::Light);
        const QIcon made = icon(QStringLiteral("bookmark-filled"), Role::Accent);
        const auto middle = [&made] {
            return QColor(made.pixmap(QSize(16, 16), 1.0).toImage().pixel(8, 6));
        };
        QCOMPARE(middle(), Theme::light().color(Role::Accent));
        controller.setMode(ThemeController::Mode::Dark);
        QCOMPARE(middle(), Theme::dark().color(Role::Accent));
    }

    void every_role_of_an_unknown_icon_is_null() {
        QTest::ignoreMessage(QtWarningMsg, "There is no icon named \"no-such-icon\".");
        QVERIFY(icon(QStringLiteral("no-such-icon")).isNull());
    }

    void switching_the_mode_changes_palette_and_tells() {
        ThemeController controller;
        controller.setMode(ThemeController::Mode::Light);
        QSignalSpy spy(&controller, &ThemeController::changed);
        controller.setMode(ThemeController::Mode::Dark);
        QCOMPARE(spy.count(), 1);
        QCOMPARE(QApplication::palette().color(QPalette::Window),
                 Theme::dark().color(Role::Background));
        QVERIFY(Theme::current().isDark());
        controller.setFontScale(1.5);
        QCOMPARE(QApplication::font().pointSizeF(), 15.0);
        controller.setFontScale(1.0);
        controller.setMode(ThemeController::Mode::Light);
    }

    void durations_and_sizes_read_as_people_write_them() {
        QCOMPARE(formatDuration(38.2), QStringLiteral("38 s"));
        QCOMPARE(formatDuration(229), QStringLiteral("3 m 49 s"));
        QCOMPARE(formatDuration(7500), QStringLiteral("2 h 05 m"));
        QCOMPARE(formatCount(1234567), QStringLiteral("1,234,567"));
        QCOMPARE(formatCount(-1200), QStringLiteral("-1,200"));
        QCOMPARE(formatFileSize(130200000), QStringLiteral("130.2 MB"));
        QCOMPARE(formatMemory(84 * 1024 * 1024), QStringLiteral("84.0 MiB"));
        QCOMPARE(formatNumber(0.4119), QStringLiteral("0.412"));
        QCOMPARE(formatNumber(0.000698), QStringLiteral("6.98e-4"));
        QCOMPARE(formatNumber(0.0005), QStringLiteral("5e-4"));
        QCOMPARE(formatNumber(NAN), QStringLiteral("NaN"));
    }
};

WEFT_TEST(ThemeTest)
#include "theme_test.moc"
