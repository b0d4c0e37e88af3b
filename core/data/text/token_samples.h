// SPDX-License-Identifier: Apache-2.0
// What samples of a language model look like: tokens i32[T], or, where several sequences are packed
// into one sample, i32[2, T]: the tokens, and the position of each in its own sequence.
#pragma once

#include "core/ir/type.h"

namespace weft::data {

inline bool is_packed(const ir::Type& input) {
    return input.dtype == ir::DType::i32 && input.shape.rank() == 2;
}

/// T; 0 where samples are no tokens.
inline std::int64_t token_positions(const ir::Type& input) {
    const bool tokens = input.dtype == ir::DType::i32 && input.shape.rank() >= 1;
    return tokens ? input.shape[input.shape.rank() - 1] : 0;
}

/// The same samples, one sequence each.
inline ir::Type one_sequence(const ir::Type& input) {
    return is_packed(input) ? ir::Type{input.dtype, {token_positions(input)}} : input;
}

} // namespace weft::data
