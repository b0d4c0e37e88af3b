// SPDX-License-Identifier: GPL-3.0-or-later
// The colour tokens, type scale and spacing of the studio, as one value. Widgets read
// Theme::current() while painting and never store colours, so that a theme change needs only a
// repaint. GUI thread only.
#pragma once

#include <QColor>
#include <QFont>
#include <QPalette>
#include <QString>

#include <array>

namespace weft::widgets {

/// What a colour is for. Text roles reach 4.5:1 on Background, Surface, Inset and their own tint;
/// Faint is for disabled text only; Hairline, Border and EmptyBar carry no meaning of their own.
enum class Role {
    Background,
    Surface,
    Inset,
    EmptyBar,
    Hairline,
    Border,
    Text,
    Muted,
    Faint,
    Accent,
    AccentTint,
    OnAccent,
    Error,
    ErrorTint,
    Warning,
    WarningTint,
    Success,
    SuccessTint,
};
inline constexpr int kRoleCount = 18;

/// Memory categories in the one order in which they are drawn everywhere.
enum class MemoryCategory {
    Parameters,
    Gradients,
    Optimizer,
    State,
    PackedWeights,
    Batch,
    Staging,
    Library,
    Activations,
    Workspace,
    Communication,
};
inline constexpr int kMemoryCategoryCount = 11;

/// Colours of runs and devices: tuned for a contrast of 3:1 on the surface, or Okabe and Ito's.
enum class SeriesPalette { Tuned, OkabeIto };

/// How a memory category is filled: some share a hue and differ by pattern.
enum class Fill { Solid, Hatched, Dotted };

/// Steps of the type scale. Caption 8.5 pt, Body 10, Strong 10 semibold, Heading 12 semibold,
/// Title 15 semibold, Big 22, Mono 9, MonoSmall 8.5.
enum class TextStyle { Caption, CaptionStrong, Body, Strong, Heading, Title, Big, Mono, MonoSmall };

/// How much larger or smaller than designed all text may be.
inline constexpr double kSmallestText = 0.8;
inline constexpr double kLargestText = 1.5;

/// Spacing in device-independent pixels, all on the 4-px grid.
namespace space {
inline constexpr int kTight = 4;
inline constexpr int kControl = 8;
inline constexpr int kGroup = 12;
inline constexpr int kMargin = 16;
inline constexpr int kSection = 24;
} // namespace space

/// Sizes in device-independent pixels.
namespace size {
inline constexpr int kControlHeight = 28;
inline constexpr int kCompactControlHeight = 24;
inline constexpr int kRowHeight = 26;
inline constexpr int kToolbarHeight = 48;
inline constexpr int kPanelHeaderHeight = 36;
inline constexpr int kPageHeaderHeight = 44;
inline constexpr int kStatusBarHeight = 28;
inline constexpr int kBannerHeight = 36;
inline constexpr int kRailWidth = 160;
inline constexpr int kRailFoldedWidth = 48;
inline constexpr int kIcon = 16;
inline constexpr double kRadius = 4.0;
inline constexpr double kCardRadius = 6.0;
inline constexpr double kPillRadius = 10.0;
} // namespace size

/// One complete look: light or dark at a font scale.
class Theme {
public:
    static Theme light();
    static Theme dark();
    /// The theme every widget paints with; light until a ThemeController says otherwise.
    static const Theme& current();

    bool isDark() const { return dark_; }
    double fontScale() const { return font_scale_; }
    /// The same colours with all text sizes multiplied by `scale`, kSmallestText to kLargestText.
    Theme withFontScale(double scale) const;

    Theme withSeries(SeriesPalette palette) const;

    QColor color(Role role) const { return roles_[static_cast<std::size_t>(role)]; }
    /// Categorical colour of a run or device; slots past 7 start over (pair them with dashes).
    QColor series(int slot) const;
    /// The same hue, faint enough for a raw line under its smoothed one.
    QColor seriesRaw(int slot) const;
    QColor memory(MemoryCategory category) const;
    QFont font(TextStyle style) const;
    QPalette palette() const;

private:
    friend class ThemeController;
    static void setCurrent(const Theme& theme);

    bool dark_ = false;
    double font_scale_ = 1.0;
    std::array<QColor, kRoleCount> roles_;
    std::array<QColor, 8> series_;
    std::array<QColor, kMemoryCategoryCount> memory_;
};

/// Dash pattern of the n-th run: solid, dotted, dashed, dash-dotted; distinct past eight colours.
Qt::PenStyle seriesDash(int index);
Fill memoryFill(MemoryCategory category);
/// Display name, e.g. "Packed weights".
QString memoryName(MemoryCategory category);
/// The tint that belongs to a text role (Error -> ErrorTint), or Inset where there is none.
Role tintOf(Role role);

/// WCAG 2 contrast ratio of two opaque colours, 1 to 21.
double contrastRatio(const QColor& a, const QColor& b);
/// `top` at `alpha` over an opaque `bottom`, as an opaque colour.
QColor mixed(const QColor& top, const QColor& bottom, double alpha);

} // namespace weft::widgets
