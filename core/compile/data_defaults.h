// SPDX-License-Identifier: Apache-2.0
// Defaults that follow the data: a hundred rows and a million need other batches and lengths.
#pragma once

#include "core/config/field.h"

#include <cstdint>
#include <filesystem>

namespace weft::compile {

/// Samples per update: a power of two that still gives a small set some tens of updates an epoch,
/// 256 at most.
std::int64_t fitted_batch(std::int64_t samples);

/// Whole epochs that make some 2,000 updates, 5 at least and 200 at most.
std::int64_t fitted_epochs(std::int64_t samples, std::int64_t batch);

/// Fills what `raw`, the document before checking, leaves out of a checked document: loss, batch,
/// length, the metric of "best" and early stopping. Looks at the data's outline; where that cannot
/// be had, or the model reads tokens, the table's defaults stay.
void fill_data_defaults(const config::Json& raw, const std::filesystem::path& base_dir,
                        config::Json& document);

} // namespace weft::compile
