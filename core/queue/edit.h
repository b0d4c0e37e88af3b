// SPDX-License-Identifier: Apache-2.0
// What people do to a queue: changes of a book that change_book() has. Each throws
// weft::Error{usage} that says why not, and what to do.
#pragma once

#include "core/queue/book.h"

namespace weft::queue {

/// Throws where there is none.
Entry& entry_of_id(Book& book, std::int64_t id);
const Sweep& sweep_of_name(const Book& book, const std::string& name);

void hold(Entry& entry);
/// Lets it wait for its turn: what is held, failed or was stopped; a trial only when it is held.
void release(Entry& entry);
/// Ends it; one that runs is asked to save and stop, by the scheduler.
void stop(Book& book, std::int64_t id, double now_s);
/// Not while it runs, and no trial of a sweep. Returns it, so that it can be put back.
Entry remove(Book& book, std::int64_t id);
/// Before another entry, or behind all others.
void move_before(Book& book, std::int64_t id, std::optional<std::int64_t> other);
/// Before all others.
void move_first(Book& book, std::int64_t id);

void stop_sweep(Book& book, const std::string& name, double now_s);
/// With its trials; not while one of them runs. Returns these.
std::vector<Entry> remove_sweep(Book& book, const std::string& name);

} // namespace weft::queue
