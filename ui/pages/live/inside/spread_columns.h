// SPDX-License-Identifier: GPL-3.0-or-later
// Bins of the engine (core/train/inside/spread.h) as columns of a map: the same parts of one axis
// for every step.
#pragma once

#include "core/train/inside/inside_file.h"
#include "widgets/spread/spread_map.h"

#include <span>

namespace weft::ui {

enum class SpreadAxis { Linear, Logarithmic };

/// Of the spreads of an array, one for each of `steps`; empty ones are not known. A logarithmic
/// axis has a part for each bin, smallest sizes in the middle. A linear one leaves out the
/// outermost thousandth at both ends, and within a bin numbers count as evenly spread.
widgets::SpreadHistory spreadHistory(std::span<const std::int64_t> steps,
                                     std::span<const train::WrittenSpread* const> spreads,
                                     SpreadAxis axis);

} // namespace weft::ui
