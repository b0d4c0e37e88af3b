// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/look/theme_controller.h"

#include "widgets/look/style.h"

#include <QApplication>
#include <QToolTip>

namespace weft::widgets {
namespace {

bool reduced_motion = false;

} // namespace

ThemeController::ThemeController(QObject* parent)
    : QObject(parent), system_(QDBusConnection::sessionBus()) {
    QApplication::setStyle(new Style);
    connect(&system_, &SystemTheme::changed, this, [this] {
        if (mode_ == Mode::System) {
            apply();
        }
    });
    apply();
}

void ThemeController::setMode(Mode mode) {
    if (mode != mode_) {
        mode_ = mode;
        apply();
    }
}

void ThemeController::setFontScale(double scale) {
    if (!qFuzzyCompare(scale, font_scale_)) {
        font_scale_ = scale;
        apply();
    }
}

void ThemeController::setSeries(SeriesPalette palette) {
    if (palette != series_) {
        series_ = palette;
        apply();
    }
}

void ThemeController::setReducedMotion(bool reduced) {
    reduced_motion = reduced;
}

bool ThemeController::reducedMotion() {
    return reduced_motion;
}

void ThemeController::apply() {
    const bool dark = mode_ == Mode::Dark || (mode_ == Mode::System && system_.isDark());
    const Theme theme =
        (dark ? Theme::dark() : Theme::light()).withSeries(series_).withFontScale(font_scale_);
    const bool resized = theme.fontScale() != Theme::current().fontScale();
    Theme::setCurrent(theme);
    QApplication::setFont(theme.font(TextStyle::Body));
    QApplication::setPalette(theme.palette());
    QToolTip::setPalette(theme.palette());
    QToolTip::setFont(theme.font(TextStyle::Caption));
    if (resized) {
        renewFonts();
    }
    emit changed();
}

} // namespace weft::widgets
