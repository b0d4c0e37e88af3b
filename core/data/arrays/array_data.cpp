// SPDX-License-Identifier: Apache-2.0
#include "core/data/arrays/array_data.h"

#include "core/base/check.h"
#include "core/base/crc32c.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

namespace weft::data {
namespace {

constexpr std::int64_t kChecked = 4 << 20; // bytes at either end

static_assert(std::endian::native == std::endian::little, "elements are turned from big endian");

} // namespace

double half(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31;
    const int fraction = bits & 1023;
    const double magnitude = exponent == 0    ? std::ldexp(fraction, -24)
                             : exponent == 31 ? (fraction == 0 ? HUGE_VAL : std::nan(""))
                                              : std::ldexp(fraction + 1024, exponent - 25);
    return bits >> 15 != 0 ? -magnitude : magnitude;
}

std::int64_t element_bytes(Element element) {
    switch (element) {
    case Element::u1:
    case Element::i1:
    case Element::b1: return 1;
    case Element::u2:
    case Element::i2:
    case Element::f2: return 2;
    case Element::u4:
    case Element::i4:
    case Element::f4: return 4;
    case Element::u8:
    case Element::i8:
    case Element::f8: return 8;
    }
    return 1;
}

bool is_integer(Element element) {
    return element != Element::f2 && element != Element::f4 && element != Element::f8;
}

std::int64_t ArrayData::row_elements() const {
    return std::accumulate(shape.begin() + 1, shape.end(), std::int64_t{1}, std::multiplies<>());
}

void ArrayData::keep() {
    if (memory.empty()) {
        std::vector<std::byte> elements(static_cast<std::size_t>(bytes()));
        read_stored(0, elements);
        memory = std::move(elements);
        file = File();
        packed = nullptr;
    }
}

void ArrayData::read_stored(std::int64_t first, std::span<std::byte> out) const {
    const std::int64_t begin = first * row_bytes();
    const auto size = static_cast<std::int64_t>(out.size());
    WEFT_CHECK(first >= 0 && size % row_bytes() == 0 && begin + size <= bytes(),
               "samples within the array");
    if (!memory.empty()) {
        std::memcpy(out.data(), memory.data() + begin, out.size());
    } else if (packed != nullptr) {
        packed->read(first, size / row_bytes(), out);
    } else {
        file.read_at(out, offset + begin);
    }
}

std::span<const std::byte> ArrayData::stored(std::int64_t first, std::size_t rows,
                                             std::vector<std::byte>& scratch) const {
    const std::size_t size = rows * static_cast<std::size_t>(row_bytes());
    const std::size_t begin = static_cast<std::size_t>(first * row_bytes());
    if (!memory.empty()) {
        WEFT_CHECK(first >= 0 && begin + size <= memory.size(), "samples within the array");
        return std::span(memory).subspan(begin, size);
    }
    if (scratch.size() < size) {
        scratch.resize(size);
    }
    const auto out = std::span(scratch).first(size);
    read_stored(first, out);
    return out;
}

void ArrayData::to_numbers(std::span<const std::byte> stored, std::span<double> out) const {
    WEFT_CHECK(static_cast<std::int64_t>(stored.size()) ==
                   static_cast<std::int64_t>(out.size()) * element_bytes(element),
               "a number for every element");
    with_numbers(element, big_endian, stored, [out](const auto& number) {
        for (std::size_t i = 0; i < out.size(); ++i) {
            out[i] = number(i);
        }
    });
}

void ArrayData::read(std::int64_t first, std::span<double> out) const {
    std::vector<std::byte> scratch;
    const auto rows =
        static_cast<std::int64_t>(out.size()) / std::max<std::int64_t>(1, row_elements());
    to_numbers(stored(first, static_cast<std::size_t>(rows), scratch), out);
}

std::uint32_t ArrayData::checksum() const {
    if (!memory.empty()) {
        return crc32c(memory);
    }
    std::uint32_t sum = 0;
    const std::int64_t row = row_bytes();
    const std::int64_t size = bytes();
    for (const std::int64_t from : {std::int64_t{0}, std::max(size - kChecked, kChecked)}) {
        std::vector<std::byte> piece(
            static_cast<std::size_t>(std::clamp<std::int64_t>(size - from, 0, kChecked)));
        if (packed == nullptr) {
            file.read_at(piece, offset + from);
        } else if (!piece.empty()) { // whole samples: the first, and the last ones
            piece.resize(static_cast<std::size_t>(
                std::max<std::int64_t>(1, static_cast<std::int64_t>(piece.size()) / row) * row));
            packed->read(from == 0 ? 0 : samples() - static_cast<std::int64_t>(piece.size()) / row,
                         static_cast<std::int64_t>(piece.size()) / row, piece);
        }
        sum = crc32c(piece, sum);
    }
    return sum;
}

} // namespace weft::data
