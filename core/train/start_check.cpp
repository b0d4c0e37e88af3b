// SPDX-License-Identifier: Apache-2.0
#include "core/train/start_check.h"

#include "core/base/error.h"
#include "core/compile/mesh/mesh_config.h"
#include "core/compile/programs/model_sketch.h"
#include "core/compile/programs/programs.h"
#include "core/data/files/named_files.h"
#include "core/store/address.h"
#include "core/train/compute.h"

namespace weft::train {
namespace {

bool is_planned_elsewhere(const compile::RunConfig& config) {
    return compile::is_planned_hardware(config.section("mesh").at("devices").get<std::string>());
}

} // namespace

config::Diagnostics missing_files(const compile::RunConfig& config) {
    config::Diagnostics out;
    if (is_planned_elsewhere(config)) {
        return out;
    }
    for (const data::NamedFile& file :
         data::missing_files(config.section("data"), config.base_dir)) {
        out.push_back({"/data" + file.pointer, config::Severity::error,
                       file.path.string() + " is not there",
                       "Put it back, or name where the data are now."});
    }
    try {
        if (loads_modules() || !names_gpus(config)) {
            compute_of(config);
        }
    } catch (const Error& fault) {
        const bool precision = fault.where() == "training.precision";
        out.push_back({precision ? "/training/precision" : "/mesh/devices", config::Severity::error,
                       fault.text(), fault.hint()});
    }
    const config::Json& from = config.section("init").at("from");
    std::error_code problem;
    if (!from.is_null() && !store::is_address(from.get<std::string>())) { // those: when fetched
        const auto path =
            (config.base_dir / from.get<std::string>()).lexically_normal(); // absolute stays
        if (!std::filesystem::exists(path, problem)) {
            out.push_back({"/init/from", config::Severity::error, path.string() + " is not there",
                           "Name the folder of a checkpoint, of a run or of a model of Hugging "
                           "Face's, or a safetensors file; none starts with random weights."});
        }
    }
    return out;
}

std::map<std::string, std::filesystem::path> data_files(const compile::RunConfig& config) {
    const config::Json& section = config.section("data");
    std::map<std::string, std::filesystem::path> out;
    for (const data::NamedFile& file : data::files_of_section(section, config.base_dir)) {
        const config::Json::json_pointer field(file.pointer);
        if (!store::is_address(section.at(field).get<std::string>())) {
            out["/data" + file.pointer] = file.path;
        }
    }
    return out;
}

config::Diagnostics misfits(const compile::RunConfig& config, const std::stop_token& stop) {
    data::OpenContext context{config.base_dir, config.context(), config.seed};
    context.stop = stop;
    try {
        const data::DataOutline data = data::outline_data(
            config.section("data"), context,
            is_planned_elsewhere(config) ? data::Files::may_be_absent : data::Files::must_exist);
        compile::ModelSketch sketch;
        compile::sketch_model(config, data.sample, sketch);
        if (!config.section("init").at("lora").is_null()) {
            compile::count_parameters(config, data.sample); // throws where factors do not fit
        }
        config::Diagnostics warnings;
        for (const std::string& warning : data.warnings) {
            warnings.push_back({"/data/train", config::Severity::warning, warning, ""});
        }
        return warnings;
    } catch (const Error& error) {
        if (stop.stop_requested()) {
            return {};
        }
        if (error.kind() == ErrorKind::usage) {
            return {{compile::pointer_of_layer(error.where()), config::Severity::error,
                     error.text(), error.hint()}};
        }
        if (const std::string& where = error.where();
            where.starts_with("/data/") && where.find('~') == std::string::npos &&
            config.document.contains(config::Json::json_pointer(where))) {
            return {{where, config::Severity::error, error.text(), error.hint()}};
        }
        return {{"/data/train", config::Severity::error, error.where() + ": " + error.text(),
                 error.hint()}};
    }
}

} // namespace weft::train
