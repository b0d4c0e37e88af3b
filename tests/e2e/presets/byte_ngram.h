// SPDX-License-Identifier: Apache-2.0
// An order-3 byte n-gram model with Witten-Bell interpolation (Witten and Bell 1991): each byte is
// predicted from up to three bytes before it. The baseline that a language model must beat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace weft::test {

/// Mean bits per byte of `held_out` sequences under the model counted on `training` sequences.
/// Sequences are rows of `length` bytes.
double ngram_bits_per_byte(std::span<const std::uint8_t> training,
                           std::span<const std::uint8_t> held_out, std::size_t length);

} // namespace weft::test
