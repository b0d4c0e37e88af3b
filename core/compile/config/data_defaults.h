// SPDX-License-Identifier: Apache-2.0
// Defaults that follow the data: a hundred rows and a million need other batches and lengths.
#pragma once

#include "core/data/dataset.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

namespace weft::compile {

/// Samples per update: a power of two that still gives a small set some tens of updates an epoch,
/// 256 at most.
std::int64_t fitted_batch(std::int64_t samples);

/// Whether the type of the training data says that its samples have classes; else nobody knows.
bool gives_classes(const config::Json& document);

/// Whole epochs that make some 2,000 updates, 5 at least and 200 at most.
std::int64_t fitted_epochs(std::int64_t samples, std::int64_t batch);

/// The outline of a checked "data" section; nullopt: it cannot be had, or not now.
using DataLook = std::function<std::optional<data::DataOutline>(const config::Json& section,
                                                                const data::OpenContext& context)>;

/// Reads the files, which may take long.
std::optional<data::DataOutline> look_at_data(const config::Json& section,
                                              const data::OpenContext& context);

/// Fills what `raw`, the document before checking, leaves out of a checked document: loss, batch,
/// length, the metric of "best", early stopping, and that targets which are shares are not
/// standardised. Looks only where that decides something; the
/// table's defaults stay where there is no outline, or the model reads tokens.
void fill_data_defaults(const config::Json& raw, const std::filesystem::path& base_dir,
                        const DataLook& look, config::Json& document);

} // namespace weft::compile
