// SPDX-License-Identifier: Apache-2.0
// Model text: a model as program text that people write. As program text (text.h), but for any number
// of samples B, which extents may name ("f32[B,784]", "{shape=[B*49,512]}"); types and layer paths may
// be left out after an op, phases are; weights say how they start. Comments begin with #:
//
//   program "small" {
//     in %0 batch "inputs" : f32[B,28,28]
//     in %1 state "layers.0.weight" {init="uniform", scale=0.036} : f32[784,10]
//     in %2 state "layers.0.bias" : f32[10]
//     %3 = reshape(%0) {shape=[B,784]}
//     %4 = linear(%3, %1, %2) : f32[B,10] @ "layers.0"
//     out %4 output "prediction"
//   }
#pragma once

#include "core/ir/program.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::ir {

struct TextPlace {
    int line = 1;
    int column = 1;
    friend bool operator==(const TextPlace&, const TextPlace&) = default;
};
/// "line 3, column 7", as errors about text say where they are.
std::string to_text(TextPlace place);
/// The place that such a text begins with.
std::optional<TextPlace> read_place(std::string_view text);

/// A value where it is defined or used; `number` is that of "%5".
struct WrittenValue {
    std::int32_t number = -1;
    std::optional<Type> type; // where it is defined, and given
    TextPlace place;
};

struct WrittenPort {
    WrittenValue value;
    Role role = Role::batch;
    std::string name;
    Attributes attributes; // of state: how it starts
};

struct WrittenOp {
    std::vector<WrittenValue> outputs;
    std::string kind;
    std::vector<WrittenValue> inputs;
    Attributes attributes;
    std::optional<std::string> path;
    TextPlace place; // of the kind
};

struct ModelText {
    std::string name;
    std::vector<WrittenPort> arguments;
    std::vector<WrittenOp> ops;
    std::vector<WrittenPort> results;
};

/// Every value is defined once and before its use. Throws weft::Error{usage} at "line 3, column 7".
ModelText read_model_text(std::string_view text, std::int64_t samples);

/// Text that reads back as `model`, whose samples are 2, and as `other`, the same at 3: extents that
/// differ are multiples of B. None: they are not, or anything else differs.
std::optional<std::string> write_model_text(const ModelText& model, const ModelText& other);

} // namespace weft::ir
