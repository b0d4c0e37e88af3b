// SPDX-License-Identifier: GPL-3.0-or-later
// Every page, in the order of the rail (Ctrl+1 is the first).
#pragma once

#include "ui/screens/screen.h"

#include <span>

namespace weft::ui {

extern const ScreenRecord kHomeScreen;
extern const ScreenRecord kDataScreen;
extern const ScreenRecord kModelScreen;
extern const ScreenRecord kTrainingScreen;
extern const ScreenRecord kPlanScreen;
extern const ScreenRecord kTrainScreen;
extern const ScreenRecord kCheckpointsScreen;
extern const ScreenRecord kRunsScreen;

std::span<const ScreenRecord* const> allScreens();

} // namespace weft::ui
