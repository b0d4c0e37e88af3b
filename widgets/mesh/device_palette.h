// SPDX-License-Identifier: GPL-3.0-or-later
// Colours and number badges of devices, and of what they hold. Up to sixteen devices have a colour
// of their own; more are coloured by their place: hue along the major axis of the mesh, depth along
// the others. The number in the badge, never the colour alone, says which device it is.
#pragma once

#include "widgets/look/painting.h"
#include "widgets/mesh/tile_array.h"

#include <span>
#include <vector>

namespace weft::widgets {

/// One colour per device of a mesh with axes of these sizes (major to minor), in today's theme.
/// Made anew where it is painted: a theme change needs nothing else.
std::vector<QColor> devicePalette(std::span<const int> mesh);
/// One colour per device where an array is looked at: up to four devices keep their own, more have
/// that of the shard they hold, so that copies look alike; grey: it holds nothing.
std::vector<QColor> shardPalette(const ShardGroups& shards, std::span<const int> mesh);

inline constexpr double kDeviceBadgeHeight = 16.0; // fits a caption
/// More devices than this in one place are listed in words.
inline constexpr int kMostDeviceBadges = 4;
/// Width of the badge of any device below `devices`.
double deviceBadgeWidth(int devices);
void paintDeviceBadge(QPainter& painter, const QRectF& rect, int device, const QColor& color);

} // namespace weft::widgets
