// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/plan_panel.h"

#include <utility>

namespace weft::ui {

void PlanPanel::setPlan(const ShownPlan& plan) {
    if (plan.stale != stale_) {
        stale_ = plan.stale;
        staleChanged();
    }
    const bool same =
        shows_ == Shows::Step ? sameStep(plan.digest, digest_) : plan.digest == digest_;
    if (!same) {
        ShownPlan before{std::exchange(digest_, plan.digest), std::exchange(run_, plan.run)};
        planChanged(before);
    }
}

} // namespace weft::ui
