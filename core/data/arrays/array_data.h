// SPDX-License-Identifier: Apache-2.0
// Arrays of numbers whose first dimension counts samples, in a file or in memory.
#pragma once

#include "core/base/file.h"
#include "core/base/hdf5_rows.h"

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
    // Where the elements are, one of three; nowhere in an outline of an array that will be in
    // memory.
    File file; // from `offset` on
    std::int64_t offset = 0;
    std::shared_ptr<const Hdf5Rows> packed;
    std::vector<std::byte> memory;

    std::int64_t samples() const { return shape.front(); }
    /// Elements of one sample.
    std::int64_t row_elements() const;
    std::int64_t row_bytes() const { return row_elements() * element_bytes(element); }
    std::int64_t bytes() const { return samples() * row_bytes(); }
    bool can_be_read() const { return file.is_open() || packed != nullptr || !memory.empty(); }
    /// Samples that are read together: fewer of them cost as much.
    std::int64_t rows_together() const { return packed != nullptr ? packed->rows_together() : 1; }
    /// Moves the elements to memory, unless they are there.
    void keep();
    /// Samples first, first + 1, ... as they are stored, as many as fill `out`. Throws
    /// weft::Error{data} when the file cannot be read.
    void read_stored(std::int64_t first, std::span<std::byte> out) const;
    /// What read_stored gave, as numbers; `stored` is used up.
    void to_numbers(std::span<std::byte> stored, std::span<double> out) const;
    /// Samples first, first + 1, ... as numbers, as many as fill `out`. Throws as read_stored.
    void read(std::int64_t first, std::span<double> out) const;
    /// Checksum of the whole array where it is small or in memory, otherwise of its beginning and
    /// its end.
    std::uint32_t checksum() const;
};

} // namespace weft::data
