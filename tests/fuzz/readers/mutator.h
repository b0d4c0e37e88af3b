// SPDX-License-Identifier: Apache-2.0
// Changed inputs, as a function of a seed.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace weft::fuzz {

class Mutator {
public:
    explicit Mutator(std::uint64_t seed) : random_(seed) {}

    /// One of the inputs with one to eight changes.
    std::string changed(const std::vector<std::string>& inputs);

private:
    std::size_t below(std::size_t bound) { return random_() % bound; }
    void change(std::string& input, const std::vector<std::string>& inputs);
    void put_number(std::string& input);
    void put_digits(std::string& input);

    std::mt19937_64 random_;
};

} // namespace weft::fuzz
