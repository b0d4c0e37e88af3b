// SPDX-License-Identifier: Apache-2.0
// Normalising flow of affine couplings (Dinh et al. 2017, "Real NVP"): a map from samples to normal
// numbers that can be gone back, so that the density of a sample is known exactly. In a coupling
// one half of the values says how the other half is scaled and moved:
//   y_a = x_a,  y_b = x_b exp(s(x_a)) + t(x_a),  log |det| = sum s
// Halves change roles from one coupling to the next, and after two of them the values at even
// places come before those at odd ones, so that neighbours part and meet again.
//
// Values that come in levels, as those of pictures, are spread evenly over their level and moved to
// all numbers by a logit (same paper, section 4.1); both count in the density.
#include "core/nn/functions.h"
#include "core/nn/layers/layer_def.h"
#include "core/nn/models/model_list.h"

#include <array>
#include <cmath>

namespace weft::nn {
namespace {

using config::Json;

constexpr double kLogitMargin = 0.05;    // the logit is of margin + (1 - 2 margin) x
constexpr double kLargestLogScale = 2.0; // of one coupling

config::FieldTable flow_fields() {
    return {
        config::integer_field("couplings", 8, "Steps of the map, each of which changes half of it.")
            .range(2, 256),
        config::list_field("hidden", Json::array({512, 512}),
                           config::integer_field("width", nullptr, "Units of a hidden layer.")
                               .must_be_given()
                               .range(1, 1 << 20),
                           "Width of each hidden layer of the network in a coupling."),
        config::integer_field("levels", 256,
                              "Values from 0 to 1 come in so many levels, as those of pictures do; "
                              "null: values are any numbers, taken as they are.")
            .or_null()
            .range(2, 1 << 16),
        config::real_field("temperature", 0.7,
                           "Latents are made smaller by this before samples are made of them: "
                           "below 1 samples are likelier, and less different.")
            .range(0.01, 2.0)};
}

/// Halves of values [B, D]: the one that is kept, and the one that is changed.
struct Halves {
    ir::ValueId kept, changed;
};

class Flow {
public:
    Flow(ModelContext& context, const Json& settings)
        : context_(context), b_(context.builder()), settings_(settings),
          size_(context.data().input.shape.elements()),
          labels_(context.labels().valid()
                      ? known_labels(b_, context.labels(), context.data().classes)
                      : ir::ValueId{}) {
        if (!ir::is_float(context.data().input.dtype)) {
            context.fail("flow needs images or features, but the data delivers " +
                             ir::to_text(context.data().input),
                         "Use model gpt2 for text.");
        }
        if (size_ % 2 != 0) {
            context.fail("flow parts a sample into two halves, but the data delivers " +
                             std::to_string(size_) + " values",
                         "Crop or pad samples to an even number of values.");
        }
    }

    /// x [B, ...] -> latents [B, D]; log_determinant() is then that of the map.
    ir::ValueId to_latents(ir::ValueId x) {
        x = ops::cast(b_, flatten(context_, x), ir::DType::f32);
        if (!settings_.at("levels").is_null()) {
            x = logits_of_levels(x);
        }
        for (std::int64_t i = 0; i < couplings(); ++i) {
            Halves halves = parted(x, i);
            const auto [log_scale, move] = said(halves.kept, i);
            halves.changed =
                ops::add(b_, ops::mul(b_, halves.changed, b_.emit("exp", {log_scale})), move);
            count(ops::reduce_sum(b_, log_scale, {1}));
            x = joined(halves, i);
            x = mixes_after(i) ? mixed(x) : x;
        }
        return x;
    }

    /// The same, backwards: latents [B, D] -> samples [B, D].
    ir::ValueId to_samples(ir::ValueId z) {
        z = ops::affine(b_, z, settings_.at("temperature").get<double>());
        for (std::int64_t i = couplings(); i-- > 0;) {
            z = mixes_after(i) ? unmixed(z) : z;
            Halves halves = parted(z, i);
            const auto [log_scale, move] = said(halves.kept, i);
            halves.changed = ops::mul(b_, ops::sub(b_, halves.changed, move),
                                      b_.emit("exp", {ops::affine(b_, log_scale, -1.0)}));
            z = joined(halves, i);
        }
        if (settings_.at("levels").is_null()) {
            return z;
        }
        const double share = 1.0 / (1.0 - 2.0 * kLogitMargin);
        return ops::affine(b_, b_.emit("sigmoid", {z}), share, -kLogitMargin * share);
    }

    ir::ValueId log_determinant() const { return log_determinant_; } // f32 [B]

private:
    std::int64_t couplings() const { return settings_.at("couplings").get<std::int64_t>(); }

    void count(ir::ValueId log_determinant) {
        log_determinant_ = log_determinant_.valid()
                               ? ops::add(b_, log_determinant_, log_determinant)
                               : log_determinant;
    }

    // With nothing drawn a value is in the middle of its level.
    ir::ValueId logits_of_levels(ir::ValueId x) {
        const auto levels = settings_.at("levels").get<double>();
        const double last = levels - 1.0;
        if (context_.random().valid()) {
            const ir::ValueId part = b_.emit(
                "random_uniform", {context_.random()},
                {{"shape", std::vector<std::int64_t>{context_.shape(x)[0], size_}},
                 {"low", 0.0},
                 {"high", 1.0},
                 {"stream", std::string("level") + (context_.training() ? "" : ".evaluation")}});
            x = ops::affine(b_, ops::add(b_, ops::affine(b_, x, last), part), 1.0 / levels);
        } else {
            x = ops::affine(b_, x, last / levels, 0.5 / levels);
        }
        const double share = 1.0 - 2.0 * kLogitMargin;
        const ir::ValueId p = ops::affine(b_, x, share, kLogitMargin);
        const ir::ValueId log_p = b_.emit("log", {p});
        const ir::ValueId log_rest = b_.emit("log", {ops::affine(b_, p, -1.0, 1.0)});
        // d logit(p) / dx in levels = share / (levels p (1 - p)): the density is of whole levels.
        const ir::ValueId slopes =
            ops::affine(b_, ops::add(b_, log_p, log_rest), -1.0, std::log(share / levels));
        count(ops::reduce_sum(b_, slopes, {1}));
        return ops::sub(b_, log_p, log_rest);
    }

