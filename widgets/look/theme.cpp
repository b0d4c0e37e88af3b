// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/look/theme.h"

#include <QCoreApplication>
#include <QFontDatabase>

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

// Order: Role.
constexpr std::array<QRgb, kRoleCount> kLightRoles = {
    0xFFF6F7F9, 0xFFFFFFFF, 0xFFF0F2F5, 0xFFE9ECF0, 0xFFE2E6EB, 0xFFBCC4CF,
    0xFF1B1D22, 0xFF5A6270, 0xFF8A93A0, 0xFF1F5FBF, 0xFFE6EEFA, 0xFFFFFFFF,
    0xFFB3261E, 0xFFFBEAE8, 0xFF8A5A00, 0xFFFBF3E0, 0xFF18784A, 0xFFEAF6EF,
};
constexpr std::array<QRgb, kRoleCount> kDarkRoles = {
    0xFF17191D, 0xFF1F2126, 0xFF191B1F, 0xFF2A2D33, 0xFF2E3238, 0xFF4A505B,
    0xFFE7E9EE, 0xFFA3ABB8, 0xFF737B89, 0xFF7FB2FF, 0xFF233149, 0xFF0E1B30,
    0xFFFF8A80, 0xFF3A2424, 0xFFF2B84B, 0xFF352C1B, 0xFF5BD69A, 0xFF1C3229,
};
constexpr std::array<QRgb, 8> kLightSeries = {0xFF206CAD, 0xFFD12B03, 0xFF28948B, 0xFF831E4B,
                                              0xFFCA7F2E, 0xFF2298EC, 0xFF503A9B, 0xFF756B51};
constexpr std::array<QRgb, 8> kDarkSeries = {0xFF6084FF, 0xFFFF6700, 0xFF00AF72, 0xFFFF84BC,
                                             0xFFFFBE49, 0xFF37C2FF, 0xFF855B94, 0xFF9F5921};
// Okabe and Ito, "Color Universal Design" (2008); their black is the theme's text colour.
constexpr std::array<QRgb, 8> kOkabeIto = {0xFF0072B2, 0xFFD55E00, 0xFF009E73, 0xFFCC79A7,
                                           0xFFE69F00, 0xFF56B4E9, 0xFFF0E442, 0xFF000000};
// Order: MemoryCategory.
constexpr std::array<QRgb, kMemoryCategoryCount> kLightMemory = {
    0xFF43378F, 0xFF7067C0, 0xFF9188D2, 0xFF43378F, 0xFF43378F, 0xFF7C8694,
    0xFF7C8694, 0xFF8A93A0, 0xFFBE7C1C, 0xFF8A6224, 0xFF5F7F2E};
constexpr std::array<QRgb, kMemoryCategoryCount> kDarkMemory = {
    0xFF6E62C9, 0xFF8B82DE, 0xFFABA4EB, 0xFF6E62C9, 0xFF6E62C9, 0xFF8E97A5,
    0xFF8E97A5, 0xFF737B89, 0xFFC68E3D, 0xFF8F6A34, 0xFF9DBB5C};

template <std::size_t N>
std::array<QColor, N> colors(const std::array<QRgb, N>& values) {
    std::array<QColor, N> result;
    std::transform(values.begin(), values.end(), result.begin(),
                   [](QRgb rgb) { return QColor::fromRgb(rgb); });
    return result;
}

Theme& mutableCurrent() {
    static Theme theme = Theme::light();
    return theme;
}

QString familyOr(const QStringList& wanted, const QString& fallback) {
    for (const QString& family : wanted) {
        if (QFontDatabase::hasFamily(family)) {
            return family;
        }
    }
    return fallback;
}

const QString& uiFamily() {
    static const QString family =
        familyOr({QStringLiteral("Inter"), QStringLiteral("Inter Variable")},
                 QFontDatabase::systemFont(QFontDatabase::GeneralFont).family());
    return family;
}

