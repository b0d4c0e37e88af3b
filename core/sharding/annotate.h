// SPDX-License-Identifier: Apache-2.0
// From rules to the placement of every state slot: which mesh axes split which dimension of it, as
// the ops see it and as it is kept.
#pragma once

#include "core/sharding/sharding.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace weft::sharding {

/// A logical axis and the mesh axes that split it, major to minor; none: replicated. The first rule
/// for a name counts.
struct Rule {
    std::string logical;
    std::vector<std::string> axes;

    friend bool operator==(const Rule&, const Rule&) = default;
};

/// What a configuration says about placement, with every default filled in.
struct Placement {
    Mesh mesh;
    std::vector<Rule> rules;
    /// 1: optimizer state, 2: and gradients, 3: and parameters are split over the data axes too
    /// (Rajbhandari et al. 2020).
    int zero_stage = 0;
    /// Mesh axes of zero_stage; of those that split the batch.
    std::vector<std::string> zero_axes;
    /// Tensors by name pattern; the first match counts, before any rule.
    std::vector<std::pair<std::string, ir::Spec>> specs;

    std::vector<int> axes_of(std::string_view logical) const;
};

/// "heads", or "3*heads*64": three parts in units of 64 elements.
struct LogicalAxis {
    std::string name;
    std::int64_t parts = 1;
    std::int64_t unit = 1;
};
LogicalAxis parse_logical_axis(std::string_view text);

/// A value that has a name.
struct Annotation {
    Sharding used;   // as forward and backward see it
    Sharding stored; // as it is kept, and as the update sees it
};

struct SlotInfo {
    enum class Kind : std::uint8_t { parameter, optimizer, batch, other };
    Kind kind = Kind::other;
    std::string name;
    std::string parameter; // optimizer: the parameter it belongs to
    ir::Type type;
    std::vector<std::string> logical_axes;
};

struct Annotations {
    std::map<std::string, Annotation, std::less<>> state;
    /// Gradients by parameter: as they are summed up, and as the update sees them.
    std::map<std::string, Annotation, std::less<>> gradients;
};

/// What cannot be split as asked for stays whole; lint (core/sharding/lint.h) finds it. Throws
/// weft::Error{usage} for a spec that is none for an array it matches (check_spec).
Annotations annotate(const std::vector<SlotInfo>& slots, const Placement& placement);

/// The batch of a program: `batch_dim` is that of the samples, behind it come the positions of a
/// language model.
Sharding batch_sharding(const ir::Type& type, int batch_dim, bool positions,
                        const Placement& placement);

} // namespace weft::sharding
