// SPDX-License-Identifier: Apache-2.0
// What a stretch of memory is for, by where its values come from and go to. Private to core/plan.
#pragma once

#include "core/memory/share_storage.h"
#include "core/plan/plan.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace weft::plan {

using SlotIndex = std::unordered_map<std::string_view, const StateSlot*>; // by name

/// One category per stretch:
///  - a state slot: the slot's;
///  - an argument written by the host: batch;
///  - a cast of a parameter slot: packed weights (the compute copy);
///  - made in the backward phase and read in the update phase, and what is added to or made from
///  such
///    a value in its own shape: gradients;
///  - anything else made in the update phase: optimizer;
///  - the rest: activations.
std::vector<Category> categorise(const ir::Program& program, const memory::Storage& storage,
                                 const SlotIndex& state_slots);

/// The name of each stretch: a named value's, else "<op kind> <path>" of the first op that writes
/// it.
std::vector<std::string> name_stretches(const ir::Program& program, const memory::Storage& storage);

} // namespace weft::plan