const QString& monoFamily() {
    static const QString family =
        familyOr({QStringLiteral("JetBrains Mono"), QStringLiteral("DejaVu Sans Mono")},
                 QFontDatabase::systemFont(QFontDatabase::FixedFont).family());
    return family;
}

double pointSize(TextStyle style) {
    switch (style) {
    case TextStyle::Caption:
    case TextStyle::CaptionStrong:
    case TextStyle::MonoSmall: return 8.5;
    case TextStyle::Mono: return 9.0;
    case TextStyle::Body:
    case TextStyle::Strong: return 10.0;
    case TextStyle::Heading: return 12.0;
    case TextStyle::Title: return 15.0;
    case TextStyle::Big: return 22.0;
    }
    return 10.0;
}

double luminance(const QColor& color) {
    const auto linear = [](double c) {
        return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) +
           0.0722 * linear(color.blueF());
}

void setRole(QPalette& palette, QPalette::ColorRole role, const QColor& normal,
             const QColor& disabled) {
    palette.setColor(QPalette::Active, role, normal);
    palette.setColor(QPalette::Inactive, role, normal);
    palette.setColor(QPalette::Disabled, role, disabled);
}

} // namespace

Theme Theme::light() {
    Theme theme;
    theme.roles_ = colors(kLightRoles);
    theme.series_ = colors(kLightSeries);
    theme.memory_ = colors(kLightMemory);
    return theme;
}

Theme Theme::dark() {
    Theme theme;
    theme.dark_ = true;
    theme.roles_ = colors(kDarkRoles);
    theme.series_ = colors(kDarkSeries);
    theme.memory_ = colors(kDarkMemory);
    return theme;
}

const Theme& Theme::current() {
    return mutableCurrent();
}

void Theme::setCurrent(const Theme& theme) {
    mutableCurrent() = theme;
}

Theme Theme::withFontScale(double scale) const {
    Theme theme = *this;
    theme.font_scale_ = std::clamp(scale, kSmallestText, kLargestText);
    return theme;
}

Theme Theme::withSeries(SeriesPalette palette) const {
    Theme theme = *this;
    if (palette == SeriesPalette::OkabeIto) {
        theme.series_ = colors(kOkabeIto);
        theme.series_.back() = color(Role::Text);
    }
    return theme;
}

QColor Theme::series(int slot) const {
    const int count = static_cast<int>(series_.size());
    return series_[static_cast<std::size_t>(((slot % count) + count) % count)];
}

QColor Theme::seriesRaw(int slot) const {
    return mixed(series(slot), color(Role::Surface), dark_ ? 0.55 : 0.34);
}

QColor Theme::memory(MemoryCategory category) const {
    return memory_[static_cast<std::size_t>(category)];
}

QFont Theme::font(TextStyle style) const {
    const bool mono = style == TextStyle::Mono || style == TextStyle::MonoSmall;
    QFont font(mono ? monoFamily() : uiFamily());
    font.setPointSizeF(pointSize(style) * font_scale_);
    const bool semibold = style == TextStyle::Strong || style == TextStyle::CaptionStrong ||
                          style == TextStyle::Heading || style == TextStyle::Title;
    font.setWeight(semibold ? QFont::DemiBold : QFont::Normal);
    if (mono) {
        font.setStyleHint(QFont::Monospace);
    }
    // Programming ligatures would turn 6x384 or -> into something that cannot be typed; Qt 6.4 has
    // no switch for single font features, but can leave out optional shaping of Latin text.
    font.setStyleStrategy(QFont::PreferNoShaping);
    return font;
}

