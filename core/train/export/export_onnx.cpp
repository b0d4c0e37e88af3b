// SPDX-License-Identifier: Apache-2.0
#include "core/train/export/export_onnx.h"

#include "core/base/error.h"
#include "core/compile/programs/model_sketch.h"
#include "core/onnx/from_program.h"
#include "core/onnx/write_onnx.h"
#include "core/train/engine.h"
#include "core/train/planning.h"
#include "core/train/warm_start.h"

#include <cstring>

namespace weft::train {
namespace {

std::string values_of(const foreign::Arrays& weights, const std::string& name) {
    const foreign::Array* array = weights.find(name);
    if (array == nullptr) {
        throw Error(ErrorKind::checkpoint, weights.path.string(), "there is no array " + name,
                    "The checkpoint is of another model; `weft verify` says what it holds.");
    }
    const std::vector<float> values = foreign::read_floats(weights, *array);
    std::string out(values.size() * sizeof(float), '\0');
    std::memcpy(out.data(), values.data(), out.size());
    return out;
}

} // namespace

void export_onnx(const std::filesystem::path& file, const checkpoint::Manifest& manifest) {
    const compile::RunConfig config = saved_config(manifest);
    const data::SampleInfo sample = outline_run_data(config, {}).sample;
    const onnx::Graph graph = onnx::from_program(compile::model_program(config, sample, 2),
                                                 compile::model_program(config, sample, 3));
    const foreign::Arrays weights = weights_of(manifest);
    onnx::write_onnx(file, graph,
                     {{"run", manifest.record.config.value("name", std::string())},
                      {"step", std::to_string(manifest.record.step)}},
                     [&](const onnx::Port& weight) { return values_of(weights, weight.name); });
}

} // namespace weft::train
