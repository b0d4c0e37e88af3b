// SPDX-License-Identifier: Apache-2.0
// A gradient to which several parts of a pipeline contribute (a tied embedding) would travel once
// per microbatch. Each part adds up its own terms instead, and they meet behind the loop.
#pragma once

#include "core/stages/stage_map.h"

namespace weft::stages {

/// Changes carried sums of loops whose terms, joined by `add`, are made by layers of different
/// parts. The order of summation changes with it.
void separate_sums(ir::Program& program, const StageMap& map);

} // namespace weft::stages
