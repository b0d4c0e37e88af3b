// SPDX-License-Identifier: Apache-2.0
// What is kept of an evaluation of a model that fills boards step by step: some boards cycle by
// cycle, after how many steps the model stops, and how many boards are right after each.
#pragma once

#include "core/config/json.h"
#include "core/data/dataset.h"
#include "core/exec/executor.h"

#include <optional>
#include <stop_token>
#include <string>

namespace weft::train {

/// Boards that are counted: the first of the split.
inline constexpr std::int64_t kMostCounted = 256;

/// {"rows", "columns", "box": [rows, columns] or null, "symbols", "blank": '.'s class}.
config::Json board_form_json(const data::BoardForm& form);

/// {"step", "kind": "boards", "split", "board": board_form_json, "steps", "cycles" of a step,
/// "boards" counted, "right": [boards that are right at the end of each step], "halted_right",
/// "halted_wrong": [boards at which the model stops after each step, by whether they are right
/// then], "samples": [{index, given, answer, cycles: [text after each cycle, the last one standing
/// for all that follow], halts: whether the model stopped of its own accord, after: steps}]}.
/// Of the first `samples` boards of `source`, and counted over at most kMostCounted; boards as
/// board_text writes them. Nullopt where samples are no boards, none are asked for, or once `stop`
/// is. Throws weft::Error{data, device}.
std::optional<config::Json> board_document(exec::Executor& executor, const data::Source& source,
                                           const std::string& split, std::int64_t step,
                                           std::int64_t samples, const std::stop_token& stop);

} // namespace weft::train
