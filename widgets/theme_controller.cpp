// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/theme_controller.h"

#include "widgets/style.h"

#include <QApplication>
#include <QToolTip>

namespace weft::widgets {
namespace {

bool reduced_motion = false;

} // namespace

ThemeController::ThemeController(QObject* parent)
    : QObject(parent), system_palette_(QApplication::palette()) {
    QApplication::setStyle(new Style);
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

void ThemeController::setReducedMotion(bool reduced) { reduced_motion = reduced; }

bool ThemeController::reducedMotion() { return reduced_motion; }

// Qt 6.4 has no colour-scheme hint; the platform's own palette tells by its lightness.
bool ThemeController::systemIsDark() const {
    return system_palette_.color(QPalette::Window).lightness() <
           system_palette_.color(QPalette::WindowText).lightness();
}

void ThemeController::apply() {
    const bool dark = mode_ == Mode::Dark || (mode_ == Mode::System && systemIsDark());
    const Theme theme = (dark ? Theme::dark() : Theme::light()).withFontScale(font_scale_);
    Theme::setCurrent(theme);
    QApplication::setFont(theme.font(TextStyle::Body));
    QApplication::setPalette(theme.palette());
    QToolTip::setPalette(theme.palette());
    QToolTip::setFont(theme.font(TextStyle::Caption));
    emit changed();
}

} // namespace weft::widgets
