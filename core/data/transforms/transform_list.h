// SPDX-License-Identifier: Apache-2.0
// Every transform. To add one: a record in a file of this folder, a declaration and a line here,
// and a row in tests/data.
#pragma once

#include "core/data/transforms/transform.h"

#include <array>

namespace weft::data {

extern const TransformDef kNormalizeTransform;
extern const TransformDef kRandomFlipTransform;
extern const TransformDef kRandomCropTransform;
extern const TransformDef kRandomRotationTransform;
extern const TransformDef kColorJitterTransform;
extern const TransformDef kRandomErasingTransform;

inline constexpr std::array kTransforms = {&kNormalizeTransform,   &kRandomFlipTransform,
                                           &kRandomCropTransform,  &kRandomRotationTransform,
                                           &kColorJitterTransform, &kRandomErasingTransform};

} // namespace weft::data
