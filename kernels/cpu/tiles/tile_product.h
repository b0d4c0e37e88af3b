// SPDX-License-Identifier: Apache-2.0
// Whole matrix products of bf16 on AMX. Operands are copied into tiles that lie in the order in
// which they are read, blocked for both caches (Goto, van de Geijn 2008).
#pragma once

#include <cstdint>

namespace weft::kernels::cpu {

/// out [m, n] = left [m, k] right [k, n] + bias [n], summed in f32. A turned operand lies in memory
/// as its transpose.
struct TileProduct {
    std::int64_t m, k, n;
    bool left_turned, right_turned;
    bool brief_out; // bf16, else f32
    int threads;    // the largest team
    /// What becomes of a finished sum x, bias included. Only where `brief_out`.
    enum class Last {
        nothing,
        gelu,     // beside = x, out = gelu(beside)
        gelu_grad // out = x gelu'(before)
    } last = Last::nothing;

    struct Operands {
        const std::uint16_t* left;
        const std::uint16_t* right;
        const float* bias; // or null
        void* out;
        void* workspace; // of the whole team
        const void* before = nullptr;
        void* beside = nullptr; // both [m, n] of bf16
    };

    std::int64_t workspace_bytes() const;
    /// The same bits for any team. Only where tiles_serve() (matrix_tiles.h).
    void run(const Operands& operands) const;
};

/// Whether the product is large enough, and fills enough of its tiles, to gain by them.
bool is_work_for_tiles(std::int64_t m, std::int64_t k, std::int64_t n);

} // namespace weft::kernels::cpu
