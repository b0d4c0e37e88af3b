// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/weft_collectives.h"

/// Between the devices of the emulated machine (machine.h).
const weft_collectives* weft_emulated_collectives();
