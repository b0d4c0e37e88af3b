// SPDX-License-Identifier: Apache-2.0
// What a placement costs beyond what was asked for: dimensions that do not divide and are padded,
// and arrays that stay whole although a rule, a spec or zero_stage would split them. It looks at
// the result, so that nothing is replicated in silence, whatever the reason.
#pragma once

#include "core/sharding/annotate.h"

namespace weft::sharding {

/// An array and how it is kept.
struct PlacedArray {
    SlotInfo array;
    Sharding stored;
};

/// A change of the configuration after which the finding is gone.
struct FindingFix {
    std::string change;                 // "keep wte.weight whole"
    std::vector<std::string> overrides; // "--set" assignments
};

struct Finding {
    enum class Kind : std::uint8_t { uneven, whole };
    Kind kind = Kind::uneven;
    std::string array;
    int dim = -1;                  // -1: whichever would have done
    std::vector<std::string> axes; // of the mesh
    std::int64_t units = 0;        // that were to be dealt out; 0: of no dimension in particular
    std::int64_t devices = 1;      // over as many
    /// uneven: of padding, on all devices together; whole: what each device holds beyond its share.
    std::int64_t bytes = 0;
    std::string asked_by; // "the rule for heads", "zero_stage 3", "its spec"
    std::string logical;  // axis whose rule asked; empty: no rule did
    std::string pointer;  // to the setting: "/mesh/rules"
    std::vector<FindingFix> fixes; // core/advise/finding_fixes.h fills them in

    /// Whether it takes enough memory to do something about it.
    bool matters() const { return kind == Kind::whole && bytes >= kMatters; }
    static constexpr std::int64_t kMatters = 64 * 1024;
};

std::vector<Finding> lint(const std::vector<PlacedArray>& arrays, const Placement& placement);

/// One sentence without its array's name: "stays whole over model=4: ...".
std::string message_of(const Finding& finding);
std::string hint_of(const Finding& finding);

} // namespace weft::sharding