QPalette Theme::palette() const {
    QPalette palette;
    const QColor faint = color(Role::Faint);
    const QColor text = color(Role::Text);
    const QColor surface = color(Role::Surface);
    const QColor background = color(Role::Background);
    setRole(palette, QPalette::Window, background, background);
    setRole(palette, QPalette::WindowText, text, faint);
    setRole(palette, QPalette::Base, surface, background);
    setRole(palette, QPalette::AlternateBase, color(Role::Inset), color(Role::Inset));
    setRole(palette, QPalette::Text, text, faint);
    setRole(palette, QPalette::Button, surface, surface);
    setRole(palette, QPalette::ButtonText, text, faint);
    setRole(palette, QPalette::BrightText, color(Role::Error), faint);
    setRole(palette, QPalette::Highlight, color(Role::AccentTint), color(Role::Inset));
    setRole(palette, QPalette::HighlightedText, text, faint);
    setRole(palette, QPalette::Link, color(Role::Accent), faint);
    setRole(palette, QPalette::LinkVisited, color(Role::Accent), faint);
    setRole(palette, QPalette::PlaceholderText, color(Role::Muted), faint);
    setRole(palette, QPalette::ToolTipBase, surface, surface);
    setRole(palette, QPalette::ToolTipText, text, text);
    setRole(palette, QPalette::Light, surface, surface);
    setRole(palette, QPalette::Midlight, color(Role::Hairline), color(Role::Hairline));
    setRole(palette, QPalette::Mid, color(Role::Border), color(Role::Hairline));
    setRole(palette, QPalette::Dark, color(Role::Border), color(Role::Hairline));
    setRole(palette, QPalette::Shadow, color(Role::Hairline), color(Role::Hairline));
    return palette;
}

Qt::PenStyle seriesDash(int index) {
    constexpr Qt::PenStyle kStyles[] = {Qt::SolidLine, Qt::DotLine, Qt::DashLine, Qt::DashDotLine};
    return kStyles[static_cast<unsigned>(index) % 4u];
}

Fill memoryFill(MemoryCategory category) {
    switch (category) {
    case MemoryCategory::State: return Fill::Dotted;
    case MemoryCategory::PackedWeights:
    case MemoryCategory::Staging:
    case MemoryCategory::Library: return Fill::Hatched;
    default: return Fill::Solid;
    }
}

QString memoryName(MemoryCategory category) {
    static const char* const kNames[] = {
        QT_TRANSLATE_NOOP("Memory", "Parameters"),   QT_TRANSLATE_NOOP("Memory", "Gradients"),
        QT_TRANSLATE_NOOP("Memory", "Optimizer"),    QT_TRANSLATE_NOOP("Memory", "State"),
        QT_TRANSLATE_NOOP("Memory", "Packed"),       QT_TRANSLATE_NOOP("Memory", "Batch"),
        QT_TRANSLATE_NOOP("Memory", "Staging"),      QT_TRANSLATE_NOOP("Memory", "Library"),
        QT_TRANSLATE_NOOP("Memory", "Activations"),  QT_TRANSLATE_NOOP("Memory", "Workspace"),
        QT_TRANSLATE_NOOP("Memory", "Communication")};
    return QCoreApplication::translate("Memory", kNames[static_cast<int>(category)]);
}

Role tintOf(Role role) {
    switch (role) {
    case Role::Accent: return Role::AccentTint;
    case Role::Error: return Role::ErrorTint;
    case Role::Warning: return Role::WarningTint;
    case Role::Success: return Role::SuccessTint;
    default: return Role::Inset;
    }
}

double contrastRatio(const QColor& a, const QColor& b) {
    const double first = luminance(a);
    const double second = luminance(b);
    return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

QColor mixed(const QColor& top, const QColor& bottom, double alpha) {
    const auto channel = [alpha](double t, double b) { return t * alpha + b * (1.0 - alpha); };
    return QColor::fromRgbF(static_cast<float>(channel(top.redF(), bottom.redF())),
                            static_cast<float>(channel(top.greenF(), bottom.greenF())),
                            static_cast<float>(channel(top.blueF(), bottom.blueF())));
}

} // namespace weft::widgets
