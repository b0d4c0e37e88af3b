// SPDX-License-Identifier: Apache-2.0
#include "core/queue/edit.h"

#include "core/base/text.h"
#include "core/queue/advance.h"

#include <algorithm>

namespace weft::queue {
namespace {

[[noreturn]] void refuse_edit(const Entry& entry, const std::string& why, const std::string& hint) {
    throw Error(ErrorKind::usage, "#" + std::to_string(entry.id) + " " + entry.name, why, hint);
}

void end_by_request(Entry& entry, const std::string& reason, double now_s) {
    if (entry.state == State::running) {
        entry.stop = true;
    } else if (!has_ended(entry.state)) {
        entry.state = State::stopped;
        entry.reason = reason;
        entry.ended = now_s;
    }
}

} // namespace

Entry& entry_of_id(Book& book, std::int64_t id) {
    Entry* entry = book.find(id);
    if (entry == nullptr) {
        throw Error(ErrorKind::usage, "#" + std::to_string(id), "is not in the queue",
                    "See `weft queue list`.");
    }
    return *entry;
}

const Sweep& sweep_of_name(const Book& book, const std::string& name) {
    if (const Sweep* sweep = book.find_sweep(name)) {
        return *sweep;
    }
    std::vector<std::string> names;
    for (const Sweep& one : book.sweeps) {
        names.push_back(one.name);
    }
    throw Error(ErrorKind::usage, name, "is no sweep here",
                names.empty() ? "There are none." : name_hint(name, names));
}

void hold(Entry& entry) {
    if (entry.state != State::waiting && entry.state != State::held) {
        refuse_edit(entry, "is " + std::string(state_name(entry.state)) + ", not waiting",
                    "A run that is under way is stopped: weft queue stop.");
    }
    entry.state = State::held;
}

void release(Entry& entry) {
    const bool again =
        (entry.state == State::failed || entry.state == State::stopped) && entry.sweep.empty();
    if (entry.state != State::held && entry.state != State::waiting && !again) {
        refuse_edit(entry, "is " + std::string(state_name(entry.state)),
                    "What is held, failed or was stopped can wait again; a sweep's trial only when "
                    "it is held.");
    }
    entry.state = State::waiting;
    entry.reason.clear();
    entry.attempts = 0;
}

void stop(Book& book, std::int64_t id, double now_s) {
    end_by_request(entry_of_id(book, id), "on request", now_s);
    advance(book, now_s);
}

Entry remove(Book& book, std::int64_t id) {
    Entry entry = entry_of_id(book, id);
    if (entry.state == State::running) {
        refuse_edit(entry, "is running", "Stop it first: weft queue stop.");
    }
    if (!entry.sweep.empty()) {
        refuse_edit(entry, "is a trial of the sweep " + entry.sweep,
                    "Stop it, or remove the whole: weft sweep remove " + entry.sweep + ".");
    }
    std::erase_if(book.entries, [id](const Entry& one) { return one.id == id; });
    return entry;
}

void move_before(Book& book, std::int64_t id, std::optional<std::int64_t> other) {
    const Entry entry = entry_of_id(book, id);
    if (other) {
        entry_of_id(book, *other);
    }
    if (other == id) {
        return;
    }
    std::erase_if(book.entries, [id](const Entry& one) { return one.id == id; });
    const auto place = std::find_if(book.entries.begin(), book.entries.end(),
                                    [&](const Entry& one) { return one.id == other; });
    book.entries.insert(place, entry);
}

void move_first(Book& book, std::int64_t id) {
    entry_of_id(book, id);
    move_before(book, id, book.entries.front().id);
}

void stop_sweep(Book& book, const std::string& name, double now_s) {
    for (const std::size_t at : book.trials_of(sweep_of_name(book, name).name)) {
        end_by_request(book.entries[at], "the sweep was stopped", now_s);
    }
}

std::vector<Entry> remove_sweep(Book& book, const std::string& name) {
    const std::string known = sweep_of_name(book, name).name;
    std::vector<Entry> trials;
    for (const Entry& entry : book.entries) {
        if (entry.sweep != known) {
            continue;
        }
        if (entry.state == State::running) {
            throw Error(ErrorKind::usage, known,
                        "trial " + std::to_string(entry.trial) + " is running",
                        "Stop it first: weft sweep stop " + known + ".");
        }
        trials.push_back(entry);
    }
    std::erase_if(book.entries, [&](const Entry& entry) { return entry.sweep == known; });
    std::erase_if(book.sweeps, [&](const Sweep& sweep) { return sweep.name == known; });
    return trials;
}

} // namespace weft::queue
