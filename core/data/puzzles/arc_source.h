// SPDX-License-Identifier: Apache-2.0
// ARC tasks as samples: a pair on a canvas of 30 x 30, and the identifier of its task and form.
// Training sees each pair in any form of its task, at any place.
#pragma once

#include "core/data/dataset.h"
#include "core/data/puzzles/arc.h"

#include <memory>
#include <string>
#include <vector>

namespace weft::data {

struct ArcSamples {
    enum class Pairs : std::uint8_t { train, test };
    std::vector<ArcTask> tasks{};
    std::int64_t forms = 0; // of each task at most, beside itself
    bool moves = true;      // in training
    Pairs pairs = Pairs::train;
    std::string name{}; // of the file or folder
};

/// What a sample is where there are so many identifiers.
SampleInfo arc_info(std::int64_t identifiers);

/// With Pairs::train the pairs that tasks are shown by, and the tests of those that are not judged.
/// With Pairs::test the tests of those that are, each as it is; such without an answer only where
/// `context.targets` lets them be. Identifiers are those of `context.encoding` where it is that of
/// such a source: 0 for a task that was not trained on. Throws weft::Error{data} where nothing is
/// left, or there are more identifiers than can be.
std::shared_ptr<const Source> arc_source(ArcSamples samples, const OpenContext& context,
                                         Notes& notes);

} // namespace weft::data
