// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/page_list.h"

namespace weft::ui {

std::span<const PageRecord* const> allPages() {
    static constexpr const PageRecord* kPages[] = {
        &kHomePage,        &kDataPage, &kModelPage,    &kRecipePage, &kPlanPage,  &kLivePage,
        &kCheckpointsPage, &kRunsPage, &kProfilerPage, &kQueuePage,  &kHostsPage,
    };
    return kPages;
}

} // namespace weft::ui
