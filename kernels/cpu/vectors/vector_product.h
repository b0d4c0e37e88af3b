// SPDX-License-Identifier: Apache-2.0
// Whole matrix products, summed in f32 with AVX-512. Operands are packed as floats, whatever they
// are stored as, blocked for both caches (Goto, van de Geijn 2008).
#pragma once

#include "kernels/op.h"

#include <cstdint>

namespace weft::kernels::cpu {

/// Where the operands of a product come from. Each call gets a part of a packed operand, in the
/// layouts of vector_packing.h; depths are at most kMostDepth.
class ProductOperands {
public:
    virtual ~ProductOperands() = default;
    /// Rows from `row` on, as of steps from `step` on; turned where the product says so.
    virtual void left(std::int64_t row, std::int64_t rows, std::int64_t step, std::int64_t depth,
                      float* to) const = 0;
    virtual void right(std::int64_t column, std::int64_t columns, std::int64_t step,
                       std::int64_t depth, float* to) const = 0;
};

/// out [m, n] = left [m, k] right [k, n] + bias [n]
struct VectorProduct {
    std::int64_t m, k, n;
    bool left_turned; // as it is packed
    bool brief_out;   // bf16, else f32
    int threads;      // the largest team
    /// What becomes of a finished sum x, bias included.
    enum class Last : std::uint8_t {
        nothing,
        sum,      // out = x + before
        gelu,     // beside = x, out = gelu(beside)
        gelu_grad // out = x gelu'(before)
    } last = Last::nothing;

    struct Results {
        const float* bias; // or null
        void* out;
        const void* before = nullptr;
        void* beside = nullptr; // both [m, n] and of the type of `out`
    };

    std::int64_t workspace_bytes() const;
    /// The same bits for any team. Only where machine_has_avx512().
    void run(const ProductOperands& operands, const Results& results, void* workspace) const;
};

/// Throws UNSUPPORTED unless the first two inputs are of one type, f32 or bf16, the results as
/// well, and this machine has AVX-512.
void require_vectors(const Op& op);
/// Throws UNSUPPORTED where others multiply such operands faster: tiles and, but on Intel's cores
/// from Golden Cove on, dot products of pairs. There VDPBF16PS does half the FLOP of multiply-adds
/// in f32 (Xeon of 2023, one thread: 106 beside 212 GFLOP/s, `bench_kernels`).
void require_vectors_win(const Op& op);

} // namespace weft::kernels::cpu
