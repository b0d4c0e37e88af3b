// SPDX-License-Identifier: Apache-2.0
#include "core/train/program_io.h"

#include "core/base/check.h"

#include <algorithm>
#include <array>

namespace weft::train {

const plan::PlannedPort* find_port(const std::vector<plan::PlannedPort>& ports,
                                   std::string_view name) {
    const auto found = std::find_if(ports.begin(), ports.end(),
                                    [&](const auto& port) { return port.name == name; });
    return found == ports.end() ? nullptr : &*found;
}

const plan::PlannedProgram& program_of(const exec::Executor& executor, std::string_view program) {
    const plan::PlannedProgram* found = executor.plan().find(program);
    WEFT_CHECK(found != nullptr, "the plan has the program " + std::string(program));
    return *found;
}

void write_argument(exec::Executor& executor, std::string_view program, std::string_view name,
                    std::span<const std::byte> bytes) {
    if (find_port(program_of(executor, program).arguments, name) == nullptr) {
        return;
    }
    executor.write(program, name, bytes);
}

void write_scalar(exec::Executor& executor, std::string_view program, std::string_view name,
                  double value) {
    const plan::PlannedPort* port = find_port(program_of(executor, program).arguments, name);
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

double read_scalar(exec::Executor& executor, std::string_view program,
                   std::string_view name) {
    const plan::PlannedPort* port = find_port(program_of(executor, program).results, name);
    WEFT_CHECK(port != nullptr,
               "program " + std::string(program) + " has the result " + std::string(name));
    const std::span<const std::byte> bytes = executor.read(program, name);
    const auto as = [&]<typename T>(T value) {
        WEFT_CHECK(bytes.size() == sizeof value, "a scalar result");
        std::memcpy(&value, bytes.data(), sizeof value);
        return static_cast<double>(value);
    };
    switch (port->operand.type.dtype) {
    case ir::DType::f32: return as(float{});
    case ir::DType::f64: return as(double{});
    case ir::DType::i32: return as(std::int32_t{});
    case ir::DType::i64: return as(std::int64_t{});
    case ir::DType::u8: return as(std::uint8_t{});
    case ir::DType::bf16: break;
    }
    WEFT_CHECK(false, "scalar results are not bf16");
    return 0;
}

} // namespace weft::train
