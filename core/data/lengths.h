// SPDX-License-Identifier: Apache-2.0
// How long the texts are that the samples of a language model are made of, beside what it reads at
// once. Any thread.
#pragma once

#include "core/data/dataset.h"

#include <optional>

namespace weft::data {

struct Lengths {
    /// What becomes of a text that is longer than the context.
    enum class Beyond : std::uint8_t { goes_on, cut_off, left_out };

    std::string things{};     // in the plural: "conversations", "documents", "files"
    std::string unit{};       // "tokens"; "bytes" where these are the tokens
    std::int64_t context = 0; // so many are read at once
    Beyond beyond = Beyond::goes_on;
    /// How texts share samples.
    enum class Sharing : std::uint8_t {
        run,    // one follows the other, from sample to sample
        apart,  // each is a sample; what it leaves of the context is padding
        packed, // as many as have room are one
    };
    Sharing sharing = Sharing::run;
    /// Ascending. Of texts that do not run on, without the last token, which is predicted and never
    /// read.
    std::vector<std::int64_t> each{};
    bool all = true; // otherwise those in the first kMostMeasuredBytes

    std::int64_t longer() const; // than the context
    double median() const;
    /// Of all positions of samples that are one text each, 0 to 1; 0 of others.
    double padding() const;
};
inline constexpr std::int64_t kMostMeasuredBytes = 256 << 20; // of files

/// Lengths from first to last, both included.
struct LengthRange {
    std::int64_t first = 0, last = 0;
    std::int64_t count = 0;
};

/// Ranges without a gap whose ends double, from 0 to the longest; one of them ends with the
/// context. None where there are no texts.
std::vector<LengthRange> length_ranges(const Lengths& lengths);

/// What the context cuts off and what is padding, a sentence each.
std::vector<std::string> length_findings(const Lengths& lengths);

/// Of what "train", "validation" or "test" of a section reads, before a share is taken out of it.
/// Reads the files again. Nullopt: its samples are no texts of a length of their own, or the part
/// has no source. Throws weft::Error as open_data does.
std::optional<Lengths> lengths_of(const config::Json& data_section, const OpenContext& context,
                                  const std::string& part = "train");

} // namespace weft::data
