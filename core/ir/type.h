// SPDX-License-Identifier: Apache-2.0
// Element types and shapes: what every value of a program has.
#pragma once

#include "core/base/check.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace weft::ir {

/// Element types. The numbering is that of the kernel edge (kernels/weft_kernels.h).
enum class DType : std::uint8_t { f32 = 0, bf16 = 1, f64 = 2, i32 = 3, i64 = 4, u8 = 5, f16 = 6 };

std::int64_t dtype_bytes(DType dtype);
std::string_view dtype_name(DType dtype); // "f32", "bf16", ...
std::optional<DType> parse_dtype(std::string_view name);
bool is_float(DType dtype);

/// a * b; the largest number where the product is beyond it (extents come from files and people).
inline std::int64_t capped_product(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max()
                                                  : product;
}

/// The extents of a dense, row-major array; rank 0 is a scalar. At most kMaxRank dimensions.
class Shape {
public:
    static constexpr int kMaxRank = 8;

    Shape() = default;
    Shape(std::initializer_list<std::int64_t> extents)
        : Shape(std::span(extents.begin(), extents.size())) {}
    explicit Shape(std::span<const std::int64_t> extents) {
        for (const std::int64_t extent : extents) {
            push_back(extent);
        }
    }

    int rank() const { return rank_; }
    std::int64_t operator[](int dim) const { return extents_[static_cast<std::size_t>(dim)]; }
    std::int64_t& operator[](int dim) { return extents_[static_cast<std::size_t>(dim)]; }
    std::int64_t back() const { return (*this)[rank_ - 1]; }
    void push_back(std::int64_t extent) {
        WEFT_CHECK(rank_ < kMaxRank, "shapes have at most 8 dimensions");
        extents_[static_cast<std::size_t>(rank_++)] = extent;
    }
    /// Product of all extents; what cannot be counted is the largest number.
    std::int64_t elements() const {
        std::int64_t count = 1;
        for (const std::int64_t extent : *this) {
            count = capped_product(count, extent);
        }
        return count;
    }
    const std::int64_t* begin() const { return extents_.data(); }
    const std::int64_t* end() const { return extents_.data() + rank_; }
    std::span<const std::int64_t> span() const { return {begin(), static_cast<std::size_t>(rank_)}; }
    /// Product of all extents but the last (1 for rank 0 and 1).
    std::int64_t rows() const { return rank_ == 0 || back() == 0 ? 1 : elements() / back(); }

    friend bool operator==(const Shape& a, const Shape& b) {
        return a.rank_ == b.rank_ && std::equal(a.begin(), a.end(), b.begin());
    }

private:
    std::array<std::int64_t, kMaxRank> extents_{};
    int rank_ = 0;
};

/// Element type and shape of a value, printed as "f32[32,784]".
struct Type {
    DType dtype = DType::f32;
    Shape shape;

    std::int64_t bytes() const { return capped_product(shape.elements(), dtype_bytes(dtype)); }
    friend bool operator==(const Type&, const Type&) = default;
};

std::string to_text(const Shape& shape); // "[32,784]"
std::string to_text(const Type& type);   // "f32[32,784]"

} // namespace weft::ir
