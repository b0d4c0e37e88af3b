// SPDX-License-Identifier: GPL-3.0-or-later
// A studio with everything in it, and all its dialogs, for what must hold of each of them.
#pragma once

#include "tests/ui/studio_fixture.h"

#include <functional>
#include <vector>

namespace weft::test {

/// Trains small pictures in a second: samples, confusion matrix and Try it have something to show.
std::string pictures_config();

/// Waits until a run of the preset has finished and is listed; the draft differs from it in a
/// field.
void finish_a_run(StudioFixture& fixture);

struct DialogRecord {
    const char* name;
    std::function<QWidget*(StudioFixture&)> open; // shown, owned by the window
};
/// Every dialog that the studio makes itself. They need a finished run.
std::vector<DialogRecord> all_dialogs();

} // namespace weft::test
