// SPDX-License-Identifier: Apache-2.0
// Whether a run could begin: what checking a configuration alone cannot tell.
#pragma once

#include "core/compile/config/run_config.h"

#include <filesystem>
#include <map>
#include <stop_token>
#include <string>

namespace weft::train {

/// Files, folders and devices that a configuration names and that are not there, or a precision
/// that its devices do not have: an error each, at the field that names it. Reads no file but still
/// asks the file system, which can take its time. Empty for a mesh of hardware that need not be
/// here.
config::Diagnostics missing_files(const compile::RunConfig& config);

/// Files and folders that its data section names, those in object stores left out, by the field
/// that names each: "/data/train/path".
std::map<std::string, std::filesystem::path> data_files(const compile::RunConfig& config);

/// What the data turn out to be and whether the model takes them: the first error, at the source or
/// the layer, or what is said of the data's values. Looks at names, sizes, headers and some values.
/// When `stop` ends it nothing is found.
config::Diagnostics misfits(const compile::RunConfig& config, const std::stop_token& stop = {});

} // namespace weft::train
