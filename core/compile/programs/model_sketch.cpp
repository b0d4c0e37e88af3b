// SPDX-License-Identifier: Apache-2.0
#include "core/compile/programs/model_sketch.h"

#include "core/base/text.h"
#include "core/compile/programs/model_programs.h"
#include "core/data/text/token_samples.h"
#include "core/ir/model_text.h"
#include "core/nn/models/graph_text.h"
#include "core/ops/op_def.h"

namespace weft::compile {
namespace {

double flops_of(const ir::Program& program, const ir::Op& op) {
    return ops::cost_of(ops::OpView{program, op}).flops;
}

/// Takes over what the context learned, also when building ends in an error.
class Record {
public:
    Record(const nn::ModelContext& context, ModelSketch& sketch)
        : context_(context), sketch_(sketch) {}
    Record(const Record&) = delete;
    Record& operator=(const Record&) = delete;
    ~Record() {
        for (const nn::Variable& variable : context_.variables()) {
            if (variable.kind == nn::Variable::Kind::parameter) {
                sketch_.parameters.push_back({variable.name, variable.shape});
            }
        }
        for (const ir::Op& op : sketch_.program.body.ops) {
            sketch_.flops.push_back(flops_of(sketch_.program, op));
        }
    }

private:
    const nn::ModelContext& context_;
    ModelSketch& sketch_;
};

} // namespace

void sketch_model(const RunConfig& config, const data::SampleInfo& sample, ModelSketch& sketch) {
    sketch = {};
    const nn::ModelDef* model = nn::find_model(config.model_type());
    WEFT_CHECK(model != nullptr, "the configuration was checked");
    ir::Program& program = sketch.program;
    program.name = "model";
    const nn::DataShape data = data_shape(config, sample);
    const ir::ValueId inputs =
        program.add_argument(ir::Role::batch, "inputs", batched(data.input, {1}));
    nn::Surroundings around{.mode = nn::Mode::train, .data = data};
    around.random = program.add_argument(ir::Role::scalar, "random", {ir::DType::i64, {3}});
    around.weights = program.add_argument(ir::Role::batch, "weights", {ir::DType::f32, {1}});
    if (model->takes_labels && data.classes > 0 && data.target.shape.rank() == 0) {
        around.labels = program.add_argument(ir::Role::batch, "labels", {ir::DType::i32, {1}});
    }
    ops::Builder builder(program, program.body);
    nn::ModelContext context(builder, around);
    const Record record(context, sketch);
    const ir::ValueId output = model->build(context, config.section("model"), inputs);
    program.add_result(ir::Role::output, "prediction", output);
}

ir::Program model_program(const RunConfig& config, const data::SampleInfo& sample,
                          std::int64_t samples) {
    const nn::ModelDef* model = nn::find_model(config.model_type());
    WEFT_CHECK(model != nullptr, "the configuration was checked");
    ir::Program program;
    program.name = "model";
    nn::DataShape data = data_shape(config, sample);
    data.input = data::one_sequence(sample.input);
    const ir::ValueId inputs =
        program.add_argument(ir::Role::batch, "inputs", batched(data.input, {samples}));
    ops::Builder builder(program, program.body);
    nn::ModelContext context(builder, {.mode = nn::Mode::evaluate, .data = data});
    const ir::ValueId output = model->build(context, config.section("model"), inputs);
    program.add_result(ir::Role::output,
                       data.point > 0       ? kPointPort
                       : data.symbols > 0   ? "logits"
                       : sample.classes > 0 ? "logits"
                                            : "values",
                       output);
    return program;
}

std::string pointer_of_layer(const std::string& path) {
    if (path.starts_with('/')) {
        return path;
    }
    std::string out = "/model";
    if (path.empty() || path == "model") {
        return out; // the whole: what it gives is not what the data needs
    }
    if (ir::read_place(path)) {
        return out + "/text";
    }
    const std::vector<std::string> parts = split(path, '.');
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (parts[i] == "copies") {
            ++i; // the number of one: all are made of one description
        } else if (parts[i] != "layers" || i < 2 || parts[i - 2] != "branches") {
            out += "/" + parts[i]; // branches are lists of layers without a name between
        }
    }
    return out;
}

std::string text_of_model(const RunConfig& config, const data::SampleInfo& sample) {
    const nn::ModelDef* model = nn::find_model(config.model_type());
    WEFT_CHECK(model != nullptr, "the configuration was checked");
    return nn::text_of_model(*model, config.section("model"), data_shape(config, sample));
}

} // namespace weft::compile
