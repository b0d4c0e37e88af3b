// SPDX-License-Identifier: Apache-2.0
// Plays the messages of a pipeline's programs through. Private to core/stages.
#pragma once

#include "core/ir/program.h"

#include <vector>

namespace weft::stages {

/// Every message is received once, in order, as what it was sent as, and no stage waits for ever:
/// anything else is a programmer fault.
void check_messages(const std::vector<ir::Program>& stages);

} // namespace weft::stages
