// SPDX-License-Identifier: Apache-2.0
// A whole run that goes on with somebody's model on data that somebody brings.
#pragma once

#include "core/advise/suggest_run.h"

namespace weft::advise {

/// A model that has been trained.
struct Trained {
    config::Json model; // the "model" section of a run
    std::string from;   // where its weights are: init.from
    /// What it reads text with, as data.tokenizer takes it; empty: the data's own way.
    std::string tokenizer{};
};

enum class Tuning : std::uint8_t {
    factors, // low-rank factors beside the weights (init.lora), where the model has blocks
    all,     // the weights themselves
};

/// As suggest_run. The model is taken as it is: windows of a text are its context long,
/// in the tokens of its tokenizer where the data name none. The head of a classifier is trained
/// too, and begins anew where the classes are others. Throws weft::Error{data or usage}: the model
/// cannot read this data.
Suggestion suggest_tuning(const config::Json& data_section, const data::OpenContext& opening,
                          const std::string& name, const Trained& trained, Tuning tuning);

} // namespace weft::advise
