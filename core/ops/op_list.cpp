// SPDX-License-Identifier: Apache-2.0
#include "core/ops/op_list.h"

namespace weft::ops {
namespace {

constexpr const OpDef* kOps[] = {
    // elementwise.cpp
    &kNeg,
    &kAbs,
    &kExp,
    &kLog,
    &kSqrt,
    &kRsqrt,
    &kTanh,
    &kSigmoid,
    &kSquare,
    &kSign,
    &kIsFinite,
    &kRelu,
    &kGelu,
    &kGeluErf,
    &kSilu,
    &kSymlog,
    &kAffine,
    &kCast,
    &kAdd,
    &kSub,
    &kMul,
    &kDiv,
    &kMaximum,
    &kMinimum,
    &kPow,
    &kAtan2,
    &kLess,
    &kEqual,
    &kReluGrad,
    &kGeluGrad,
    &kGeluErfGrad,
    &kSiluGrad,
    &kTanhGrad,
    &kSigmoidGrad,
    &kSelect,
    &kFused,
    &kSweep,
    // structure.cpp
    &kConstant,
    &kReshape,
    &kTranspose,
    &kBroadcast,
    &kSlice,
    &kPad,
    &kConcat,
    &kCopy,
    &kStopGradient,
    // repeat.cpp
    &kRepeat,
    // reduce.cpp
    &kReduceSum,
    &kReduceMax,
    &kSumSquares,
    &kArgmax,
    // matmul.cpp
    &kMatmul,
    &kLinear,
    &kLinearGelu,
    &kMatmulGeluGrad,
    &kMatmulAdd,
    &kMatmulSums,
    // embedding.cpp
    &kEmbedding,
    &kEmbeddingGrad,
    &kReadRows,
    &kSumRows,
    &kWriteRows,
    // softmax.cpp
    &kSoftmax,
    &kSoftmaxGrad,
    // norm.cpp
    &kLayerNorm,
    &kLayerNormInputGrad,
    &kLayerNormParamGrad,
    &kRmsNorm,
    &kRmsNormInputGrad,
    &kRmsNormParamGrad,
    // batch_norm.cpp
    &kBatchNorm,
    &kBatchNormGrad,
    &kBatchNormInference,
    // experts.cpp
    &kTopK,
    &kTopKGrad,
    &kExpertRows,
    &kDispatch,
    &kCombine,
    &kGateGrad,
    // rotary.cpp
    &kRotary,
    // attention.cpp
    &kAttention,
    &kAttentionGrad,
    &kAttentionCached,
    &kCacheWrite,
    // convolution.cpp
    &kConv2d,
    &kConv2dInputGrad,
    &kConv2dWeightGrad,
    &kMaxPool,
    &kMaxPoolGrad,
    &kAvgPool,
    &kAvgPoolGrad,
    // random.cpp
    &kDropout,
    &kRandomUniform,
    &kRandomNormal,
    &kRandomTruncatedNormal,
    // shard.cpp
    &kMeshIndex,
    &kPick,
    &kMask,
    // collective.cpp
    &kAllReduce,
    &kAllGather,
    &kReduceScatter,
    &kAllToAll,
    &kPermute,
    &kSend,
    &kSent,
    &kReceive,
    // quantize.cpp
    &kQuantize,
    &kDequantize,
    // ctc.cpp
    &kCtc,
    &kCtcGrad,
    // loss.cpp
    &kCrossEntropy,
    &kCrossEntropyGrad,
    &kCorrect,
};

} // namespace

std::span<const OpDef* const> all_ops() {
    return kOps;
}

} // namespace weft::ops
