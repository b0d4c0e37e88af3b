// SPDX-License-Identifier: Apache-2.0
// Collectives and messages as ranks call them, without their data: what ranks tell each other to
// find out, before anything moves, that they mean the same.
#pragma once

#include "core/ir/type.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::exec::comm {

struct IssuedCall {
    struct Tensor {
        ir::DType dtype = ir::DType::f32;
        std::int64_t count = 0;
        friend bool operator==(const Tensor&, const Tensor&) = default;
    };
    std::string kind; // "all_reduce sum"; empty: a message
    std::vector<Tensor> tensors;
    std::string route; // "from 0", "along 0->1 1->0"; empty where the kind says it all
    std::string what;  // is moved, and for whom
    friend bool operator==(const IssuedCall&, const IssuedCall&) = default;
};

/// Of one rank in one group, in the order in which it makes them.
struct IssuedCalls {
    int world_rank = 0;
    std::vector<IssuedCall> calls;
};

/// "all_reduce sum of f32[12] (gradients)"
std::string call_text(const IssuedCall& call);

/// The first collective of the group that its ranks call differently; empty when there is none.
std::string describe_mismatch(std::string_view group, std::span<const IssuedCalls> ranks);
/// The same for messages of one rank to another.
std::string describe_mismatch(std::string_view group, const IssuedCalls& sender,
                              const IssuedCalls& receiver);

} // namespace weft::exec::comm
