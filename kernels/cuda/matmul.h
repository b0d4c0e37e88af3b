// SPDX-License-Identifier: Apache-2.0
// Ops that are a product of two matrices.
#pragma once

#include "kernels/cuda/launch.h"
#include "kernels/cuda/wrappers/blas.h"
#include "kernels/matmul_shape.h"
#include "kernels/operand_format.h"

namespace weft::kernels::cuda {

/// Input 0 times input 1, plus input 2 where `biased`. Throws Failure: UNSUPPORTED for what the
/// library does not multiply.
Made product_of(const Op& op, const MatmulShape& shape, bool biased);

/// The product as the library sees it: out' = y' x'. `turn_y`, `turn_x`: as they are stored.
ProductShape product_shape(const MatmulShape& s, bool turn_y, bool turn_x,
                           const OperandFormats& formats, int dtype, int result);

} // namespace weft::kernels::cuda
