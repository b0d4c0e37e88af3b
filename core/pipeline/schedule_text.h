// SPDX-License-Identifier: Apache-2.0
// Schedules as text, so that a user can write one and a dump can be read. White space separates,
// '#' starts a comment, a stage's actions may go over several lines:
//
//   schedule my_own
//   microbatches 2
//   chunks 1                     (may be left out)
//   stage 0: F0 F1 B0 B1
//   stage 1: F0 B0 F1 B1
//
// F is a forward, B a backward, I and W its halves (input and weight gradients); the number is the
// microbatch, ".1" after it the chunk.
#pragma once

#include "core/base/file.h"
#include "core/pipeline/schedule.h"

#include <string_view>

namespace weft::pipeline {

/// parse_schedule(to_text(s)) == s.
std::string to_text(const Schedule& schedule);

/// A legal schedule. Throws weft::Error{usage} with "<origin>, line 3" where the text makes no
/// sense, and with the first problems of check() where the schedule does not.
Schedule parse_schedule(std::string_view text, std::string_view origin);

/// parse_schedule of a file of at most 16 MiB; throws also when it cannot be read.
Schedule read_schedule(const Path& path);

} // namespace weft::pipeline
