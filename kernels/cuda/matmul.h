// SPDX-License-Identifier: Apache-2.0
// Ops that are a product of two matrices.
#pragma once

#include "kernels/cuda/launch.h"
#include "kernels/matmul_shape.h"

namespace weft::kernels::cuda {

/// Input 0 times input 1, plus input 2 where there is one. Throws Failure: UNSUPPORTED for what the
/// library does not multiply.
Made product_of(const Op& op, const MatmulShape& shape);

} // namespace weft::kernels::cuda
