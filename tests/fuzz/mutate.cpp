// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/mutate.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <random>

namespace weft::test {
namespace {

/// Ends of ranges, and what lies beside them.
constexpr std::array<std::uint64_t, 18> kNumbers = {
    0,           1,          2,          0x7f,       0x80,       0xff,
    0x7fff,      0x8000,     0xffff,     0x7fffffff, 0x80000000, 0xffffffff,
    0x100000000, 1ULL << 40, ~0ULL >> 1, 1ULL << 63, ~0ULL,      ~0ULL - 7};
constexpr std::array<const char*, 16> kWrittenNumbers = {"0",
                                                         "-1",
                                                         "1",
                                                         "-0",
                                                         "255",
                                                         "65536",
                                                         "2147483647",
                                                         "2147483648",
                                                         "4294967296",
                                                         "9223372036854775807",
                                                         "9223372036854775808",
                                                         "-9223372036854775808",
                                                         "18446744073709551616",
                                                         "1e309",
                                                         "1e-320",
                                                         "99999999999999999999999999999999999"};

class Change {
public:
    Change(std::string& bytes, std::span<const std::string> seeds,
           std::span<const std::string> words, std::mt19937_64& random)
        : bytes_(bytes), seeds_(seeds), words_(words), random_(random) {}

    void make() {
        switch (below(10)) {
        case 0: return flip_a_bit();
        case 1: return set_bytes();
        case 2: return cut_out();
        case 3: return double_a_stretch();
        case 4: return splice();
        case 5:
        case 6: return set_a_number();
        case 7: return write_a_number();
        case 8: return put_a_word();
        default: return cut_off();
        }
    }

private:
    std::size_t below(std::size_t most) { return most == 0 ? 0 : random_() % most; }
    /// Mostly short.
    std::size_t length() { return 1 + below(std::size_t{1} << below(12)); }

    void flip_a_bit() {
        if (!bytes_.empty()) {
            bytes_[below(bytes_.size())] ^= static_cast<char>(1 << below(8));
        }
    }

    void set_bytes() {
        const std::size_t from = below(bytes_.size());
        const std::size_t end = std::min(bytes_.size(), from + 1 + below(4));
        for (std::size_t i = from; i < end; ++i) {
            bytes_[i] = static_cast<char>(random_());
        }
    }

    void cut_out() { bytes_.erase(below(bytes_.size()), length()); }
    void cut_off() {
        if (below(4) == 0) { // most of what follows a cut is never read
            bytes_.resize(below(bytes_.size() + 1));
        }
    }

    void double_a_stretch() {
        const std::string stretch = bytes_.substr(below(bytes_.size()), length());
        bytes_.insert(below(bytes_.size() + 1), stretch);
    }

    void splice() {
        const std::string& other = seeds_[below(seeds_.size())];
        const std::string stretch = other.substr(below(other.size()), length());
        const std::size_t at = below(bytes_.size() + 1);
        if (below(2) == 0) {
            bytes_.insert(at, stretch);
        } else {
            bytes_.replace(at, stretch.size(), stretch);
        }
    }

    void set_a_number() {
        const std::size_t width = std::size_t{1} << below(4);
        if (bytes_.size() < width) {
            return;
        }
        const std::uint64_t number =
            below(8) == 0 ? bytes_.size() + below(3) - 1 : kNumbers[below(kNumbers.size())];
        const bool big_endian = below(2) == 0;
        // Headers are where numbers are.
        const std::size_t room = bytes_.size() - width + 1;
        const std::size_t at =
            below(2) == 0 ? below(std::min<std::size_t>(room, 512)) : below(room);
        for (std::size_t i = 0; i < width; ++i) {
            const std::size_t shift = 8 * (big_endian ? width - 1 - i : i);
            bytes_[at + i] = static_cast<char>(number >> shift);
        }
    }

    void write_a_number() {
        const auto is_digit = [](char c) {
            return std::isdigit(static_cast<unsigned char>(c)) != 0;
        };
        const auto start = bytes_.begin() + static_cast<std::ptrdiff_t>(below(bytes_.size()));
        const auto from = std::find_if(start, bytes_.end(), is_digit);
        const auto end = std::find_if_not(from, bytes_.end(), is_digit);
        const std::string number = kWrittenNumbers[below(kWrittenNumbers.size())];
        bytes_.replace(from, end, number);
    }

    void put_a_word() {
        if (words_.empty()) {
            return flip_a_bit();
        }
        const std::string& word = words_[below(words_.size())];
        const std::size_t at = below(bytes_.size() + 1);
        bytes_.replace(at, below(2) == 0 ? 0 : word.size(), word);
    }

    std::string& bytes_;
    std::span<const std::string> seeds_;
    std::span<const std::string> words_;
    std::mt19937_64& random_;
};

} // namespace

std::string mutated(std::span<const std::string> seeds, std::span<const std::string> words,
                    std::uint64_t seed, std::uint64_t number) {
    std::seed_seq both{seed, seed >> 32, number, number >> 32};
    std::mt19937_64 random(both);
    std::string bytes = seeds[random() % seeds.size()];
    const std::uint64_t changes = 1 + random() % 8;
    for (std::uint64_t i = 0; i < changes; ++i) {
        Change(bytes, seeds, words, random).make();
        bytes.resize(std::min(bytes.size(), kMostInputBytes));
    }
    return bytes;
}

} // namespace weft::test
