// SPDX-License-Identifier: Apache-2.0
// Fully connected layer, flatten and the list walk that all containers share.
#include "core/nn/layers/layer_list.h"
#include "core/nn/layers/lora.h"

#include <algorithm>

namespace weft::nn {

config::Field layers_field(std::string name, int depth, std::string help) {
    std::vector<config::RecordType> records;
    for (const LayerDef* layer : kLayers) {
        if (depth > 0 || !layer->structured) {
            records.push_back(
                {std::string(layer->name), std::string(layer->help), layer->fields(depth - 1)});
        }
    }
    return config::list_field(
               std::move(name), nullptr,
               config::record_field("layer", nullptr, std::move(records), "One layer.")
                   .must_be_given(),
               std::move(help))
        .must_be_given();
}

ir::ValueId build_layers(ModelContext& context, const config::Json& list, std::string_view name,
                         ir::ValueId x) {
    for (std::size_t i = 0; i < list.size(); ++i) {
        const auto& type = list[i].at("type").get_ref<const std::string&>();
        const auto found = std::find_if(kLayers.begin(), kLayers.end(),
                                        [&](const LayerDef* def) { return def->name == type; });
        WEFT_CHECK(found != kLayers.end(), "the configuration was checked: layer " + type);
        const Scope scope(context, std::string(name) + "." + std::to_string(i));
        x = (*found)->build(context, list[i], x);
    }
    return x;
}

ir::ValueId flatten(ModelContext& context, ir::ValueId x) {
    const ir::Shape& shape = context.shape(x);
    if (shape.rank() == 2) {
        return x;
    }
    const std::int64_t batch = shape[0];
    return ops::reshape(context.builder(), x, {batch, shape.elements() / batch});
}

ir::ValueId dense(ModelContext& context, ir::ValueId x, std::int64_t units, Init weight_init,
                  const std::vector<std::string>& weight_axes, bool bias,
                  const std::string& weight_norm) {
    const std::int64_t inputs = context.shape(x).back();
    const ir::ValueId weight =
        normalised_weight(context, weight_norm,
                          context.parameter("weight", {inputs, units}, weight_init, weight_axes));
    const ir::ValueId shift =
        bias ? context.parameter("bias", {units}, Init::zeros(), {weight_axes.back()})
             : ir::ValueId{};
    return with_adapter(context, x, ops::linear(context.builder(), x, weight, shift), weight_axes);
}

ir::ValueId class_vectors(ModelContext& context, ir::ValueId labels, std::int64_t width,
                          Init init) {
    const Scope scope(context, "label");
    const ir::ValueId table =
        context.parameter("weight", {context.data().classes + 1, width}, init, {"vocab", "embed"});
    return context.builder().emit("embedding", {table, labels});
}

namespace {

void require_numbers(ModelContext& context, ir::ValueId x) {
    if (!ir::is_float(context.builder().type(x).dtype)) {
        context.fail("its input is " + ir::to_text(context.builder().type(x)) +
                         ", but it needs real numbers",
                     "Put an embedding layer before it.");
    }
}

config::FieldTable linear_fields(int) {
    return {config::integer_field("units", nullptr,
                                  "Outputs; null: as many as the data has classes or targets.")
                .or_null()
                .range(1, 1 << 24),
            config::boolean_field("bias", true, "Adds a learned offset per output."),
            weight_norm_field()};
}

ir::ValueId build_linear(ModelContext& context, const config::Json& settings, ir::ValueId x) {
    require_numbers(context, x);
    if (context.shape(x).rank() < 2) {
        context.fail("its input has no features", "Put flatten before it.");
    }
    const std::int64_t units = settings.at("units").is_null()
                                   ? context.data().outputs()
                                   : settings.at("units").get<std::int64_t>();
    return dense(context, x, units, Init::fan_in(context.shape(x).back()), {"embed", "mlp"},
                 settings.at("bias").get<bool>(), settings.at("weight_norm"));
}

ir::ValueId build_flatten(ModelContext& context, const config::Json&, ir::ValueId x) {
    return flatten(context, x);
}

config::FieldTable sequence_fields(int) {
    return {config::choice_field("along", "rows", {"rows", "columns"},
                                 "What becomes a position: a row of the image, as a moment of what "
                                 "was measured over time, or a column, as of a written line.")};
}

/// [B, H, W, C] -> [B, H, W C], or with columns [B, W, H C].
ir::ValueId build_sequence(ModelContext& context, const config::Json& settings, ir::ValueId x) {
    ops::Builder& b = context.builder();
    if (context.shape(x).rank() != 4) {
        context.fail("its input is " + ir::to_text(b.type(x)) +
                         ", but it needs images [batch, height, width, channels]",
                     "Use it on images, before layers of sequences.");
    }
    if (settings.at("along") == "columns") {
        x = ops::transpose(b, x, {0, 2, 1, 3});
    }
    const ir::Shape shape = context.shape(x);
    return ops::reshape(b, x, {shape[0], shape[1], shape[2] * shape[3]});
}

} // namespace

const LayerDef kLinearLayer = {"linear", "Fully connected: [..., K] to [..., units].",
                               linear_fields, build_linear};
const LayerDef kFlattenLayer = {"flatten", "Every sample becomes one row of numbers.", no_fields,
                                build_flatten};
const LayerDef kSequenceLayer = {"sequence",
                                 "Images [B, H, W, C] to sequences [B, H, W C] or [B, W, H C].",
                                 sequence_fields, build_sequence};

} // namespace weft::nn
