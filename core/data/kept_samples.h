// SPDX-License-Identifier: Apache-2.0
// Decoded samples in a file of the cache folder ("data.cache": "disk"): written once, read from
// there afterwards, by other runs too, in memory that does not grow with their number.
#pragma once

#include "core/base/file.h"
#include "core/data/dataset.h"

#include <memory>
#include <string>

namespace weft::data {

/// $XDG_CACHE_HOME/weft/samples, else ~/.cache/weft/samples. Its files may be deleted whenever
/// nothing uses them.
Path kept_samples_folder();

struct KeptSamples {
    Path folder;         // kept_samples_folder()
    std::string key;     // all that samples depend on, as text
    std::string part;    // "train", for notes
    bool pixels = false; // every input is a number of 0 ... 255, divided by 255: a byte each
};

/// What the samples of one part of a section depend on: its settings, their files by size and time,
/// the seed, the context and the tokenizer. Empty where a file was written in the last two seconds:
/// it could be written again without a change of these. Throws weft::Error{data} for files that
/// cannot be looked at.
std::string key_of_samples(const config::Json& section, const OpenContext& context,
                           const std::string& part);

/// The same samples in the same blocks, read from `how.folder`. They are read from `source` and
/// written there where no file has this key; one that is not whole never has that name. Damaged
/// samples are read from `source` again whenever they are asked for. What is read is checked
/// against its checksum when it is first used. Throws weft::Error{data}: no room, a damaged file;
/// {runtime} once context.stop is asked for.
std::shared_ptr<const Source> kept_on_disk(std::shared_ptr<const Source> source,
                                           const KeptSamples& how, const OpenContext& context,
                                           Notes& notes);

} // namespace weft::data
