// SPDX-License-Identifier: Apache-2.0
// Whether the files that a run begins with are there.
#pragma once

#include "core/compile/run_config.h"

namespace weft::train {

/// Files and folders that the data and the start weights of a configuration name and that are not
/// there: an error each, at the field that names it. Reads nothing but still asks the file system,
/// which can take its time.
config::Diagnostics missing_files(const compile::RunConfig& config);

} // namespace weft::train
