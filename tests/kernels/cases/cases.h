// SPDX-License-Identifier: Apache-2.0
// The case table: calls of every op over sizes and types, with the tolerance at which a fast kernel
// must agree with the reference. A kernel without a case fails a test.
#pragma once

#include "tests/kernels/cases/harness.h"

namespace weft::test {

/// |fast - reference| <= absolute + relative * |reference|.
struct Tolerance {
    double relative, absolute;
};

/// For ops that compute nothing.
inline constexpr Tolerance kExact{0.0, 0.0};

struct Case {
    std::string name;
    Call call;
    Tolerance tolerance;
};

/// A result in bf16 or f16 may land on the neighbour of the right one: a unit of 2^-7 or 2^-10 away
/// at most. `wide` is the error of other types.
double relative_error(weft_dtype dtype, double wide);
/// One rounding to the stored type plus a little arithmetic in f32: f32 has a unit of 1.2e-7 and
/// the polynomial functions stay below 1e-6.
Tolerance elementwise_tolerance(weft_dtype dtype);
/// A sum of `terms` products of numbers below 1 in f32: errors grow like the root of the number of
/// terms, with a factor of 8 to spare.
Tolerance sum_tolerance(weft_dtype out, std::int64_t terms);

void add_elementwise_cases(std::vector<Case>& cases);
void add_structure_cases(std::vector<Case>& cases);
void add_reduce_cases(std::vector<Case>& cases);
void add_matmul_cases(std::vector<Case>& cases);
void add_norm_cases(std::vector<Case>& cases);
void add_expert_cases(std::vector<Case>& cases);
void add_attention_cases(std::vector<Case>& cases);
void add_convolution_cases(std::vector<Case>& cases);
void add_random_cases(std::vector<Case>& cases);
void add_loss_cases(std::vector<Case>& cases);
void add_shard_cases(std::vector<Case>& cases);

const std::vector<Case>& kernel_cases();
/// What the CPU may leave to the reference: products of 8-bit numbers, which its plans have not,
/// and products with what follows them, which they have where it has a kernel.
bool is_for_gpus(const Call& call);

/// Empty when `fast` agrees with `slow`; else where and by how much it does not, or why one of them
/// did not run.
std::string difference(const Result& fast, const Result& slow, const Tolerance& tolerance);
/// Of a back end and the reference. Buffers begin `shift` bytes past a multiple of 64.
std::string compare(const weft_backend* backend, const Case& c, int shift);
bool all_bits_equal(const Result& a, const Result& b);
/// A shift by one element of the smallest common alignment: f64 and i64 operands cannot be shifted
/// by 4 bytes.
int smallest_shift(const Call& call);
/// "fused", "sweep" and what a group may be made of.
bool is_elementwise(const std::string& kind);

} // namespace weft::test
