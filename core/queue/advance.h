// SPDX-License-Identifier: Apache-2.0
// What a sweep's decisions mean for its entries. Pure.
#pragma once

#include "core/queue/book.h"

namespace weft::queue {

/// What is known of a sweep's trials, by trial.
std::vector<TrialProgress> progress_of(const Book& book, const Sweep& sweep);

/// Notes what a trial has reached: `value` at its rung. It waits for the others, or is done where
/// nothing is halved. `entry` is in the book.
void note_rung(Book& book, Entry& entry, const RungValue& value);

/// Sends those on that are among the best and ends the others, in every sweep. What cannot be
/// decided yet stays as it is; a second call changes nothing.
void advance(Book& book, double now_s);

} // namespace weft::queue
