// SPDX-License-Identifier: Apache-2.0
// Threads as ranks, data for them, and the scalar oracle of reductions.
#pragma once

#include "core/exec/comm/in_process.h"

#include <functional>
#include <string>
#include <vector>

namespace weft::exec::comm::test {

using Bytes = std::vector<std::byte>;

inline const std::vector<ir::DType> kDTypes = {ir::DType::f32, ir::DType::bf16, ir::DType::f16,
                                               ir::DType::f64, ir::DType::i32,  ir::DType::i64,
                                               ir::DType::u8};

/// Runs `rank_main` for every rank of the world on a thread of its own; returns what each rank
/// threw (empty: nothing).
std::vector<std::string> run_ranks(World& world, const std::function<void(int)>& rank_main);

/// Waits, by condition, until so many ranks wait for others.
void await_waiting(const InProcessWorld& world, int ranks);

/// `count` elements that are a function of the seed: floats over many magnitudes, so that the order
/// of a sum shows; integers over their whole range.
Bytes drawn_data(ir::DType dtype, std::int64_t count, std::uint64_t seed);

/// The order of a sum over n ranks, written as a nested sum.
struct Order {
    int rank = 0;            // a leaf
    std::vector<Order> pair; // or two parts
};
/// ((first + next) + ...) over `ranks` ranks counted round.
Order ring_order(int first, int ranks);
/// ((x0 + x1) + (x2 + x3)) + ...
Order tree_order(int ranks);

/// Element `index` of all ranks' data, reduced in an order: one operation at a time, f32 arithmetic
/// for bf16 and f16 with one rounding at the end.
void reduce_element(ir::DType dtype, Reduction reduction, const Order& order,
                    const std::vector<Bytes>& data, std::int64_t index, Bytes& out,
                    std::int64_t out_index);

/// What all_reduce of the in-process world promises.
Bytes expected_all_reduce(ir::DType dtype, Reduction reduction, Algorithm algorithm,
                          const std::vector<Bytes>& data);

} // namespace weft::exec::comm::test
