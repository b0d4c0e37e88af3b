// SPDX-License-Identifier: Apache-2.0
// Writing arguments and reading results of planned programs by name.
#pragma once

#include "core/exec/executor.h"

#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::train {

/// The planned argument or result of this name, on the first stage of a pipeline that has it; null
/// when the program has none (it does not need it).
const plan::PlannedPort* find_argument(const exec::Executor& executor, std::string_view program,
                                       std::string_view name);
const plan::PlannedPort* find_result(const exec::Executor& executor, std::string_view program,
                                     std::string_view name);
/// Outputs of the program, of all stages together, in their order.
std::vector<std::string> output_names(const exec::Executor& executor, std::string_view program);

/// Copies bytes into an argument; sizes must agree. An argument that the program lacks is left out.
void write_argument(exec::Executor& executor, std::string_view program, std::string_view name,
                    std::span<const std::byte> bytes);
/// A scalar f32 or i64 argument, converted from double or int64.
void write_scalar(exec::Executor& executor, std::string_view program, std::string_view name,
                  double value);
/// {seed, step, first sample}
void write_random(exec::Executor& executor, std::string_view program, std::uint64_t seed,
                  std::int64_t step, std::int64_t first_sample);
/// A scalar of any element type but bf16 and f16.
double scalar_of(ir::DType dtype, std::span<const std::byte> bytes);
/// A scalar result.
double read_scalar(exec::Executor& executor, std::string_view program, std::string_view name);

} // namespace weft::train
