// SPDX-License-Identifier: Apache-2.0
#include "core/pipeline/schedule_list.h"

#include "core/base/error.h"
#include "core/base/text.h"

#include <algorithm>

namespace weft::pipeline {
namespace {

std::string never(int, int, int) {
    return {};
}

std::string not_in_groups(int stages, int microbatches, int) {
    return microbatches % stages == 0
               ? std::string()
               : std::to_string(microbatches) + " microbatches are not a multiple of " +
                     std::to_string(stages) + " stages";
}

const ScheduleDef kSchedules[] = {
    {"gpipe", "all forwards, then all backwards; holds every microbatch", false, never,
     [](int stages, int microbatches, int) { return gpipe(stages, microbatches); }},
    {"1f1b", "alternates forward and backward; holds at most as many microbatches as stages", false,
     never, [](int stages, int microbatches, int) { return one_f_one_b(stages, microbatches); }},
    {"interleaved_1f1b",
     "1f1b over several chunks of layers per stage: a smaller bubble for more "
     "messages and memory",
     true, not_in_groups,
     [](int stages, int microbatches, int chunks) {
         return interleaved_1f1b(stages, microbatches, chunks);
     }},
    {"zero_bubble_h1", "1f1b with weight gradients where stages would wait", false, never,
     [](int stages, int microbatches, int) { return zero_bubble_h1(stages, microbatches); }},
};

} // namespace

std::span<const ScheduleDef> schedule_list() {
    return kSchedules;
}

Schedule make_schedule(std::string_view name, int stages, int microbatches, int chunks) {
    const auto found = std::ranges::find(kSchedules, name, &ScheduleDef::name);
    const std::string where = "pipeline schedule '" + std::string(name) + "'";
    if (found == std::end(kSchedules)) {
        std::vector<std::string> names;
        for (const ScheduleDef& def : kSchedules) {
            names.emplace_back(def.name);
        }
        throw Error(ErrorKind::usage, where, "there is no such schedule", name_hint(name, names));
    }
    if (stages < 1 || microbatches < 1 || chunks < 1) {
        throw Error(ErrorKind::usage, where, "stages, microbatches and chunks are at least 1");
    }
    if (chunks > 1 && !found->takes_chunks) {
        throw Error(ErrorKind::usage, where, "has one chunk per stage",
                    "interleaved_1f1b takes several");
    }
    if (const std::string problem = found->problem(stages, microbatches, chunks);
        !problem.empty()) {
        throw Error(ErrorKind::usage, where, problem, "change the micro batch size or the stages");
    }
    return found->make(stages, microbatches, chunks);
}

} // namespace weft::pipeline
