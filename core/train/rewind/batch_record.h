// SPDX-License-Identifier: Apache-2.0
// A training batch as it is kept when a run has diverged: which samples it has, and some of them as
// pictures, text or numbers, as the model saw them.
#pragma once

#include "core/checkpoint/safetensors.h"
#include "core/config/json.h"
#include "core/data/loader.h"

#include <string>
#include <vector>

namespace weft::train {

struct BatchRecord {
    /// {"epoch", "first": position in the epoch, "indices": [of the samples, row by row],
    /// "kind": "pictures" | "text" | "numbers", "cell": [height, width] of pictures,
    /// "input_names": [...], "shown": [{"row", "index", "place", "suspect", "label"?, "name"?,
    /// "text"?, "values"?}]}; null: the batch was not read.
    config::Json document = nullptr;
    std::string sheet; // pictures of those shown, one beside the other: a PNG; may be empty
    std::vector<checkpoint::ArrayToWrite> arrays; // inputs, targets and weights, where not too many
};

/// `suspects`: rows that are shown first. `transforms` are those of the data.
BatchRecord record_batch(const data::Batch& batch, const data::Source& source,
                         const data::Sampler& sampler, const config::Json& transforms,
                         const std::vector<std::int64_t>& suspects);

} // namespace weft::train
