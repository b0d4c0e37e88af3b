// SPDX-License-Identifier: Apache-2.0
#include "core/train/start_files.h"

#include "core/data/named_files.h"

namespace weft::train {

config::Diagnostics missing_files(const compile::RunConfig& config) {
    config::Diagnostics out;
    for (const data::NamedFile& file :
         data::missing_files(config.section("data"), config.base_dir)) {
        out.push_back({"/data" + file.pointer, config::Severity::error,
                       file.path.string() + " is not there",
                       "Put it back, or name where the data are now."});
    }
    const config::Json& from = config.section("init").at("from");
    std::error_code problem;
    if (!from.is_null()) {
        const auto path =
            (config.base_dir / from.get<std::string>()).lexically_normal(); // absolute stays
        if (!std::filesystem::exists(path, problem)) {
            out.push_back({"/init/from", config::Severity::error, path.string() + " is not there",
                           "Name the folder of a checkpoint or of a run, or a safetensors file; "
                           "null starts with random weights."});
        }
    }
    return out;
}

} // namespace weft::train
