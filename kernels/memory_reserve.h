// SPDX-License-Identifier: Apache-2.0
// Room that is kept for a moment without memory: weft_release_reserve() in weft_kernels.h.
#pragma once

namespace weft::kernels {

/// Whether the reserve was released since the last call: what was made is complete, but the program
/// is out of memory. Keeps a new reserve if there is room by now.
bool reserve_was_needed() noexcept;

} // namespace weft::kernels
