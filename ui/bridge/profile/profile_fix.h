// SPDX-License-Identifier: GPL-3.0-or-later
// What a draft can change about a cause that a recording shows.
#pragma once

#include "core/profile/verdict.h"
#include "core/train/record/event.h"
#include "ui/bridge/draft/draft.h"

#include <QString>

#include <optional>
#include <vector>

namespace weft::ui {

struct ProfileFix {
    QString label;   // of a button: "Set num_workers to 2"
    QString tooltip; // what it does
    std::vector<FieldEdit> edits;
    bool opens_plan = false; // nothing is set: the devices are arranged on Mesh & Plan
};

/// Of a run with this configuration; none where no setting helps, or it is at its end. `loader`:
/// what preparing data takes in it, where that is known; `cores`: that a run may use.
std::optional<ProfileFix> fixOf(const profile::Cause& cause, const compile::RunConfig& run,
                                const std::optional<train::LoaderEvent>& loader, int cores);

/// The draft has all of it already.
bool hasFix(const config::Json& draft, const ProfileFix& fix);

} // namespace weft::ui
