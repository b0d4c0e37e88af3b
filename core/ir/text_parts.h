// SPDX-License-Identifier: Apache-2.0
// Parts that program text and model text share. Private to core/ir. `samples` is what the letter B
// stands for in extents of model text, as in f32[B,784] or [B*49,512]; 0: it has no meaning.
#pragma once

#include "core/ir/lexer.h"
#include "core/ir/program.h"

namespace weft::ir {

/// `what` names the part in the message: "the layer path".
std::string read_quoted(Lexer& lexer, std::string_view what);
std::int64_t read_integer(Lexer& lexer, std::string_view what, std::int64_t samples = 0);
Type read_type(Lexer& lexer, std::int64_t samples = 0);
Role read_role(Lexer& lexer);
/// "{rate=0.1, dims=[1,2]}", or nothing.
Attributes read_attributes(Lexer& lexer, std::int64_t samples = 0);

} // namespace weft::ir
