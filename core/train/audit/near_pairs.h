// SPDX-License-Identifier: Apache-2.0
// Samples that are nearly the same: the network's features say where to look, the samples
// themselves decide, for a network that has learnt its classes well sees all of a class alike.
#pragma once

#include "core/exec/compute.h"
#include "core/ir/type.h"

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

namespace weft::train {

/// The nearest others of each row by cosine, at most `most` of them, whose cosine is at least
/// `least`. Rows [n, width] are of length 1. Products of blocks: never n x n numbers. `told` gets
/// shares of the work. Empty when stopped.
std::vector<std::vector<std::int64_t>> nearest_rows(std::span<const float> rows, std::int64_t width,
                                                    std::size_t most, double least,
                                                    const std::function<void(double)>& told,
                                                    const std::stop_token& stop);

/// Rows less their mean over all, divided by their length; rows that are the mean become 0.
void centre_and_scale(std::span<float> rows, std::int64_t width);

/// A sample in few numbers: an image in the means of about eight by eight fields, other samples as
/// they are, or the means of about 256 stretches of them.
std::vector<float> outline_of(std::span<const float> sample, const ir::Shape& shape);

/// Whether samples of this shape are compared as images.
bool is_image(const ir::Shape& shape);

/// Pearson's correlation of two images [H, W, C], the largest under moves by up to two pixels each
/// way, over what both then show. 0 where either is constant.
double image_likeness(std::span<const float> one, std::span<const float> other,
                      const ir::Shape& shape);

/// Each column to mean 0 and deviation 1 over all rows [n, width]; constant ones to 0.
void standardise_columns(std::span<float> rows, std::int64_t width);

/// 1 - |a - b|^2 / (|a|^2 + |b|^2) of two standardised rows: 1 where they are the same, about 0
/// where they have nothing to do with each other.
double row_likeness(std::span<const float> one, std::span<const float> other);

} // namespace weft::train
