// SPDX-License-Identifier: Apache-2.0
// What the rules say of a board that somebody wrote: cells that contradict each other, and whether
// there is one solution.
#pragma once

#include "core/data/dataset.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft::data {

struct BoardJudgement {
    enum class Solutions : std::uint8_t { unknown, none, one, several };
    std::int64_t givens = 0;           // cells that are not blank
    std::vector<std::int64_t> clashes; // cells that contradict others, in order
    Solutions solutions = Solutions::unknown;
    std::string problem; // why there is nothing to solve, in words; empty: there is
};

/// By form.rules; a board without rules has no solutions that would be known. Looks for solutions
/// only where no cells clash, which takes long for few boards: not for a thread that must answer.
BoardJudgement judge_board(const BoardForm& form, std::span<const std::int32_t> cells);

/// The clashes alone, which are found at once.
std::vector<std::int64_t> clashing_cells(const BoardForm& form,
                                         std::span<const std::int32_t> cells);

/// Whether `filled` keeps what is given, has no blank cell left that needs to be filled, and meets
/// every rule. Never true without rules.
bool is_solution(const BoardForm& form, std::span<const std::int32_t> given,
                 std::span<const std::int32_t> filled);

} // namespace weft::data
