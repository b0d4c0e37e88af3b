// SPDX-License-Identifier: GPL-3.0-or-later
// What the positions of a sample are called.
#pragma once

#include "ui/bridge/run/trial_host.h"

namespace weft::ui {

/// One for each of `count` positions: tokens of a text as signs, patches of a picture by row and
/// column, what comes before them as class tokens; empty where they have numbers only.
QStringList placeNames(const LookedInside& looked, std::int64_t count);
/// Whether these positions are patches.
bool arePatches(const train::SampleLook& look, std::int64_t count);
/// "“fox” (12)" of a text, "patch 2, 4" of a picture, else the name or the number.
QString placeWords(const QStringList& names, bool text, int place);

} // namespace weft::ui
