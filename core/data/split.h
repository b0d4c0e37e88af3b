// SPDX-License-Identifier: Apache-2.0
// How validation samples are taken out of the training samples.
#pragma once

#include "core/data/dataset.h"

#include <cstdint>
#include <span>
#include <vector>

namespace weft::data {

/// Samples that follow each other.
struct Run {
    std::int64_t first = 0;
    std::int64_t samples = 0;
    friend bool operator==(const Run&, const Run&) = default;
};
std::vector<Run> runs_of(const std::vector<std::int64_t>& ascending);

struct Split {
    std::vector<std::int64_t> train;      // ascending
    std::vector<std::int64_t> validation; // ascending
};

/// How many of `samples` a share takes: rounded, at least one, and at least one is left for
/// training. Throws weft::Error{data} when there are fewer than two samples. share in (0, 1).
std::int64_t validation_count(std::int64_t samples, double share);

/// Takes validation_count() samples, of every class its share to within one sample (largest
/// remainders first, then the lower class); which ones is a function of the seed and the sample
/// index only. Samples without a class count as one class.
Split split_by_class(const Source& source, double share, std::uint64_t seed);

/// Takes validation_count() samples from the ends of sixteen equal parts (fewer when fewer samples
/// are taken): whole stretches, so that hardly a held-out sample has a neighbour in training, from
/// everywhere, so that the last file of a text is not the only judge.
Split split_by_part(std::int64_t samples, double share);

/// A split of a source that streams; every run lies within a block.
struct RunSplit {
    std::vector<Run> train;      // ascending
    std::vector<Run> validation; // ascending
};

/// Takes validation_count() samples in whole blocks, of the last one the end; which ones is a
/// function of the seed. `blocks` as Source::blocks().
RunSplit split_by_block(std::span<const std::int64_t> blocks, double share, std::uint64_t seed);

} // namespace weft::data
