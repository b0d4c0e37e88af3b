// SPDX-License-Identifier: Apache-2.0
// Samples into an HDF5 file, a block at a time: memory does not grow with the file.
#pragma once

#include "core/data/dataset.h"

#include <filesystem>

namespace weft::data {

struct WrittenSamples {
    std::int64_t train = 0;
    std::int64_t test = 0;
    std::int64_t bytes = 0; // of the file
};

/// Writes the samples of a "data" section's train, and of its test part where it has one, as they
/// are before transforms, to `to`: data sets x_train and y_train, x_test and y_test, as Keras
/// names its own, which recognise finds. Numbers to predict are in their own units. The file is
/// there when it is complete. `context.on_opening` hears how far it is, also of the samples
/// written. Throws weft::Error{usage} where `to` is there already, or samples are tokens; {data}
/// for a sample that cannot be read; {runtime} for a disk that is too small, or once `context.stop`
/// is asked.
WrittenSamples write_samples(const config::Json& data_section, const OpenContext& context,
                             const std::filesystem::path& to);

} // namespace weft::data
