// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/readers/mutator.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace weft::fuzz {
namespace {

constexpr std::size_t kMostBytes = 1 << 20;

constexpr std::array<std::uint64_t, 14> kNumbers = {0,
                                                    1,
                                                    2,
                                                    0x7f,
                                                    0xff,
                                                    0x7fff,
                                                    0xffff,
                                                    0x7fffffff,
                                                    0x80000000,
                                                    0xffffffff,
                                                    0x7fffffffffffffff,
                                                    0x8000000000000000,
                                                    0xfffffffffffffffe,
                                                    0xffffffffffffffff};

constexpr std::array<std::string_view, 18> kDigits = {"0",
                                                      "-1",
                                                      "1e999",
                                                      "-1e999",
                                                      "0.1",
                                                      "9223372036854775807",
                                                      "18446744073709551615",
                                                      "nan",
                                                      "99999",
                                                      "000000",
                                                      "2147483648",
                                                      "4294967296",
                                                      "-9223372036854775808",
                                                      "true",
                                                      "null",
                                                      "[]",
                                                      "{}",
                                                      "\"\""};

} // namespace

/// A number of one to eight bytes in either byte order.
void Mutator::put_number(std::string& input) {
    const std::size_t bytes = std::size_t{1} << below(4);
    if (input.size() < bytes) {
        return;
    }
    const std::size_t at = below(input.size() - bytes + 1);
    std::uint64_t number = kNumbers[below(kNumbers.size())];
    if (below(4) == 0) {
        number = input.size() + below(3) - 1;
    }
    const bool big = below(2) == 0;
    for (std::size_t i = 0; i < bytes; ++i) {
        input[at + (big ? bytes - 1 - i : i)] = static_cast<char>(number >> (8 * i));
    }
}

/// Digits that are there become something else.
void Mutator::put_digits(std::string& input) {
    const std::size_t start = input.empty() ? 0 : below(input.size());
    const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
    const auto first =
        std::find_if(input.begin() + static_cast<std::ptrdiff_t>(start), input.end(), digit);
    const auto last = std::find_if_not(first, input.end(), digit);
    input.replace(first, last, kDigits[below(kDigits.size())]);
}

void Mutator::change(std::string& input, const std::vector<std::string>& inputs) {
    if (input.empty()) {
        input = inputs[below(inputs.size())];
        return;
    }
    const std::size_t at = below(input.size());
    const std::size_t length = std::min(input.size() - at, std::size_t{1} << below(12));
    switch (below(10)) {
    case 0: input[at] = static_cast<char>(input[at] ^ (1 << below(8))); return;
    case 1: input[at] = static_cast<char>(random_()); return;
    case 2:
    case 3: put_number(input); return;
    case 4: put_digits(input); return;
    case 5: input.erase(at, length); return;
    case 6: // a piece once more, elsewhere
        input.insert(below(input.size() + 1), std::string(input, at, length));
        return;
    case 7: input.resize(at); return;
    case 8: { // the end of another
        const std::string& other = inputs[below(inputs.size())];
        const std::size_t from = other.empty() ? 0 : below(other.size());
        input.resize(at);
        input += other.substr(from);
        return;
    }
    default:
        std::fill_n(input.begin() + static_cast<std::ptrdiff_t>(at), length,
                    below(2) == 0 ? '\0' : static_cast<char>(random_()));
        return;
    }
}

std::string Mutator::changed(const std::vector<std::string>& inputs) {
    std::string out = inputs[below(inputs.size())];
    const std::size_t changes = 1 + below(8);
    for (std::size_t i = 0; i < changes; ++i) {
        change(out, inputs);
    }
    out.resize(std::min(out.size(), kMostBytes));
    return out;
}

} // namespace weft::fuzz
