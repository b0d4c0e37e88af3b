// SPDX-License-Identifier: Apache-2.0
// The record of a model: name, tensors, settings, rules between settings, how it is built. Listed
// in model_list.h.
#pragma once

#include "core/config/field.h"
#include "core/nn/model_context.h"

#include <string_view>

namespace weft::nn {

struct ModelDef {
    std::string_view name;
    std::string_view help;
    /// The tensors, one "name pattern [shape]" per line: part of the reference page.
    std::string_view tensors;
    config::FieldTable (*fields)();
    /// Normalised inputs -> prediction: logits [B, classes], values [B, K], or logits [B, T, vocab]
    /// of a language model. Throws weft::Error{usage} with the layer path when the data does not
    /// fit.
    ir::ValueId (*build)(ModelContext& context, const config::Json& settings, ir::ValueId inputs);
    /// Rules between settings, on a table-checked document. Null: there are none.
    void (*check)(const config::Json& settings, const std::string& pointer,
                  config::Diagnostics& out) = nullptr;
    /// Positions of tokens that a language model sees; 0: with these settings it is none. Null: it
    /// never is.
    std::int64_t (*context_length)(const config::Json& settings) = nullptr;
    /// Experts of its mixtures, the fewest where they differ; 0: there are none. Null: never any.
    std::int64_t (*experts)(const config::Json& settings) = nullptr;
    /// The settings with a number in place of every null that a variant or a rule decides; what the
    /// data decide stays null. Null: no setting can be null.
    config::Json (*resolved)(const config::Json& settings) = nullptr;

    /// Whether a language model builds in Mode::decode too, which keeps keys and values; others see
    /// whole contexts alone.
    bool decodes = true;
    /// The loss that the model is made for, and no other; empty: any that suits the data.
    std::string_view loss = {};
    /// Whether it takes random numbers while it is evaluated, too: its loss is a mean over chance.
    bool draws = false;
    /// Of a model that makes samples: the numbers that one is made of, and samples [B, input...]
    /// made of them [B, latent...], as its loss sees outputs. Null: it makes none.
    ir::Shape (*latent)(const DataShape& data, const config::Json& settings) = nullptr;
    ir::ValueId (*make)(ModelContext& context, const config::Json& settings,
                        ir::ValueId latents) = nullptr;
    /// Whether its output, with nothing drawn, is its input as the model understands it.
    bool reconstructs = false;
    /// Whether it takes the classes of samples, where the data have some, and makes samples of one;
    /// the number of classes stands for none of them.
    bool takes_labels = false;
    /// Whether its samples are values from 0 to 1, as images are read: none may move them. Null:
    /// never.
    bool (*unmoved)(const config::Json& settings) = nullptr;
    /// A training row works on one sample for several steps, until the model says that it has done
    /// (ModelContext::finish); it gives a verdict (ModelContext::judge) and can be followed cycle
    /// by cycle (ModelContext::trace).
    bool holds_samples = false;

    std::int64_t context(const config::Json& settings) const {
        return context_length == nullptr ? 0 : context_length(settings);
    }
    bool language_model(const config::Json& settings) const { return context(settings) > 0; }
};

} // namespace weft::nn
