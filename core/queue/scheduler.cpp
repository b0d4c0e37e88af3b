// SPDX-License-Identifier: Apache-2.0
#include "core/queue/scheduler.h"

#include "core/base/text.h"
#include "core/train/record/run_folder.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <poll.h>
#include <unistd.h>

namespace weft::queue {
namespace {

constexpr int kPollMs = 200;

Path scheduler_lock(const Path& folder) {
    return folder / "running" / "scheduler.lock";
}

File take_lock(const Path& folder) {
    make_directories(folder / "running");
    File lock(scheduler_lock(folder), File::Mode::keep);
    if (!lock.try_lock()) {
        throw Error(ErrorKind::usage, folder.string(), "another process runs this queue",
                    "`weft queue add` is enough: it takes what is added.");
    }
    lock.resize(0);
    lock.write(std::to_string(::getpid()) + "\n"); // for those who want it to end
    return lock;
}

/// What a process ended without having told in its run's folder.
std::string last_line(const Path& log) {
    try {
        const std::vector<std::string> lines =
            split(trim(read_file(log, std::int64_t{64} << 20)), '\n');
        return shown(lines.back(), 300);
    } catch (const Error&) {
        return {};
    }
}

bool has_begun(const Path& run) {
    std::error_code problem;
    return train::is_run_folder(run) && std::filesystem::exists(run / "config.json", problem);
}

/// A process that was killed while it made the folder left these, and nothing that it trained.
void clear_beginnings(const Path& run) {
    std::error_code problem;
    for (const char* name :
         {"lock", "events.jsonl", "run.json", "run.json.part", "config.json.part"}) {
        std::filesystem::remove(run / name, problem);
    }
}

std::string list_of(const std::vector<int>& gpus) {
    std::string out;
    for (const int gpu : gpus) {
        out += (out.empty() ? "" : ",") + std::to_string(gpu);
    }
    return out;
}

bool is_running(const Book& book) {
    return std::any_of(book.entries.begin(), book.entries.end(),
                       [](const Entry& entry) { return entry.state == State::running; });
}

/// So that a run sees these GPUs alone, as its first, second, ... The variable may already say
/// which ones this process sees.
void show_only(const std::vector<int>& gpus, std::vector<std::string>& environment) {
    constexpr std::string_view kName = "CUDA_VISIBLE_DEVICES=";
    std::vector<std::string> seen;
    for (const std::string& one : environment) {
        if (one.starts_with(kName)) {
            seen = split(one.substr(kName.size()), ',');
        }
    }
    std::erase_if(environment, [&](const std::string& one) { return one.starts_with(kName); });
    std::vector<std::string> shown_gpus;
    for (const int gpu : gpus) {
        const auto at = static_cast<std::size_t>(gpu);
        shown_gpus.push_back(at < seen.size() ? seen[at] : std::to_string(gpu));
    }
    environment.push_back(std::string(kName) + join(shown_gpus, ","));
}

} // namespace

bool is_scheduled(const Path& folder) {
    return is_held(scheduler_lock(folder));
}

std::optional<std::int64_t> scheduler_of(const Path& folder) {
    if (!is_scheduled(folder)) {
        return std::nullopt;
    }
    const std::string text = read_file(scheduler_lock(folder), 64);
    std::int64_t pid = 0;
    std::from_chars(text.data(), text.data() + text.size(), pid);
    return pid > 0 ? std::optional(pid) : std::nullopt;
}

std::vector<std::string> command_of(const Entry& entry, const Path& program, const Path& folder) {
    std::vector<std::string> out = {program.string()};
    const auto add = [&](std::initializer_list<std::string> words) {
        out.insert(out.end(), words);
    };
    const bool begun = has_begun(entry.run);
    const bool alone = entry.hosts.empty();
    if (begun) {
        add({alone ? "resume" : "launch", entry.run});
    } else if (entry.is_fork()) {
        add({alone ? "resume" : "launch", entry.resumes, alone ? "--fork" : "--run-dir",
             entry.run});
        for (const std::string& one : entry.overrides) {
            add({"--set", one});
        }
    } else {
        add({alone ? "train" : "launch", (folder / entry.config).string(), "--run-dir", entry.run});
    }
    if (!alone) {
        add({"--hosts", entry.hosts, "--"}); // what follows is for each rank
    }
    if (!begun && entry.is_fork()) {
        add({"--from", entry.from});
    } else if (!begun) {
        add({"--base-dir", entry.base_dir});
    }
    if (entry.until_step) {
        add({"--max-steps", std::to_string(*entry.until_step)});
    }
    add({"--quiet"});
    return out;
}

Scheduler::Scheduler(SchedulerOptions options)
    : options_(std::move(options)), folder_(folder_under(options_.runs_root)),
      lock_(take_lock(folder_)), wake_("queue") {}

void Scheduler::stop() {
    ++stops_;
    wake_.ring();
}

const Book& Scheduler::book() {
    const std::string stamp = stamp_of(folder_);
    if (stamp != stamp_ || stamp.empty()) {
        book_ = read_book(folder_);
        stamp_ = stamp;
    }
    return book_;
}

void Scheduler::change(const std::function<void(Book&)>& what) {
    change_book(folder_, what);
    stamp_.clear();
}

void Scheduler::run() {
    for (;;) {
        collect();
        look_after_orphans();
        heed_stops();
        if (stops_ == 0) {
            start_runs();
            if (options_.until_empty && is_idle(book())) {
                return;
            }
        } else if (!is_running(book())) {
            return;
        }
        pollfd woken{wake_.descriptor(), POLLIN, 0};
        ::poll(&woken, 1, kPollMs);
        wake_.quiet();
    }
}

bool Scheduler::is_idle(const Book& book) const {
    return !is_running(book) && choose_starts(book.entries, options_.machine).empty();
}

void Scheduler::collect() {
    for (auto at = children_.begin(); at != children_.end();) {
        const Process::End end = at->second.poll(); // a copy: the child goes
        if (!end.ended) {
            ++at;
            continue;
        }
        const std::int64_t id = at->first;
        at = children_.erase(at);
        note_end(id, &end);
    }
}

/// Entries that run by what the queue says, and that are no children of this process: those of a
/// scheduler that was killed, or of before the machine went down.
void Scheduler::look_after_orphans() {
    std::vector<std::int64_t> gone;
    for (const Entry& entry : book().entries) {
        if (entry.state == State::running && !children_.contains(entry.id) &&
            !is_held(lock_of(entry.id))) {
            gone.push_back(entry.id);
        }
    }
    for (const std::int64_t id : gone) {
        note_end(id, nullptr);
    }
}

void Scheduler::heed_stops() {
    for (const Entry& entry : book().entries) {
        if (entry.state != State::running) {
            continue;
        }
        const int wanted = std::max<int>(stops_, entry.stop ? 1 : 0);
        int& told = told_to_stop_[entry.id];
        while (told < wanted && tell_to_stop(entry)) {
            ++told;
        }
    }
}

/// False: it cannot be told yet.
bool Scheduler::tell_to_stop(const Entry& entry) {
    if (const auto child = children_.find(entry.id); child != children_.end()) {
        child->second.ask_to_stop();
        return true;
    }
    const auto lock = train::read_lock(entry.run);
    return lock && lock->pid > 0 && ::kill(static_cast<pid_t>(lock->pid), SIGTERM) == 0;
}

void Scheduler::note_end(std::int64_t id, const Process::End* end) {
    const Entry* known = book().find(id);
    if (known == nullptr) {
        return;
    }
    Ended ended = look_at(*known);
    ended.seen = end != nullptr;
    ended.exit_code = end != nullptr ? end->exit_code : std::nullopt;
    ended.leaving = stops_ > 0;
    if (ended.message.empty() && ended.exit_code.value_or(0) != 0) {
        ended.message = last_line(log_file(folder_, id));
    }
    change([&](Book& book) {
        Entry* entry = book.find(id);
        if (entry != nullptr && entry->state == State::running) {
            settle(book, *entry, ended);
            advance(book, clock_.epoch_s());
        }
    });
}

void Scheduler::settle(Book& book, Entry& entry, const Ended& ended) {
    const Judgement judgement = judge(entry, ended);
    entry.reason = judgement.reason;
    entry.gpus.clear();
    entry.stop = false;
    entry.ended = clock_.epoch_s();
    const bool died_in_vain = judgement.outcome == Outcome::again && ended.seen && !ended.leaving &&
                              ended.saved_step <= entry.saved_step;
    entry.attempts = died_in_vain ? entry.attempts + 1 : 0;
    entry.saved_step = std::max(entry.saved_step, ended.saved_step);
    switch (judgement.outcome) {
    case Outcome::reached: {
        const Sweep* sweep = book.find_sweep(entry.sweep);
        if (sweep == nullptr) {
            entry.state = State::done;
            break;
        }
        note_rung(book, entry, value_of(entry.run, sweep->metric, entry.until_step));
        break;
    }
    case Outcome::again: entry.state = State::waiting; break;
    case Outcome::failed: entry.state = State::failed; break;
    case Outcome::stopped: entry.state = State::stopped; break;
    }
    tell(entry,
         std::string(judgement.outcome == Outcome::again ? "interrupted, waits again"
                     : entry.state == State::paused      ? "reached its rung"
                                                         : state_name(entry.state)) +
             (entry.reason.empty() || judgement.outcome == Outcome::again ? ""
                                                                          : ": " + entry.reason));
}

void Scheduler::start_runs() {
    warn_of_misfits();
    for (const Start& one : choose_starts(book().entries, options_.machine)) {
        start(one);
    }
}

/// Notes in the book that it runs, and where; none when somebody held or removed it meanwhile.
std::optional<Entry> Scheduler::take(const Start& what) {
    std::optional<Entry> out;
    change([&](Book& book) {
        Entry* entry = book.find(what.id);
        if (entry == nullptr || entry->state != State::waiting) {
            return;
        }
        if (entry->run.empty()) {
            entry->run = entry->resumes.empty() || entry->is_fork()
                             ? train::create_run_folder(options_.runs_root, entry->name).string()
                             : entry->resumes;
        }
        entry->state = State::running;
        entry->reason.clear();
        entry->gpus = what.gpus;
        entry->started = clock_.epoch_s();
        out = *entry;
    });
    return out;
}

void Scheduler::start(const Start& what) {
    if (is_held(lock_of(what.id))) {
        return; // its last process has not quite gone
    }
    const std::optional<Entry> entry = take(what);
    if (!entry) {
        return;
    }
    if (entry->run != entry->resumes && !has_begun(entry->run)) {
        clear_beginnings(entry->run);
    }
    Launch launch{command_of(*entry, options_.program, folder_), options_.environment,
                  lock_of(entry->id), log_file(folder_, entry->id)};
    // A number alone is a count: "cuda:2" is of any two that are free.
    if (!what.gpus.empty() && entry->devices.find(',') == std::string::npos) {
        show_only(what.gpus, launch.environment);
    }
    told_to_stop_.erase(entry->id);
    if (auto child = Process::start(launch)) {
        children_.emplace(entry->id, *child);
    }
    const std::string where = what.gpus.empty() ? "" : " on GPU " + list_of(what.gpus);
    tell(*entry, (entry->saved_step >= 0 ? "goes on" : "starts") + where + ": " + entry->run);
}

/// What can never start here says why, to whoever looks at the queue, too.
void Scheduler::warn_of_misfits() {
    std::map<std::int64_t, std::string> problems;
    for (const Entry& entry : book().entries) {
        const std::string problem =
            entry.state == State::waiting ? problem_of(entry, options_.machine) : std::string();
        if (!problem.empty() && misfits_.insert(entry.id).second) {
            tell(entry, "cannot start: " + problem);
            problems[entry.id] = problem;
        }
    }
    if (problems.empty()) {
        return;
    }
    change([&](Book& book) {
        for (const auto& [id, problem] : problems) {
            Entry* entry = book.find(id);
            if (entry != nullptr && entry->state == State::waiting) {
                entry->reason = problem;
            }
        }
    });
}

void Scheduler::tell(const Entry& entry, const std::string& what) const {
    options_.tell("#" + std::to_string(entry.id) + " " + entry.name + " " + what);
}

Path Scheduler::lock_of(std::int64_t id) const {
    return folder_ / "running" / (std::to_string(id) + ".lock");
}

} // namespace weft::queue
