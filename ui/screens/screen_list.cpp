// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/screens/screen_list.h"

namespace weft::ui {

std::span<const ScreenRecord* const> allScreens() {
    static constexpr const ScreenRecord* kScreens[] = {
        &kHomeScreen,
        &kDataScreen,
        &kModelScreen,
        &kTrainingScreen,
        &kPlanScreen,
        &kTrainScreen,
        &kCheckpointsScreen,
        &kRunsScreen,
    };
    return kScreens;
}

} // namespace weft::ui
