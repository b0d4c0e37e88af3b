// SPDX-License-Identifier: Apache-2.0
// Any model as model text: built for two and for three samples, and written where both agree.
#include "core/nn/models/graph_text.h"

#include "core/base/error.h"
#include "core/base/text.h"

#include <algorithm>

namespace weft::nn {
namespace {

using ir::Role;

[[noreturn]] void cannot(const ModelDef& model, const std::string& why) {
    throw Error(ErrorKind::usage, "/model/type",
                std::string(model.name) + " cannot be written as text: " + why,
                "Write a model without it.");
}

ir::WrittenValue defined(const ir::Program& program, ir::ValueId id) {
    return {id.index, program.type(id), {}};
}

ir::Attributes start_attributes(const Variable& variable) {
    ir::Attributes out;
    const bool scaled =
        variable.init.kind != Init::Kind::zeros && variable.init.kind != Init::Kind::ones;
    constexpr const char* kNames[] = {"zeros",   "ones", "normal", "uniform", "truncated_normal",
                                      "constant"};
    out.set("init", std::string(kNames[static_cast<int>(variable.init.kind)]));
    if (scaled) {
        out.set("scale", variable.init.scale);
    }
    const auto& axes = variable.logical_axes;
    if (std::any_of(axes.begin(), axes.end(), [](const auto& axis) { return !axis.empty(); })) {
        std::vector<std::string> names = axes;
        std::replace(names.begin(), names.end(), std::string(), std::string("-"));
        out.set("axes", join(names, " "));
    }
    return out;
}

ir::WrittenOp written(const ModelDef& model, const ir::Program& program, const ir::Op& op) {
    if (op.structured()) {
        cannot(model, "it has loops");
    }
    ir::WrittenOp out;
    for (const ir::ValueId id : op.outputs) {
        out.outputs.push_back(defined(program, id));
    }
    for (const ir::ValueId id : op.inputs) {
        out.inputs.push_back({id.index, {}, {}});
    }
    out.kind = op.kind;
    out.attributes = op.attributes;
    out.path = op.path;
    return out;
}

ir::ModelText built(const ModelDef& model, const config::Json& settings, const DataShape& data,
                    std::int64_t samples) {
    ir::Program program;
    ir::Shape shape{samples};
    for (const std::int64_t extent : data.input.shape) {
        shape.push_back(extent);
    }
    const ir::ValueId inputs =
        program.add_argument(Role::batch, "inputs", {data.input.dtype, shape});
    Surroundings around{.mode = Mode::train, .data = data};
    around.random = program.add_argument(Role::scalar, "random", {ir::DType::i64, {3}});
    around.weights = program.add_argument(Role::batch, "weights", {ir::DType::f32, {samples}});
    ops::Builder builder(program, program.body);
    ModelContext context(builder, around);
    const ir::ValueId prediction = model.build(context, settings, inputs);
    if (context.penalty().valid()) {
        cannot(model, "it adds to the loss");
    }
    if (!context.published().empty()) {
        cannot(model, "its loss reads more than its output");
    }
    ir::ModelText out;
    out.name = model.name;
    out.arguments = {{defined(program, inputs), Role::batch, "inputs", {}},
                     {defined(program, around.random), Role::scalar, "random", {}}};
    for (const Variable& variable : context.variables()) {
        if (variable.kind != Variable::Kind::parameter) {
            cannot(model, "it has running statistics");
        }
        out.arguments.push_back({defined(program, variable.value), Role::state, variable.name,
                                 start_attributes(variable)});
    }
    for (const ir::Op& op : program.body.ops) {
        out.ops.push_back(written(model, program, op));
    }
    out.results = {{{prediction.index, {}, {}}, Role::output, "prediction", {}}};
    return out;
}

} // namespace

std::string text_of_model(const ModelDef& model, const config::Json& settings,
                          const DataShape& data) {
    const auto text =
        ir::write_model_text(built(model, settings, data, 2), built(model, settings, data, 3));
    return text ? *text : (cannot(model, "its ops depend on the number of samples"), "");
}

} // namespace weft::nn