    Halves parted(ir::ValueId x, std::int64_t coupling) {
        const std::int64_t samples = context_.shape(x)[0];
        const std::int64_t half = size_ / 2;
        const ir::ValueId first = ops::slice(b_, x, {0, 0}, {samples, half});
        const ir::ValueId second = ops::slice(b_, x, {0, half}, {samples, half});
        return coupling % 2 == 0 ? Halves{first, second} : Halves{second, first};
    }

    ir::ValueId joined(const Halves& halves, std::int64_t coupling) {
        const bool first = coupling % 2 == 0;
        return b_.emit("concat",
                       {first ? halves.kept : halves.changed, first ? halves.changed : halves.kept},
                       {{"dim", std::int64_t{1}}});
    }

    /// Every second coupling but the last.
    bool mixes_after(std::int64_t coupling) const {
        return coupling % 2 == 1 && coupling + 1 < couplings();
    }

    /// x_0, x_2, ..., x_1, x_3, ...
    ir::ValueId mixed(ir::ValueId x) { return swapped(x, {size_ / 2, 2}); }
    ir::ValueId unmixed(ir::ValueId x) { return swapped(x, {2, size_ / 2}); }

    ir::ValueId swapped(ir::ValueId x, std::array<std::int64_t, 2> as) {
        const std::int64_t samples = context_.shape(x)[0];
        const ir::ValueId table = ops::reshape(b_, x, {samples, as[0], as[1]});
        return ops::reshape(b_, ops::transpose(b_, table, {0, 2, 1}), {samples, size_});
    }

    /// Logarithms of factors, and what is added: [B, D / 2] each, 0 before anything is learnt.
    std::pair<ir::ValueId, ir::ValueId> said(ir::ValueId kept, std::int64_t coupling) {
        const Scope scope(context_, "couplings." + std::to_string(coupling));
        const auto layer = [&](const std::string& name, ir::ValueId x, std::int64_t units,
                               Init init) {
            const Scope inner(context_, name);
            return dense(context_, x, units, init, {"embed", "mlp"});
        };
        ir::ValueId x = kept;
        const Json& hidden = settings_.at("hidden");
        for (std::size_t i = 0; i < hidden.size(); ++i) {
            x = layer("layers." + std::to_string(i), x, hidden[i].get<std::int64_t>(),
                      Init::fan_in(context_.shape(x).back()));
            x = i == 0 ? with_class(x) : x;
            x = activation(context_, "relu", x);
        }
        const ir::ValueId scale = layer("scale", x, size_ / 2, Init::zeros());
        const ir::ValueId move = layer("move", x, size_ / 2, Init::zeros());
        const ir::ValueId bounded =
            ops::affine(b_, b_.emit("tanh", {ops::affine(b_, scale, 1.0 / kLargestLogScale)}),
                        kLargestLogScale);
        return {ops::cast(b_, bounded, ir::DType::f32), ops::cast(b_, move, ir::DType::f32)};
    }

    /// A class adds a vector of its own to the first hidden layer.
    ir::ValueId with_class(ir::ValueId x) {
        if (!labels_.valid()) {
            return x;
        }
        return ops::add(b_, x,
                        class_vectors(context_, labels_, context_.shape(x).back(), Init::zeros()));
    }

    ModelContext& context_;
    ops::Builder& b_;
    const Json& settings_;
    std::int64_t size_;
    ir::ValueId labels_; // i32 [B]; invalid where there are no classes
    ir::ValueId log_determinant_;
};

ir::ValueId build_flow(ModelContext& context, const Json& settings, ir::ValueId inputs) {
    Flow flow(context, settings);
    const ir::ValueId latents = flow.to_latents(inputs);
    context.publish("log_determinant", flow.log_determinant());
    return latents;
}

bool flow_reads_levels(const Json& settings) {
    return !settings.at("levels").is_null();
}

ir::Shape flow_latent(const DataShape& data, const Json&) {
    return {data.input.shape.elements()};
}

ir::ValueId make_flow_samples(ModelContext& context, const Json& settings, ir::ValueId latents) {
    return Flow(context, settings).to_samples(latents);
}

} // namespace

const ModelDef kFlowModel = {
    .name = "flow",
    .help = "Normalising flow of affine couplings: the exact density of a sample, and samples of "
            "normal numbers by the way back, of a class where there are classes. Trained by the "
            "loss negative_log_likelihood.",
    .tensors = "couplings.*.layers.*.weight [in, out]\n"
               "couplings.*.layers.*.bias [out]\n"
               "couplings.*.label.weight [classes + 1, out]\n"
               "couplings.*.scale.weight [in, out]\n"
               "couplings.*.scale.bias [out]\n"
               "couplings.*.move.weight [in, out]\n"
               "couplings.*.move.bias [out]\n",
    .fields = flow_fields,
    .build = build_flow,
    .loss = "negative_log_likelihood",
    .draws = true,
    .latent = flow_latent,
    .make = make_flow_samples,
    .takes_labels = true,
    .unmoved = flow_reads_levels};

} // namespace weft::nn
