// SPDX-License-Identifier: Apache-2.0
// Arrays of numbers whose first dimension counts samples, in a file or in memory.
#pragma once

#include "core/base/file.h"
#include "core/base/hdf5_rows.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace weft::data {

/// Element types that are read: numpy's names.
enum class Element : std::uint8_t { u1, u2, u4, u8, i1, i2, i4, i8, f2, f4, f8, b1 };

std::int64_t element_bytes(Element element);
bool is_integer(Element element); // b1 too

/// IEEE 754 binary16.
double half(std::uint16_t bits);

/// Calls use(number) with a function that gives element i of `stored` as a double, which the
/// compiler sees through: a loop over elements has no choice of type in it.
template <class Use>
void with_numbers(Element element, bool big_endian, std::span<const std::byte> stored,
                  const Use& use) {
    const std::byte* bytes = stored.data();
    const auto use_as = [&]<class T, class ToDouble>(const T&, const ToDouble& to_double) {
        const auto number = [bytes, to_double](std::size_t i) {
            T value;
            std::memcpy(&value, bytes + i * sizeof(T), sizeof(T));
            return to_double(value);
        };
        const auto turned = [bytes, to_double](std::size_t i) {
            std::array<std::byte, sizeof(T)> own{};
            std::reverse_copy(bytes + i * sizeof(T), bytes + (i + 1) * sizeof(T), own.begin());
            return to_double(std::bit_cast<T>(own));
        };
        big_endian ? use(turned) : use(number);
    };
    const auto plain = [](auto value) { return static_cast<double>(value); };
    switch (element) {
    case Element::b1:
    case Element::u1: use_as(std::uint8_t{}, plain); break;
    case Element::u2: use_as(std::uint16_t{}, plain); break;
    case Element::u4: use_as(std::uint32_t{}, plain); break;
    case Element::u8: use_as(std::uint64_t{}, plain); break;
    case Element::i1: use_as(std::int8_t{}, plain); break;
    case Element::i2: use_as(std::int16_t{}, plain); break;
    case Element::i4: use_as(std::int32_t{}, plain); break;
    case Element::i8: use_as(std::int64_t{}, plain); break;
    case Element::f2: use_as(std::uint16_t{}, half); break;
    case Element::f4: use_as(float{}, plain); break;
    case Element::f8: use_as(double{}, plain); break;
    }
}

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
    /// Samples first, first + 1, ... as they are stored: where they are in memory, else read into
    /// `scratch`, which grows as needed. Throws as read_stored.
    std::span<const std::byte> stored(std::int64_t first, std::size_t rows,
                                      std::vector<std::byte>& scratch) const;
    /// What is stored, as numbers.
    void to_numbers(std::span<const std::byte> stored, std::span<double> out) const;
    /// Samples first, first + 1, ... as numbers, as many as fill `out`. Throws as read_stored.
    void read(std::int64_t first, std::span<double> out) const;
    /// Checksum of the whole array where it is small or in memory, otherwise of its beginning and
    /// its end.
    std::uint32_t checksum() const;
};

} // namespace weft::data
