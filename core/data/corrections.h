// SPDX-License-Identifier: Apache-2.0
// What a person has decided about single samples: left out, or given another class. A list beside
// the data, which stay as they are ("data.corrections"). JSON Lines, one decision each:
//
//   {"part": "train", "index": 17, "crc32c": "0a1b2c3d", "action": "exclude", "why": "twice"}
//   {"part": "train", "index": 40, "crc32c": "99e0c211", "action": "label", "label": 3}
//
// A sample is known by its number among those of its files, before validation is taken out, and by
// the checksum of what it holds, so that a list is never applied to other data.
#pragma once

#include "core/base/file.h"
#include "core/data/split.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace weft::data {

struct Correction {
    std::string part; // "train", "validation"
    std::int64_t index = 0;
    std::uint32_t crc32c = 0;
    std::int32_t label = -1; // the class that it has from now on; -1: it is left out
    std::string why;         // for people; may be empty
    int line = 0;            // of the file

    bool excludes() const { return label < 0; }
};

/// Throws weft::Error{data} that names file and line: what it is not, a sample twice.
std::vector<Correction> read_corrections(const Path& file);
/// Replaces the file. Throws weft::Error{runtime}.
void write_corrections(const Path& file, const std::vector<Correction>& corrections);

/// CRC-32C of a sample's input and target as `source` gives them.
std::uint32_t sample_checksum(const Source& source, std::int64_t index);

/// Those of one part, beside the samples that they are about.
class PartCorrections {
public:
    PartCorrections() = default;
    /// `source`: the part as its files have it. Throws weft::Error{data}: a sample that is not
    /// there or holds something else, a class that there is not, data that are read block by block.
    PartCorrections(const Path& file, const std::vector<Correction>& all, std::string_view part,
                    const Source& source);

    bool empty() const { return excluded_.empty() && labels_.empty(); }
    /// The samples that stay, ascending as before. Throws weft::Error{data} where none does.
    std::vector<std::int64_t> kept(const std::vector<std::int64_t>& indices) const;
    std::vector<std::int64_t> kept(std::int64_t samples) const;
    /// The same samples with their new classes, told of without those that are left out.
    std::shared_ptr<const Source> relabelled(std::shared_ptr<const Source> source) const;
    /// "12 samples left out, 3 with another class"
    std::string text() const;

private:
    Path file_;
    std::vector<std::int64_t> excluded_; // ascending
    std::map<std::int64_t, std::int32_t> labels_;
    std::uint32_t checksum_ = 0; // of the decisions
};

} // namespace weft::data
