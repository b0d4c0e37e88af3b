// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/cases/harness.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

namespace weft::test {
namespace {

constexpr std::size_t kGuard = 128;
constexpr unsigned char kGuardByte = 0xA5;

std::int64_t size_of(std::int32_t dtype) {
    constexpr std::int64_t sizes[] = {4, 2, 8, 4, 8, 1, 2};
    return sizes[dtype];
}

std::uint16_t nearest_bf16(double value) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    std::uint32_t upper = bits >> 16;
    const std::uint32_t rest = bits & 0xffffu;
    if (rest > 0x8000u || (rest == 0x8000u && (upper & 1u) != 0)) {
        ++upper;
    }
    return static_cast<std::uint16_t>(std::isnan(value) ? 0x7fc0u : upper);
}

// IEEE 754 binary16: sign, five bits of exponent, ten of mantissa, by arithmetic alone.
std::uint16_t nearest_f16(double value) {
    const auto single = static_cast<double>(static_cast<float>(value));
    const std::uint16_t sign = std::signbit(single) ? 0x8000u : 0u;
    const double size = std::fabs(single);
    if (!(size < 65520.0)) {
        return static_cast<std::uint16_t>(sign | (std::isnan(single) ? 0x7e00u : 0x7c00u));
    }
    const int exponent = size < 0x1p-14 ? -14 : std::ilogb(size);
    const double units = std::nearbyint(std::ldexp(size, 10 - exponent)); // at most 2048
    return static_cast<std::uint16_t>(sign + static_cast<int>(units) + (exponent + 14) * 1024);
}

double value_of_f16(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31;
    const int mantissa = bits & 1023;
    const double size = exponent == 31  ? (mantissa == 0 ? INFINITY : NAN)
                        : exponent == 0 ? std::ldexp(mantissa, -24)
                                        : std::ldexp(1024 + mantissa, exponent - 25);
    return (bits & 0x8000u) != 0 ? -size : size;
}

} // namespace

weft_tensor_type type_of(weft_dtype dtype, const Shape& shape) {
    weft_tensor_type type{};
    type.dtype = dtype;
    type.rank = static_cast<std::int32_t>(shape.size());
    std::copy(shape.begin(), shape.end(), type.shape);
    return type;
}

std::int64_t count_of(const weft_tensor_type& type) {
    std::int64_t count = 1;
    for (int d = 0; d < type.rank; ++d) {
        count *= type.shape[d];
    }
    return count;
}

Tensor::Tensor(const weft_tensor_type& type, int shift) : type_(type) {
    bytes_.assign(static_cast<std::size_t>(size()) + 2 * kGuard + 128, kGuardByte);
    const auto address = reinterpret_cast<std::uintptr_t>(bytes_.data());
    start_ = kGuard + (64 - (address + kGuard) % 64) % 64 + static_cast<std::size_t>(shift);
    std::memset(data(), 0xff, static_cast<std::size_t>(size()));
}

std::int64_t Tensor::size() const {
    return count() * size_of(type_.dtype);
}

double Tensor::get(std::int64_t i) const {
    const void* p = data();
    switch (type_.dtype) {
    case WEFT_F32: {
        float value = 0;
        std::memcpy(&value, static_cast<const char*>(p) + i * 4, 4);
        return static_cast<double>(value);
    }
    case WEFT_BF16: {
        std::uint16_t half = 0;
        std::memcpy(&half, static_cast<const char*>(p) + i * 2, 2);
        return static_cast<double>(std::bit_cast<float>(std::uint32_t{half} << 16));
    }
    case WEFT_F16: {
        std::uint16_t half = 0;
        std::memcpy(&half, static_cast<const char*>(p) + i * 2, 2);
        return value_of_f16(half);
    }
    case WEFT_F64: return static_cast<const double*>(p)[i];
    case WEFT_I32: return static_cast<const std::int32_t*>(p)[i];
    case WEFT_I64: return static_cast<double>(static_cast<const std::int64_t*>(p)[i]);
    default: return static_cast<const std::uint8_t*>(p)[i];
    }
}

void Tensor::set(std::int64_t i, double value) {
    auto* p = static_cast<char*>(data());
    const auto number = static_cast<float>(value);
    const std::uint16_t half = type_.dtype == WEFT_F16 ? nearest_f16(value) : nearest_bf16(value);
    switch (type_.dtype) {
    case WEFT_F32: std::memcpy(p + i * 4, &number, 4); break;
    case WEFT_BF16:
    case WEFT_F16: std::memcpy(p + i * 2, &half, 2); break;
    case WEFT_F64: reinterpret_cast<double*>(p)[i] = value; break;
    case WEFT_I32: reinterpret_cast<std::int32_t*>(p)[i] = static_cast<std::int32_t>(value); break;
    case WEFT_I64: reinterpret_cast<std::int64_t*>(p)[i] = static_cast<std::int64_t>(value); break;
    default: reinterpret_cast<std::uint8_t*>(p)[i] = static_cast<std::uint8_t>(value); break;
    }
}

bool Tensor::guards_intact() const {
    for (std::size_t i = 0; i < start_; ++i) {
        if (bytes_[i] != kGuardByte) {
            return false;
        }
    }
    for (std::size_t i = start_ + static_cast<std::size_t>(size()); i < bytes_.size(); ++i) {
        if (bytes_[i] != kGuardByte) {
            return false;
        }
    }
    return true;
}

