// SPDX-License-Identifier: GPL-3.0-or-later
// How long the studio's tests wait for what must come, long enough for a loaded machine. A wait
// ends as soon as it is there.
#pragma once

namespace weft::test {

/// For what the studio or its worker reads, plans, shows or answers.
inline constexpr int kPatienceMs = 60000;
/// For a run that trains, and what is asked of it.
inline constexpr int kRunPatienceMs = 120000;

} // namespace weft::test
