// SPDX-License-Identifier: Apache-2.0
#include "core/train/program_io.h"

#include "core/base/check.h"

#include <array>

namespace weft::train {

namespace {

using Ports = std::vector<plan::PlannedPort> plan::PlannedProgram::*;

const plan::PlannedPort* find_port(const exec::Executor& executor, std::string_view program,
                                   Ports ports, std::string_view name) {
    const auto stages = executor.plan().all_stages(program);
    WEFT_CHECK(!stages.empty(), "the plan has the program " + std::string(program));
    for (const plan::PlannedProgram* stage : stages) {
        for (const plan::PlannedPort& port : stage->*ports) {
            if (port.name == name) {
                return &port;
            }
        }
    }
    return nullptr;
}

} // namespace

const plan::PlannedPort* find_argument(const exec::Executor& executor, std::string_view program,
                                       std::string_view name) {
    return find_port(executor, program, &plan::PlannedProgram::arguments, name);
}

const plan::PlannedPort* find_result(const exec::Executor& executor, std::string_view program,
                                     std::string_view name) {
    return find_port(executor, program, &plan::PlannedProgram::results, name);
}

std::vector<std::string> output_names(const exec::Executor& executor, std::string_view program) {
    std::vector<std::string> out;
    for (const plan::PlannedProgram* stage : executor.plan().all_stages(program)) {
        for (const plan::PlannedPort& port : stage->results) {
            if (port.role == ir::Role::output) {
                out.push_back(port.name);
            }
        }
    }
    return out;
}

void write_argument(exec::Executor& executor, std::string_view program, std::string_view name,
                    std::span<const std::byte> bytes) {
    if (find_argument(executor, program, name) == nullptr) {
        return;
    }
    executor.write(program, name, bytes);
}

void write_scalar(exec::Executor& executor, std::string_view program, std::string_view name,
                  double value) {
    const plan::PlannedPort* port = find_argument(executor, program, name);
    if (port == nullptr) {
        return;
    }
    if (port->operand.type.dtype == ir::DType::i64) {
        const auto whole = static_cast<std::int64_t>(value);
        write_argument(executor, program, name, std::as_bytes(std::span(&whole, 1)));
    } else {
        WEFT_CHECK(port->operand.type.dtype == ir::DType::f32, "scalar arguments are f32 or i64");
        const auto single = static_cast<float>(value);
        write_argument(executor, program, name, std::as_bytes(std::span(&single, 1)));
    }
}

void write_random(exec::Executor& executor, std::string_view program, std::uint64_t seed,
                  std::int64_t step, std::int64_t first_sample) {
    const std::array<std::int64_t, 3> key{static_cast<std::int64_t>(seed), step, first_sample};
    write_argument(executor, program, "random", std::as_bytes(std::span(key)));
}

double scalar_of(ir::DType dtype, std::span<const std::byte> bytes) {
    const auto as = [&]<typename T>(T value) {
        WEFT_CHECK(bytes.size() == sizeof value, "a scalar result");
        std::memcpy(&value, bytes.data(), sizeof value);
        return static_cast<double>(value);
    };
    switch (dtype) {
    case ir::DType::f32: return as(float{});
    case ir::DType::f64: return as(double{});
    case ir::DType::i32: return as(std::int32_t{});
    case ir::DType::i64: return as(std::int64_t{});
    case ir::DType::u8: return as(std::uint8_t{});
    case ir::DType::bf16:
    case ir::DType::f16: break;
    }
    WEFT_CHECK(false, "scalar results are not bf16 or f16");
    return 0;
}

double read_scalar(exec::Executor& executor, std::string_view program, std::string_view name) {
    const plan::PlannedPort* port = find_result(executor, program, name);
    WEFT_CHECK(port != nullptr,
               "program " + std::string(program) + " has the result " + std::string(name));
    return scalar_of(port->operand.type.dtype, executor.read(program, name));
}

} // namespace weft::train
