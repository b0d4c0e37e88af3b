// SPDX-License-Identifier: Apache-2.0
#include "core/train/self_test/case_values.h"

#include "core/base/philox.h"
#include "kernels/numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>

namespace weft::train {
namespace {

using kernels::bf16;
using kernels::f16;

void put_number(exec::Tensor& tensor, std::size_t i, double value) {
    switch (tensor.type.dtype) {
    case ir::DType::f32: tensor.span<float>()[i] = static_cast<float>(value); break;
    case ir::DType::bf16:
        tensor.span<bf16>()[i] = kernels::to_bf16(static_cast<float>(value));
        break;
    case ir::DType::f16: tensor.span<f16>()[i] = kernels::to_f16(static_cast<float>(value)); break;
    case ir::DType::i32: tensor.span<std::int32_t>()[i] = static_cast<std::int32_t>(value); break;
    case ir::DType::i64: tensor.span<std::int64_t>()[i] = static_cast<std::int64_t>(value); break;
    case ir::DType::u8: tensor.span<std::uint8_t>()[i] = static_cast<std::uint8_t>(value); break;
    case ir::DType::f64: WEFT_CHECK(false, "no case has such elements");
    }
}

double case_number(const exec::Tensor& tensor, std::size_t i) {
    switch (tensor.type.dtype) {
    case ir::DType::f32: return static_cast<double>(tensor.span<float>()[i]);
    case ir::DType::bf16: return static_cast<double>(kernels::to_float(tensor.span<bf16>()[i]));
    case ir::DType::f16: return static_cast<double>(kernels::to_float(tensor.span<f16>()[i]));
    case ir::DType::i32: return tensor.span<std::int32_t>()[i];
    case ir::DType::i64: return static_cast<double>(tensor.span<std::int64_t>()[i]);
    case ir::DType::u8: return tensor.span<std::uint8_t>()[i];
    case ir::DType::f64: break;
    }
    WEFT_CHECK(false, "no case has such elements");
}

double share_allowed(ir::DType dtype) {
    switch (dtype) {
    case ir::DType::f32: return 0x1p-14;
    case ir::DType::bf16: return 0x1p-6;
    case ir::DType::f16: return 0x1p-9;
    default: return 0;
    }
}

/// The number after the last space: of "below 50".
std::int64_t number_in(const std::string& name) {
    std::int64_t number = 0;
    const std::size_t at = name.rfind(' ') + 1;
    const auto read = std::from_chars(name.data() + at, name.data() + name.size(), number);
    WEFT_CHECK(at > 0 && read.ec == std::errc(),
               "the name of a case's argument says what it holds");
    return number;
}

} // namespace

exec::Tensor case_argument(const ir::Program& program, const ir::Port& port, std::uint64_t seed) {
    exec::Tensor out(program.type(port.value));
    const RandomStream stream(seed, port.name);
    const auto count = static_cast<std::size_t>(out.type.shape.elements());
    const auto position = static_cast<std::uint64_t>(port.value.index) * 1000000;
    for (std::size_t i = 0; i < count; ++i) {
        const double uniform = static_cast<double>(stream.uniform(0, position + i));
        double value = 0;
        if (port.name.starts_with("noise")) {
            value = 2 * uniform - 1;
        } else if (port.name.starts_with("positive")) {
            value = 0.5 + uniform;
        } else if (port.name == "random") {
            value = static_cast<double>(7 + 4 * i);
        } else if (port.name.starts_with("at ")) {
            value = static_cast<double>(number_in(port.name));
        } else if (port.name.starts_with("restart ")) { // 0, 1, ... 0, 1, ... along the last
            const std::int64_t last = out.type.shape[out.type.shape.rank() - 1];
            value = static_cast<double>(static_cast<std::int64_t>(i) % last % number_in(port.name));
        } else {
            value = std::floor(uniform * static_cast<double>(number_in(port.name)));
        }
        put_number(out, i, value);
    }
    return out;
}

Difference difference(const exec::Tensor& result, const exec::Tensor& right, bool rounds_operands) {
    Difference out;
    double largest_right = 0;
    const auto count = static_cast<std::size_t>(right.type.shape.elements());
    for (std::size_t i = 0; i < count; ++i) {
        const double is = case_number(result, i);
        const double shall = case_number(right, i);
        double apart = std::fabs(is - shall);
        if (std::isnan(apart)) {
            apart = is == shall || (std::isnan(is) && std::isnan(shall))
                        ? 0
                        : std::numeric_limits<double>::infinity();
        }
        largest_right = std::max(largest_right, std::fabs(shall));
        if (apart > out.largest) {
            out = {apart, 0, static_cast<std::int64_t>(i), is, shall};
        }
    }
    const double share = share_allowed(right.type.dtype);
    out.allowed = (rounds_operands ? std::max(share, 0x1p-8) : share) * largest_right;
    return out;
}

std::string to_text(const Difference& difference) {
    char text[192];
    std::snprintf(text, sizeof text,
                  "element %lld is %.6g and shall be %.6g; the largest difference is %.3g where "
                  "%.3g is allowed",
                  static_cast<long long>(difference.element), difference.is, difference.shall,
                  difference.largest, difference.allowed);
    return text;
}

} // namespace weft::train
