// SPDX-License-Identifier: Apache-2.0
// Arrays of numbers whose first dimension counts samples, in a file or in memory.
#pragma once

#include "core/base/file.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace weft::data {

/// Element types that are read: numpy's names.
enum class Element : std::uint8_t { u1, u2, u4, u8, i1, i2, i4, i8, f2, f4, f8, b1 };

std::int64_t element_bytes(Element element);
bool is_integer(Element element); // b1 too

/// Samples [N, ...], row-major. Any thread may read.
struct ArrayData {
    std::string name; // for messages: the file, and the data set in it
    Element element = Element::f4;
    bool big_endian = false;
    std::vector<std::int64_t> shape;
    File file; // where the elements lie from `offset` on,
    std::int64_t offset = 0;
    std::vector<std::byte> memory; // unless they are here

    std::int64_t samples() const { return shape.front(); }
    /// Elements of one sample.
    std::int64_t row_elements() const;
    std::int64_t bytes() const { return samples() * row_elements() * element_bytes(element); }
    /// Sample `index` as numbers. Throws weft::Error{data} when the file cannot be read.
    void read(std::int64_t index, std::span<double> out) const;
    /// Checksum of the whole array where it is small or in memory, otherwise of its beginning and
    /// its end.
    std::uint32_t checksum() const;
};

} // namespace weft::data
