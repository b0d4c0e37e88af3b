// SPDX-License-Identifier: Apache-2.0
// Room that is kept for a moment without memory: weft_release_reserve() in weft_kernels.h.
#pragma once

namespace weft::kernels {

/// Whether the reserve is there; lays it in where it is not and there is room.
bool reserve_is_kept() noexcept;

/// Whether the reserve was released since the last call: what was made is complete, but the program
/// is out of memory.
bool reserve_was_needed() noexcept;

/// Gives the room back while it lives, for libraries that map memory by themselves and do not look
/// whether they got it. The reserve was needed where it cannot be laid in again.
class LentReserve {
public:
    LentReserve() noexcept;
    ~LentReserve();
    LentReserve(const LentReserve&) = delete;
    LentReserve& operator=(const LentReserve&) = delete;
};

} // namespace weft::kernels
