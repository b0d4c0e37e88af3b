// SPDX-License-Identifier: Apache-2.0
// Tasks of ARC into a published puzzle set, for the format arc and for other programs.
#pragma once

#include "core/data/dataset.h"
#include "core/data/puzzles/arc.h"

#include <filesystem>
#include <vector>

namespace weft::data {

struct ArcOrder {
    std::vector<ArcTask> tasks{};
    std::int64_t forms = 0; // of each task at most, beside itself
    std::uint64_t seed = 0; // of where training pairs lie
};

struct WrittenArc {
    std::int64_t train = 0, test = 0, identifiers = 0; // boards, kinds with none of them
};

/// Writes folders train and test of dataset.json and all__*.npy, and identifiers.json, to the new
/// folder `to`: a group for each task, a puzzle for each form, a board for each pair. The test part
/// has the tests of judged tasks in every form, in their corner of the canvas; in training one
/// board of each puzzle, chosen by chance, lies there. Throws weft::Error{usage} where `to` is
/// there already; {runtime} for a disk that is too small, or once `context.stop` is asked.
WrittenArc write_arc(const ArcOrder& order, const OpenContext& context,
                     const std::filesystem::path& to);

} // namespace weft::data
