// SPDX-License-Identifier: GPL-3.0-or-later
// Chooses the theme and applies it to the running application: style, palette, font. Create one
// after QApplication, keep it for the life of the program. GUI thread only.
#pragma once

#include "widgets/look/system_theme.h"
#include "widgets/look/theme.h"

#include <QObject>

namespace weft::widgets {

class ThemeController : public QObject {
    Q_OBJECT
public:
    enum class Mode { System, Light, Dark };

    /// Installs the style and applies Mode::System.
    explicit ThemeController(QObject* parent = nullptr);

    Mode mode() const { return mode_; }
    void setMode(Mode mode);
    /// Text size, kSmallestText to kLargestText of the scale in Theme.
    void setFontScale(double scale);
    double fontScale() const { return font_scale_; }
    /// Which colours runs and devices have.
    void setSeries(SeriesPalette palette);
    /// No movement at all (spinners stand still, toasts appear at once).
    void setReducedMotion(bool reduced);
    static bool reducedMotion();

signals:
    /// After the new theme has become Theme::current() and the application's palette.
    void changed();

private:
    void apply();

    Mode mode_ = Mode::System;
    double font_scale_ = 1.0;
    SeriesPalette series_ = SeriesPalette::Tuned;
    SystemTheme system_;
};

} // namespace weft::widgets
