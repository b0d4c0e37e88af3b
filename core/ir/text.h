// SPDX-License-Identifier: Apache-2.0
// Program text: what `weft plan`, the program viewer and the golden tests show. Printing and parsing
// round-trip exactly. Grammar (comments start with #):
//
//   program train_step {
//     in %0 state "layers.0.weight" : f32[784,512]
//     in %1 batch "inputs" : f32[256,784] P('data')
//     %5 = matmul(%1, %0) {transpose_b=false} : f32[256,512] @ "layers.0" forward
//     %5 = send(%4) {...} : i32[] @ "layers.0" forward in "F3"
//     %6, %7 = repeat(%5, %1) {carried=1, count=4, reverse=false} : f32[], f32[4,2] @ "" forward {
//       in %8 : f32[]
//       ...
//       yield %9, %10
//     }
//     out %20 state "layers.0.weight"
//     out %21 output "loss"
//   }
#pragma once

#include "core/ir/program.h"

#include <string>
#include <string_view>

namespace weft::ir {

std::string print(const Program& program);

/// Parses program text. Throws weft::Error{usage} with line and column on a mistake.
Program parse(std::string_view text);

/// "true", "4", "0.5", "\"text\"", "[1,2]": an attribute's value as it stands in program text.
std::string to_text(const Attribute& attribute);

/// "P('data', None)" / parsing of the same; errors as in FACTS: axis used twice, not a name, ...
std::string to_text(const Spec& spec);
Spec parse_spec(std::string_view text);

} // namespace weft::ir
