// SPDX-License-Identifier: Apache-2.0
// A model as text of its own: ops, one after the other, as the plan shows them
// (core/ir/model_text.h). Tensors are called what the text calls them.
#include "core/nn/layers/layer_def.h"
#include "core/nn/models/graph_text.h"
#include "core/nn/models/model_list.h"

#include "core/base/error.h"
#include "core/ir/model_text.h"

#include <map>

namespace weft::nn {
namespace {

using config::Json;

constexpr std::int64_t kMostPositions = 1 << 20;

config::FieldTable graph_fields() {
    return {config::path_field("path", nullptr,
                               "File with the model's text; read when the configuration is.")
                .or_null(),
            config::text_field("text", nullptr,
                               "The text itself; where it is given, path only says where it is "
                               "from. `weft plan --model-text` prints that of any model.")
                .or_null(),
            config::integer_field("context", nullptr,
                                  "Positions of an ONNX graph of tokens that takes any number of "
                                  "them; null: as its input says.")
                .or_null()
                .range(1, kMostPositions)
                .in("tokens")};
}

/// [B, T] tokens: T; else 0.
std::int64_t positions_of(const ir::ModelText& text) {
    for (const ir::WrittenPort& port : text.arguments) {
        const auto& type = port.value.type;
        if (port.role == ir::Role::batch && type && type->dtype == ir::DType::i32 &&
            type->shape.rank() == 2) {
            return type->shape[1];
        }
    }
    return 0;
}

std::int64_t graph_context_length(const Json& settings) {
    if (!settings.at("text").is_string()) {
        return 0;
    }
    try {
        return positions_of(ir::read_model_text(settings.at("text").get<std::string>(), 1));
    } catch (const Error&) {
        return 0; // check_graph says what is wrong
    }
}

void check_graph(const Json& settings, const std::string& pointer, config::Diagnostics& out) {
    if (settings.at("text").is_null()) {
        if (settings.at("path").is_null()) {
            out.push_back({pointer + "/path", config::Severity::error,
                           "a graph has neither a file nor a text",
                           "Name a file with the model's text, or write it into \"text\"."});
        }
        return; // a file that cannot be read is told by who reads it
    }
    try {
        const ir::ModelText text = ir::read_model_text(settings.at("text").get<std::string>(), 1);
        check_model_text(text);
        const Json& context = settings.at("context");
        if (const std::int64_t has = positions_of(text); !context.is_null() && context != has) {
            out.push_back({pointer + "/context", config::Severity::error,
                           "the text is for " + std::to_string(has) + " positions of tokens, not " +
                               context.dump(),
                           "Leave it out, or take the graph anew from a file with any number."});
        }
    } catch (const Error& error) {
        out.push_back({pointer + "/text", config::Severity::error,
                       error.where() + ": " + error.text(), error.hint()});
    }
}

class GraphBuilder {
public:
    GraphBuilder(ModelContext& context, ir::ValueId inputs) : context_(context), inputs_(inputs) {}

    ir::ValueId build(const ir::ModelText& text) {
        for (const ir::WrittenPort& port : text.arguments) {
            at(port.value.place, [&] { argument(port); });
        }
        for (const ir::WrittenOp& op : text.ops) {
            at(op.place, [&] { append(op); });
        }
        context_.builder().set_path({});
        const ir::WrittenValue& result = text.results.front().value;
        const ir::ValueId prediction = values_.at(result.number);
        at(result.place, [&] { require_result(prediction); });
        return prediction;
    }

private:
    /// What is wrong in `work` is wrong at `place`.
    template <class Work>
    static void at(ir::TextPlace place, const Work& work) {
        try {
            work();
        } catch (const Error& error) {
            throw Error(ErrorKind::usage, ir::to_text(place) + " of the model's text", error.text(),
                        error.hint());
        }
    }

    void argument(const ir::WrittenPort& port) {
        ir::ValueId value;
        if (port.role == ir::Role::state) {
            const StateStart start = start_of(port);
            value =
                start.trained
                    ? context_.parameter(port.name, port.value.type->shape, start.init, start.axes)
                    : context_.statistic(port.name, port.value.type->shape, start.init);
            names_.emplace(port.value.number, port.name);
            layers_.emplace(port.value.number, port.name.substr(0, port.name.rfind('.')));
        } else if (port.role == ir::Role::batch) {
            value = inputs_;
            require_type(port.value, value, "the data gives ");
        } else {
            value = context_.random(); // of no worth but in training, where alone it is used
        }
        values_.emplace(port.value.number, value);
    }