bool Tensor::same_bytes(const Tensor& other) const {
    return size() == other.size() &&
           std::memcmp(data(), other.data(), static_cast<std::size_t>(size())) == 0;
}

Tensor tensor(weft_dtype dtype, const Shape& shape, const std::vector<double>& values) {
    Tensor result(type_of(dtype, shape));
    for (std::size_t i = 0; i < values.size(); ++i) {
        result.set(static_cast<std::int64_t>(i), values[i]);
    }
    return result;
}

Tensor noise(weft_dtype dtype, const Shape& shape, unsigned seed, double low, double high) {
    std::mt19937 engine(seed);
    Tensor result(type_of(dtype, shape));
    for (std::int64_t i = 0; i < result.count(); ++i) {
        result.set(i, low + (high - low) * static_cast<double>(engine()) / 4294967296.0);
    }
    return result;
}

Tensor indices(const Shape& shape, unsigned seed, std::int64_t bound) {
    std::mt19937 engine(seed);
    Tensor result(type_of(WEFT_I32, shape));
    for (std::int64_t i = 0; i < result.count(); ++i) {
        result.set(i, static_cast<double>(engine() % static_cast<std::uint64_t>(bound)));
    }
    return result;
}

Tensor integers(const Shape& shape, const std::vector<std::int64_t>& values) {
    Tensor result(type_of(WEFT_I64, shape));
    std::memcpy(result.data(), values.data(), values.size() * 8);
    return result;
}

Attribute flag(std::string name, bool value) {
    return {std::move(name), WEFT_ATTRIBUTE_FLAG, value ? 1 : 0, 0.0, {}, {}};
}
Attribute integer(std::string name, std::int64_t value) {
    return {std::move(name), WEFT_ATTRIBUTE_INTEGER, value, 0.0, {}, {}};
}
Attribute real(std::string name, double value) {
    return {std::move(name), WEFT_ATTRIBUTE_REAL, 0, value, {}, {}};
}
Attribute text(std::string name, std::string value) {
    return {std::move(name), WEFT_ATTRIBUTE_TEXT, 0, 0.0, std::move(value), {}};
}
Attribute list(std::string name, Shape value) {
    return {std::move(name), WEFT_ATTRIBUTE_LIST, 0, 0.0, {}, std::move(value)};
}

Description::Description(const Call& call) {
    for (const Tensor& input : call.inputs) {
        inputs_.push_back(input.type());
    }
    for (const Attribute& a : call.attributes) {
        attributes_.push_back({a.name.c_str(), a.kind, a.integer, a.real, a.text.c_str(),
                               a.list.data(), static_cast<std::int64_t>(a.list.size())});
    }
    desc_ = {call.kind.c_str(),
             static_cast<std::int32_t>(inputs_.size()),
             static_cast<std::int32_t>(call.outputs.size()),
             static_cast<std::int32_t>(attributes_.size()),
             static_cast<std::int32_t>(call.steps.size()),
             inputs_.data(),
             call.outputs.data(),
             attributes_.data(),
             call.steps.data(),
             call.output_registers.data()};
}

Result run(const weft_backend* backend, const Call& call, int shift, int alias) {
    Result result;
    Description description(call);
    weft_query query{};
    weft_kernel* kernel = nullptr;
    result.status = backend->query(description.get(), &query);
    if (result.status == WEFT_OK) {
        result.kernel = query.kernel_name;
        result.status = backend->prepare(description.get(), &kernel);
    }
    if (result.status != WEFT_OK) {
        result.error = weft_last_error();
        return result;
    }
    for (int repeat = 0; repeat < 2 && result.status == WEFT_OK; ++repeat) {
        Tensor workspace(type_of(WEFT_U8, {query.workspace_bytes}));
        std::vector<Tensor> inputs;
        for (const Tensor& input : call.inputs) {
            inputs.emplace_back(input.type(), shift);
            std::memcpy(inputs.back().data(), input.data(),
                        static_cast<std::size_t>(input.count() * size_of(input.type().dtype)));
        }
        result.outputs.clear();
        for (const weft_tensor_type& type : call.outputs) {
            result.outputs.emplace_back(type, shift);
        }
        if (alias >= 0) {
            result.outputs[0] = std::move(inputs[static_cast<std::size_t>(alias)]);
        }
        std::vector<const void*> in;
        std::vector<void*> out;
        for (Tensor& t : result.outputs) {
            out.push_back(t.data());
        }
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            in.push_back(static_cast<int>(i) == alias ? out[0] : inputs[i].data());
        }
        const weft_run_args args{in.data(), out.data(), workspace.data(), nullptr};
        result.status = backend->run(kernel, &args);
        result.guards_intact = result.guards_intact && workspace.guards_intact();
        for (const Tensor& output : result.outputs) {
            result.guards_intact = result.guards_intact && output.guards_intact();
        }
    }
    if (result.status != WEFT_OK) {
        result.error = weft_last_error();
        result.outputs.clear();
    }
    backend->release(kernel);
    return result;
}

} // namespace weft::test
