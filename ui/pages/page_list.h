// SPDX-License-Identifier: GPL-3.0-or-later
// Every page, in the order of the rail (Ctrl+1 is the first).
#pragma once

#include "ui/pages/page.h"

#include <span>

namespace weft::ui {

extern const PageRecord kHomePage;
extern const PageRecord kDataPage;
extern const PageRecord kModelPage;
extern const PageRecord kRecipePage;
extern const PageRecord kPlanPage;
extern const PageRecord kLivePage;
extern const PageRecord kCheckpointsPage;
extern const PageRecord kRunsPage;
extern const PageRecord kProfilerPage;
extern const PageRecord kQueuePage;
extern const PageRecord kHostsPage;

std::span<const PageRecord* const> allPages();

} // namespace weft::ui