    void append(const ir::WrittenOp& op) {
        context_.builder().set_path(path_of(op));
        ir::ValueIds inputs;
        for (const ir::WrittenValue& input : op.inputs) {
            inputs.push_back(values_.at(input.number));
        }
        if (keeps_statistics(op)) {
            values_.emplace(op.outputs.front().number, normalised(op, inputs));
            require_type(op.outputs.front(), values_.at(op.outputs.front().number),
                         "batch_norm gives ");
            return;
        }
        const auto random = random_operand(op.kind, op.attributes);
        ir::Attributes attributes = op.attributes;
        if (random && *random < inputs.size() && !context_.training()) {
            if (op.kind == "dropout") {
                values_.emplace(op.outputs.front().number, inputs.front());
                return;
            }
            inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(*random));
            attributes = without_dropout(op.attributes);
        }
        const auto outputs =
            context_.builder().emit_all(op.kind, std::move(inputs), std::move(attributes));
        if (outputs.size() != op.outputs.size()) {
            context_.fail(op.kind + " gives " + std::to_string(outputs.size()) + " values, not " +
                              std::to_string(op.outputs.size()),
                          "Name every value that it gives, as in %7, %8 = ...");
        }
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            values_.emplace(op.outputs[i].number, outputs[i]);
            require_type(op.outputs[i], outputs[i], op.kind + " gives ");
        }
    }

    ir::ValueId normalised(const ir::WrittenOp& op, const ir::ValueIds& inputs) {
        for (std::size_t i = 1; i < inputs.size(); ++i) {
            const ir::Type& type = context_.builder().type(inputs[i]);
            if (type.shape != ir::Shape{context_.shape(inputs[0]).back()}) {
                context_.fail("operand " + std::to_string(i) + " of batch_norm is " +
                              text_of(type) + ", not one number per channel");
            }
        }
        const ir::Attribute* eps = op.attributes.find("eps");
        const ir::Attribute* momentum = op.attributes.find("momentum");
        const auto* small = eps == nullptr ? nullptr : std::get_if<double>(eps);
        const auto* share = momentum == nullptr ? nullptr : std::get_if<double>(momentum);
        if (op.outputs.size() != 1 || op.attributes.size() != 2 || small == nullptr ||
            share == nullptr || *small <= 0 || *share < 0 || *share > 1) {
            context_.fail("batch_norm of running statistics gives one value and takes eps above 0 "
                          "and momentum from 0 to 1",
                          "as in {eps=1e-5, momentum=0.1}");
        }
        const BatchNormResult out = batch_norm_of(
            context_, inputs[0], {inputs[1], inputs[2], inputs[3], inputs[4]}, *share, *small);
        if (context_.training()) {
            context_.builder().set_path({});
            context_.update(names_.at(op.inputs[3].number), out.mean);
            context_.update(names_.at(op.inputs[4].number), out.variance);
        }
        return out.y;
    }

    /// Logits for more tokens than the data has are those of a longer vocabulary.
    void require_result(ir::ValueId prediction) {
        const ir::Shape& shape = context_.shape(prediction);
        const DataShape& data = context_.data();
        const bool tokens = data.classes > 0 && data.target.shape.rank() == 1;
        if (!tokens || shape.rank() != 3) {
            require_prediction(context_, prediction);
        } else if (shape.back() < data.classes) {
            context_.fail("it gives logits of " + std::to_string(shape.back()) +
                              " tokens, but the data has " + std::to_string(data.classes),
                          "Use the tokenizer of the model, or data of fewer tokens.");
        }
    }

    static ir::Attributes without_dropout(const ir::Attributes& all) {
        ir::Attributes out;
        for (const auto& [name, value] : all) {
            if (name != "rate" && name != "stream") {
                out.set(name, value);
            }
        }
        return out;
    }

    /// As written; else the layer of the first weight it reads; else that of the line before.
    std::string path_of(const ir::WrittenOp& op) const {
        if (op.path) {
            return *op.path;
        }
        for (const ir::WrittenValue& input : op.inputs) {
            if (const auto found = layers_.find(input.number); found != layers_.end()) {
                return found->second;
            }
        }
        return context_.path();
    }

    void require_type(const ir::WrittenValue& written, ir::ValueId value, const std::string& what) {
        const ir::Type& type = context_.builder().type(value);
        if (written.type && !(*written.type == type)) {
            context_.fail(what + text_of(type) + ", but the line says " + text_of(*written.type));
        }
    }

    /// "f32[B,10]": the first extent is what B stands for.
    std::string text_of(const ir::Type& type) const {
        std::string out(ir::dtype_name(type.dtype));
        for (int dim = 0; dim < type.shape.rank(); ++dim) {
            const bool samples = dim == 0 && type.shape[dim] == context_.shape(inputs_)[0];
            out += (dim == 0 ? "[" : ",") + (samples ? "B" : std::to_string(type.shape[dim]));
        }
        return out + (type.shape.rank() == 0 ? "[]" : "]");
    }

    ModelContext& context_;
    ir::ValueId inputs_;
    std::map<std::int32_t, ir::ValueId> values_;
    std::map<std::int32_t, std::string> layers_; // of the weights
    std::map<std::int32_t, std::string> names_;  // of the weights
};

ir::ValueId build_graph(ModelContext& context, const Json& settings, ir::ValueId inputs) {
    const ir::ModelText text =
        ir::read_model_text(settings.at("text").get<std::string>(), context.shape(inputs)[0]);
    check_model_text(text);
    return GraphBuilder(context, inputs).build(text);
}

} // namespace

const ModelDef kGraphModel = {"graph",
                              "Ops one by one, as program text.",
                              "as the text calls them\n",
                              graph_fields,
                              build_graph,
                              check_graph,
                              graph_context_length,
                              nullptr,
                              nullptr,
                              false};

} // namespace weft::nn
