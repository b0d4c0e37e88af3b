// SPDX-License-Identifier: Apache-2.0
// Every model. To add one: a record in a file of this folder, a declaration and a line here, a row
// in tests/nn.
#pragma once

#include "core/nn/models/model_def.h"

#include <array>

namespace weft::nn {

extern const ModelDef kMlpModel;
extern const ModelDef kSequentialModel;
extern const ModelDef kGpt2Model;
extern const ModelDef kLlamaModel;
extern const ModelDef kVitModel;
extern const ModelDef kResnetModel;
extern const ModelDef kVaeModel;
extern const ModelDef kDiffusionModel;
extern const ModelDef kGanModel;
extern const ModelDef kFlowModel;
extern const ModelDef kGraphModel;
extern const ModelDef kTrmModel;

inline constexpr std::array kModels = {
    &kMlpModel, &kSequentialModel, &kGpt2Model,  &kLlamaModel, &kVitModel, &kResnetModel,
    &kVaeModel, &kDiffusionModel,  &kGraphModel, &kTrmModel,   &kGanModel, &kFlowModel};

/// The record of a model type; null when there is none.
const ModelDef* find_model(std::string_view name);

} // namespace weft::nn
