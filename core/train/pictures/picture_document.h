// SPDX-License-Identifier: Apache-2.0
// What is kept of an evaluation of a model that makes samples: samples of the data, what the model
// gives back of them, and what it makes of the same latents every time.
#pragma once

#include "core/train/pictures/picture_sheet.h"

#include <optional>

namespace weft::train {

/// A document of samples/, and the picture that lies beside it.
struct PictureDocument {
    /// {"step", "kind": "pictures", "split", "sheet": file name, "cell": [height, width],
    /// "samples": [{index, class?, name?}], "rows": ["data", "reconstruction", "made"]}: row by row
    /// of the sheet, a column per sample; the class is that of the made one. A model that gives
    /// nothing back has no reconstructions.
    config::Json document;
    std::string sheet; // a PNG
};

/// Of the first `count` samples of `source`. `transforms` are those of its data, fitted; latents
/// are drawn by `seed`. Nullopt where samples are no pictures, or none are asked for.
std::optional<PictureDocument> picture_document(exec::Executor& executor,
                                                const data::Source& source,
                                                const std::string& split,
                                                const config::Json& transforms, std::uint64_t seed,
                                                std::int64_t step, std::int64_t count);

} // namespace weft::train
