// SPDX-License-Identifier: Apache-2.0
// Every op record, declared by family. op_list.cpp holds the list that find_op and all_ops walk.
#pragma once

#include "core/ops/op_def.h"

namespace weft::ops {

// elementwise.cpp
extern const OpDef kNeg, kAbs, kExp, kLog, kSqrt, kRsqrt, kTanh, kSigmoid, kSquare, kSign,
    kIsFinite, kRelu, kGelu, kGeluErf, kSilu, kSymlog, kAffine, kCast, kAdd, kSub, kMul, kDiv,
    kMaximum, kMinimum, kPow, kAtan2, kLess, kEqual, kReluGrad, kGeluGrad, kGeluErfGrad, kSiluGrad,
    kTanhGrad, kSigmoidGrad, kSelect, kFused, kSweep;
// structure.cpp
extern const OpDef kConstant, kReshape, kTranspose, kBroadcast, kSlice, kPad, kConcat, kCopy,
    kStopGradient;
// repeat.cpp
extern const OpDef kRepeat;
// reduce.cpp
extern const OpDef kReduceSum, kReduceMax, kSumSquares, kArgmax;
// matmul.cpp
extern const OpDef kMatmul, kLinear, kLinearGelu, kMatmulGeluGrad, kMatmulAdd, kMatmulSums;
// embedding.cpp
extern const OpDef kEmbedding, kEmbeddingGrad, kReadRows, kSumRows, kWriteRows;
// softmax.cpp
extern const OpDef kSoftmax, kSoftmaxGrad;
// norm.cpp
extern const OpDef kLayerNorm, kLayerNormInputGrad, kLayerNormParamGrad, kRmsNorm,
    kRmsNormInputGrad, kRmsNormParamGrad;
// batch_norm.cpp
extern const OpDef kBatchNorm, kBatchNormGrad, kBatchNormInference;
// experts.cpp
extern const OpDef kTopK, kTopKGrad, kExpertRows, kDispatch, kCombine, kGateGrad;
// rotary.cpp
extern const OpDef kRotary;
// attention.cpp
extern const OpDef kAttention, kAttentionGrad, kAttentionCached, kCacheWrite;
// convolution.cpp
extern const OpDef kConv2d, kConv2dInputGrad, kConv2dWeightGrad, kMaxPool, kMaxPoolGrad, kAvgPool,
    kAvgPoolGrad;
// random.cpp
extern const OpDef kDropout, kRandomUniform, kRandomNormal, kRandomTruncatedNormal;
// shard.cpp
extern const OpDef kMeshIndex, kPick, kMask;
// collective.cpp
extern const OpDef kAllReduce, kAllGather, kReduceScatter, kAllToAll, kPermute, kSend,
    kSent, kReceive;
// quantize.cpp
extern const OpDef kQuantize, kDequantize;
// ctc.cpp
extern const OpDef kCtc, kCtcGrad;
// loss.cpp
extern const OpDef kCrossEntropy, kCrossEntropyGrad, kCorrect;

} // namespace weft::ops
