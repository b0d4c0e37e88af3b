// SPDX-License-Identifier: Apache-2.0
// A product in the fastest of the ways that the library has for it.
#pragma once

#include "kernels/cuda/wrappers/blas.h"

#include <string>

namespace weft::kernels::cuda {

/// The first run times the ways on its own operands, which are as good after it as before: a
/// product is written over and over. So it needs no memory but that of a run. One that adds to what
/// is there cannot be tried; it takes the way that the library takes for the fastest.
class ChosenProduct {
public:
    /// Throws Failure: UNSUPPORTED where the library has nothing.
    explicit ChosenProduct(const ProductShape& shape);

    std::int64_t workspace_bytes() const { return product_->workspace_bytes(); }
    /// Queues the product; no operand lies over another. Throws Failure.
    void run(weft_stream* stream, const ProductArrays& arrays);

private:
    void choose(weft_stream* stream, const ProductArrays& arrays);

    std::unique_ptr<Product> product_;
    std::string shape_; // as text
    bool chosen_ = false;
    std::size_t way_ = 0;
};

} // namespace weft::kernels::cuda
