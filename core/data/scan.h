// SPDX-License-Identifier: Apache-2.0
// Integrity scan: every sample read once, the way training reads it.
#pragma once

#include "core/data/dataset.h"

#include <functional>
#include <optional>
#include <stop_token>

namespace weft::data {

struct ScanProgress {
    std::string part;                 // "train", "validation", "test"
    std::int64_t done = 0, total = 0; // samples of all parts
};

/// Samples with the same inputs. `part`: where the other one is.
struct Duplicate {
    std::int64_t index = 0;
    std::string part;
    std::int64_t other = 0;
};

struct BadSample {
    std::int64_t index = 0;
    std::string text; // the message of the error, or which values are not finite
};

/// What a scan of one part found. Lists hold the first kMostListed; counts are of all.
struct PartScan {
    std::string part;
    std::int64_t samples = 0;
    std::int64_t unreadable = 0;
    std::int64_t not_finite = 0; // samples with a NaN or infinity in input or target
    std::int64_t nan_values = 0;
    std::int64_t infinite_values = 0;
    std::vector<BadSample> bad; // unreadable and not finite ones
    std::int64_t duplicates = 0;
    std::int64_t duplicate_share = 1; // of the samples one in so many was compared with the others
    std::vector<Duplicate> duplicate_samples;
    std::vector<std::int64_t> class_counts; // by class; empty without classes
    std::int64_t unlabelled = 0;            // targets below 0, where there are classes
    std::vector<std::int64_t> constant;     // positions of the input that never change
    std::vector<double> mean, deviation;    // per channel of images, per feature otherwise
    double minimum = 0, maximum = 0;        // of finite inputs
};
inline constexpr std::size_t kMostListed = 100;
/// Samples that are remembered to find those that come twice. Of more it remembers one in so many,
/// chosen by what they hold: both of a pair, or none.
inline constexpr std::int64_t kMostRemembered = 8'000'000;

struct ScanReport {
    SampleInfo sample;
    std::vector<PartScan> parts;    // train, then validation and test where they are
    Notes notes;                    // of opening: what was skipped
    /// In words, worst first; empty: nothing was found.
    std::vector<std::string> findings() const;
};

/// `progress` is called on this thread, a few times a second at most. Nullopt when stopped.
/// Throws weft::Error{data} when the section cannot be opened at all. Any thread.
std::optional<ScanReport> scan(const config::Json& data_section, const OpenContext& context,
                               const std::function<void(const ScanProgress&)>& progress = {},
                               std::stop_token stop = {});

} // namespace weft::data
