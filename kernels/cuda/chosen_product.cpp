// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/chosen_product.h"

#include "kernels/cuda/fastest_way.h"

namespace weft::kernels::cuda {
namespace {

std::string text_of(const ProductShape& s) {
    std::string text = "product";
    for (const std::int64_t number :
         {s.m, s.n, s.k, std::int64_t{s.turn_a}, std::int64_t{s.turn_b}, s.leading_a, s.leading_b,
          s.leading_c, s.batch, s.stride_a, s.stride_b, s.stride_c, static_cast<std::int64_t>(s.a),
          static_cast<std::int64_t>(s.b), std::int64_t{s.result}, std::int64_t{s.bias},
          static_cast<std::int64_t>(s.after)}) {
        text += ' ' + std::to_string(number);
    }
    return text;
}

} // namespace

ChosenProduct::ChosenProduct(const ProductShape& shape)
    : product_(library_product(shape)), shape_(text_of(shape)), chosen_(shape.adds) {}

void ChosenProduct::run(weft_stream* stream, const ProductArrays& arrays) {
    if (!chosen_) {
        choose(stream, arrays);
    }
    product_->run(stream, arrays, way_);
}

void ChosenProduct::choose(weft_stream* stream, const ProductArrays& arrays) {
    const auto way = fastest_way().choose(
        product_->ground() + '\n' + shape_, product_->ways(),
        [&](std::size_t one) { return product_->seconds(stream, arrays, one); });
    chosen_ = way.has_value();
    way_ = way.value_or(0);
}

} // namespace weft::kernels::cuda
