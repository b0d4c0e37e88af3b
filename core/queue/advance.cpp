// SPDX-License-Identifier: Apache-2.0
#include "core/queue/advance.h"

#include "core/base/text.h"

#include <algorithm>
#include <limits>

namespace weft::queue {
namespace {

std::string reason_of(const Decision& decision, const Sweep& sweep) {
    const std::string step = format_thousands(sweep.rungs[decision.rung]);
    return "stopped early: place " + std::to_string(decision.place) + " of " +
           std::to_string(decision.of) + " at step " + step;
}

/// Sends a trial on to a rung. It goes before those of its sweep that are not so far: what is
/// promising ends first.
void send_on(Book& book, std::size_t at, const Sweep& sweep, std::size_t rung) {
    Entry& entry = book.entries[at];
    entry.state = State::waiting;
    entry.reason.clear();
    entry.rung = rung;
    entry.attempts = 0;
    entry.until_step =
        rung + 1 < sweep.rungs.size() ? std::optional(sweep.rungs[rung]) : std::nullopt;
    const auto begin = book.entries.begin();
    const auto here = begin + static_cast<std::ptrdiff_t>(at);
    const auto behind = std::find_if(begin, here, [&](const Entry& other) {
        return other.sweep == sweep.name && other.state == State::waiting && other.rung < rung;
    });
    std::rotate(behind, here, here + 1);
}

void advance_sweep(Book& book, const Sweep& sweep, double now_s) {
    const std::vector<Decision> decisions = decide(sweep.rules(), progress_of(book, sweep));
    for (std::size_t trial = 0; trial < decisions.size(); ++trial) {
        const std::size_t at = book.trials_of(sweep.name)[trial]; // their order may have changed
        Entry& entry = book.entries[at];
        if (entry.state != State::paused) {
            continue;
        }
        switch (decisions[trial].verdict) {
        case Verdict::train: send_on(book, at, sweep, decisions[trial].rung); break;
        case Verdict::stop:
            entry.state = State::stopped;
            entry.reason = reason_of(decisions[trial], sweep);
            entry.ended = now_s;
            break;
        case Verdict::complete:
            entry.state = State::done;
            entry.ended = now_s;
            break;
        case Verdict::wait:
        case Verdict::lost: break;
        }
    }
}

} // namespace

std::vector<TrialProgress> progress_of(const Book& book, const Sweep& sweep) {
    std::vector<TrialProgress> out;
    for (const std::size_t at : book.trials_of(sweep.name)) {
        const Entry& entry = book.entries[at];
        TrialProgress one;
        for (const RungValue& result : entry.results) {
            one.values.push_back(result.value.value_or(std::numeric_limits<double>::quiet_NaN()));
        }
        one.ended = entry.state == State::failed || entry.state == State::stopped;
        one.rung = entry.rung;
        out.push_back(std::move(one));
    }
    return out;
}

void note_rung(Book& book, Entry& entry, const RungValue& value) {
    const Sweep* sweep = book.find_sweep(entry.sweep);
    if (entry.results.size() == entry.rung) {
        entry.results.push_back(value);
    }
    entry.reason.clear();
    entry.state = sweep != nullptr && sweep->halves() ? State::paused : State::done;
}

void advance(Book& book, double now_s) {
    for (const Sweep& sweep : book.sweeps) {
        if (sweep.halves()) {
            advance_sweep(book, sweep, now_s);
        }
    }
}

} // namespace weft::queue
