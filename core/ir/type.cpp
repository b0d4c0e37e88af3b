// SPDX-License-Identifier: Apache-2.0
#include "core/ir/type.h"

namespace weft::ir {
namespace {

struct DTypeInfo {
    DType dtype;
    std::string_view name;
    std::int64_t bytes;
    bool floating;
};

constexpr std::array<DTypeInfo, 7> kDTypes{{
    {DType::f32, "f32", 4, true},
    {DType::bf16, "bf16", 2, true},
    {DType::f64, "f64", 8, true},
    {DType::i32, "i32", 4, false},
    {DType::i64, "i64", 8, false},
    {DType::u8, "u8", 1, false},
    {DType::f16, "f16", 2, true},
}};

const DTypeInfo& info(DType dtype) {
    return kDTypes[static_cast<std::size_t>(dtype)];
}

} // namespace

std::int64_t dtype_bytes(DType dtype) {
    return info(dtype).bytes;
}

std::string_view dtype_name(DType dtype) {
    return info(dtype).name;
}

bool is_float(DType dtype) {
    return info(dtype).floating;
}

std::optional<DType> parse_dtype(std::string_view name) {
    for (const DTypeInfo& entry : kDTypes) {
        if (entry.name == name) {
            return entry.dtype;
        }
    }
    return std::nullopt;
}

std::string to_text(const Shape& shape) {
    std::string out = "[";
    for (int dim = 0; dim < shape.rank(); ++dim) {
        out += (dim > 0 ? "," : "") + std::to_string(shape[dim]);
    }
    return out + "]";
}

std::string to_text(const Type& type) {
    return std::string(dtype_name(type.dtype)) + to_text(type.shape);
}

} // namespace weft::ir
