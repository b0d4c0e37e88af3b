// SPDX-License-Identifier: Apache-2.0
// The queue as lists show it: entries with how far their runs are, and sweeps as tables. Reads the
// folders of runs that are under way.
#pragma once

#include "core/queue/book.h"
#include "core/queue/space.h"

namespace weft::queue {

struct EntryView {
    Entry entry;
    std::int64_t step = -1;      // that the run has reached; -1: none yet
    std::int64_t until = 0;      // where it ends, or pauses; 0: not known
    std::optional<double> eta_s; // while it runs
    std::optional<double> loss;  // of that step, while it runs
};
/// All entries: what is to come in its order, then what has ended, the last first. Not for a thread
/// that must not wait.
std::vector<EntryView> view_entries(const Book& book);

/// One trial of a sweep.
struct TrialRow {
    const Entry* entry = nullptr;          // in the book
    std::vector<std::optional<double>> at; // the metric by rung; none: not there yet, or no number
    bool best = false;
};
struct SweepTable {
    const Sweep* sweep = nullptr;      // in the book
    std::vector<std::string> settings; // their paths, in the order in which they are varied
    std::vector<TrialRow> rows;        // by trial
    std::size_t ended = 0;             // of them
};
/// `book` must outlive it.
SweepTable table_of(const Book& book, const Sweep& sweep);

config::Json to_json(const EntryView& view);
config::Json to_json(const SweepTable& table);
/// Comma-separated, RFC 4180, with a line of names: trial, id, state, reason, run, each setting,
/// and for each rung "METRIC at STEP".
std::string to_csv(const SweepTable& table);
/// "stopped early: place 5 of 12 at step 3", "failed: ...", "running".
std::string state_text(const Entry& entry);
/// A setting's value as a table shows it: a text without quotes.
std::string value_text(const config::Json& value);
/// "optimizer.learning_rate 0.001, seed 3"
std::string settings_text(const Settings& settings);
/// "500, 1,500, 4,500"
std::string rungs_text(const Sweep& sweep);

} // namespace weft::queue
