// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/mesh/device_palette.h"

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr int kSeries = 8;
constexpr int kCategorical = 16;
constexpr std::size_t kOwnColors = 4; // devices that keep their colours whatever they hold
constexpr double kDeep = 0.55;        // of the second eight colours, towards text
constexpr double kDeepest = 0.45;     // of the last place along the minor axes

// Away from the surface: what reaches 3:1 on it goes on doing so.
QColor deeper(const QColor& color, double share) {
    return mixed(color, Theme::current().color(Role::Text), share);
}

/// Place `index` of `count` around the colour circle.
QColor hue(int index, int count) {
    const Theme& theme = Theme::current();
    if (count <= kSeries) {
        return theme.series(index);
    }
    const QColor start = theme.series(0);
    float h = 0;
    float s = 0;
    float l = 0;
    start.getHslF(&h, &s, &l);
    return QColor::fromHslF(
        std::fmod(h + static_cast<float>(index) / static_cast<float>(count), 1.0F), s, l);
}

} // namespace

std::vector<QColor> devicePalette(std::span<const int> mesh) {
    int devices = 1;
    int major = 1;
    for (const int size : mesh) {
        major = major == 1 ? size : major;
        devices *= size;
    }
    const int minor = devices / major;
    std::vector<QColor> colors;
    colors.reserve(static_cast<std::size_t>(devices));
    for (int device = 0; device < devices; ++device) {
        if (devices <= kCategorical) {
            const QColor own = Theme::current().series(device % kSeries);
            colors.push_back(device < kSeries ? own : deeper(own, kDeep));
        } else {
            const double depth =
                minor > 1 ? static_cast<double>(device % minor) / (minor - 1) : 0.0;
            colors.push_back(deeper(hue(device / minor, major), 1.0 - depth * (1.0 - kDeepest)));
        }
    }
    return colors;
}

std::vector<QColor> shardPalette(const ShardGroups& shards, std::span<const int> mesh) {
    if (shards.of_device.size() <= kOwnColors) {
        return devicePalette(mesh);
    }
    const std::vector<QColor> own = devicePalette(shards.grid);
    std::vector<QColor> colors;
    colors.reserve(shards.of_device.size());
    for (const int shard : shards.of_device) {
        colors.push_back(shard < 0 ? Theme::current().color(Role::Muted)
                                   : own[static_cast<std::size_t>(shard)]);
    }
    return colors;
}

double deviceBadgeWidth(int devices) {
    const QString widest = QString(QString::number(devices - 1).size(), QLatin1Char('8'));
    const double text = textWidth(Theme::current().font(TextStyle::CaptionStrong), widest);
    return std::max(16.0, std::ceil(text) + 8.0);
}

void paintDeviceBadge(QPainter& painter, const QRectF& rect, int device, const QColor& color) {
    const Theme& theme = Theme::current();
    paintSurface(painter, rect, 3.0, color, {});
    const QColor a = theme.color(Role::Surface);
    const QColor b = theme.color(Role::Text);
    paintText(painter, rect, Qt::AlignCenter, QString::number(device),
              theme.font(TextStyle::CaptionStrong),
              contrastRatio(a, color) >= contrastRatio(b, color) ? a : b, Qt::ElideNone);
}

} // namespace weft::widgets
