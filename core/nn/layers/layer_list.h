// SPDX-License-Identifier: Apache-2.0
// Every layer of the `sequential` model. To add one: a record in a file of this folder, a
// declaration and a line here, a row in tests/nn.
#pragma once

#include "core/nn/layers/layer_def.h"

#include <array>

namespace weft::nn {

extern const LayerDef kLinearLayer;
extern const LayerDef kConv2dLayer;
extern const LayerDef kConv1dLayer;
extern const LayerDef kConv2dTransposeLayer;
extern const LayerDef kUpsampleLayer;
extern const LayerDef kMaxPoolLayer;
extern const LayerDef kAvgPoolLayer;
extern const LayerDef kGlobalAvgPoolLayer;
extern const LayerDef kFlattenLayer;
extern const LayerDef kSequenceLayer;
extern const LayerDef kReluLayer;
extern const LayerDef kGeluLayer;
extern const LayerDef kSiluLayer;
extern const LayerDef kTanhLayer;
extern const LayerDef kSigmoidLayer;
extern const LayerDef kDropoutLayer;
extern const LayerDef kLayerNormLayer;
extern const LayerDef kRmsNormLayer;
extern const LayerDef kBatchNormLayer;
extern const LayerDef kGroupNormLayer;
extern const LayerDef kInstanceNormLayer;
extern const LayerDef kEmbeddingLayer;
extern const LayerDef kLstmLayer;
extern const LayerDef kGruLayer;
extern const LayerDef kMultiHeadAttentionLayer;
extern const LayerDef kTimeEmbeddingLayer;
extern const LayerDef kMoeLayer;
extern const LayerDef kResidualLayer;
extern const LayerDef kRepeatLayer;
extern const LayerDef kBranchesLayer;

inline constexpr std::array kLayers = {
    &kLinearLayer,        &kConv2dLayer,    &kConv1dLayer,    &kConv2dTransposeLayer,
    &kUpsampleLayer,      &kMaxPoolLayer,   &kAvgPoolLayer,   &kGlobalAvgPoolLayer,
    &kFlattenLayer,       &kReluLayer,      &kGeluLayer,      &kSiluLayer,
    &kTanhLayer,          &kSigmoidLayer,   &kDropoutLayer,   &kLayerNormLayer,
    &kRmsNormLayer,       &kBatchNormLayer, &kGroupNormLayer, &kInstanceNormLayer,
    &kEmbeddingLayer,     &kMoeLayer,       &kResidualLayer,  &kRepeatLayer,
    &kBranchesLayer,      &kLstmLayer,      &kGruLayer,       &kMultiHeadAttentionLayer,
    &kTimeEmbeddingLayer, &kSequenceLayer,
};

} // namespace weft::nn
