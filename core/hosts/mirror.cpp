// SPDX-License-Identifier: Apache-2.0
#include "core/hosts/mirror.h"

#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/checkpoint/checkpoint.h"
#include "core/config/json.h"
#include "core/launch/shell_text.h"
#include "core/train/control/command.h"
#include "core/train/control/control_socket.h"
#include "core/train/record/run_folder.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace weft::hosts {
namespace {

namespace fs = std::filesystem;
using config::Json;
using launch::shell_quoted;

constexpr const char* kMirrorName = "mirror.json";
constexpr const char* kEvents = "events.jsonl";
constexpr double kStaleSeconds = 60; // as core/train/record/run_lock.cpp has it for other hosts
constexpr double kMostRetrySeconds = 10;
constexpr std::int64_t kCompared = 4096;

/// What trains a run there.
struct Trainer {
    bool live = false;
    std::int64_t pid = 0;
    std::string control; // its socket there; empty: none that we could speak with
};

/// Nothing: its lock was being written.
std::optional<Trainer> trainer_of(const Connection& connection, const std::string& run) {
    const std::string said =
        connection.ask("cd " + shell_quoted(run) + " || exit 1\n" +
                       "[ -f run.json ] || { echo 'there is no run in this folder' >&2; exit 1; }\n"
                       "date +%s; cat lock 2>/dev/null || true");
    const std::size_t line = said.find('\n');
    const std::string_view text =
        line == std::string::npos ? std::string_view() : trim(std::string_view(said).substr(line));
    Trainer out;
    if (text.empty()) {
        return out;
    }
    try {
        const Json lock = Json::parse(text);
        const double now = std::strtod(said.c_str(), nullptr);
        out.live = now - lock.at("heartbeat").get<double>() < kStaleSeconds;
        out.pid = lock.at("pid").get<std::int64_t>();
        if (lock.value("protocol", std::int64_t{1}) == train::kControlProtocol) {
            out.control = lock.value("control", "");
        }
    } catch (const Json::exception&) {
        return std::nullopt;
    }
    return out;
}

/// The record but for events, which grow and are read while they do, and what is of this machine.
void pull_record(const Connection& connection, const std::string& run, const Path& folder,
                 bool all_events) {
    connection.pull({"-t", all_events ? "--append-verify" : "--append"}, run + "/" + kEvents,
                    folder / kEvents);
    connection.pull({"-rlt", "--safe-links", "--exclude=/lock", "--exclude=/checkpoints",
                     "--exclude=*.part", "--exclude=/annotations.json",
                     "--exclude=/audit/decisions.jsonl", std::string("--exclude=/") + kMirrorName,
                     std::string("--exclude=/") + kEvents},
                    run + "/", folder);
}

std::string end_of(const Path& path, std::int64_t bytes, std::int64_t size) {
    return read_range(File(path, File::Mode::read), size - bytes, size);
}

/// What is here has to be the beginning of what is there.
void check_same_history(const Connection& connection, const std::string& run, const Path& folder) {
    const Path events = folder / kEvents;
    std::error_code problem;
    const auto size = static_cast<std::int64_t>(fs::file_size(events, problem));
    if (problem || size == 0) {
        return;
    }
    const std::int64_t compared = std::min(size, kCompared);
    const std::string there = connection.ask("tail -c +" + std::to_string(size - compared + 1) +
                                             " " + shell_quoted(run + "/" + kEvents) +
                                             " | head -c " + std::to_string(compared));
    if (there != end_of(events, compared, size)) {
        throw Error(ErrorKind::usage, folder.string(),
                    "has gone on by itself since it was copied, or the run on " +
                        connection.host().name + " was begun anew",
                    "Rename this folder; the run is then copied anew.");
    }
}

/// Sees that the folder is this run's, or makes it: with the whole record, so that nobody takes a
/// part of it for a run. Whether it did.
bool claim_folder(const Connection& connection, const std::string& run, const Path& folder) {
    const std::optional<Mirror> mirror = read_mirror(folder);
    std::error_code problem;
    if (!mirror && fs::exists(folder, problem) && !fs::is_empty(folder, problem)) {
        throw Error(ErrorKind::usage, folder.string(), "is something else",
                    "Name another folder with --to.");
    }
    const std::string& host = connection.host().name;
    if (mirror && (mirror->host != host || mirror->run != run)) {
        throw Error(ErrorKind::usage, folder.string(),
                    "is a copy of " + mirror->run + " on " + mirror->host,
                    "Name another folder with --to.");
    }
    if (mirror) {
        check_same_history(connection, run, folder);
        return false;
    }
    // One that was broken off goes on.
    const Path arriving =
        folder.parent_path() / ("." + folder.filename().string() + "@" + host + ".arriving");
    make_directories(arriving);
    write_file_atomically(arriving / kMirrorName, Json{{"host", host}, {"run", run}}.dump() + "\n");
    pull_record(connection, run, arriving, true);
    rename_durably(arriving, folder);
    return true;
}

/// Waits, but not for longer than until somebody stops it.
void rest(double seconds, const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock lock(mutex);
    changed.wait_for(lock, stop, std::chrono::duration<double>(seconds), [] { return false; });
}

/// The socket of a run there, as one of this machine.
class ForwardedControl {
public:
    ForwardedControl(const Connection& connection, const Path& sockets)
        : connection_(connection), local_(train::free_control_path(sockets)) {}
    ~ForwardedControl() { close(); }
    ForwardedControl(const ForwardedControl&) = delete;
    ForwardedControl& operator=(const ForwardedControl&) = delete;

    const Path& local() const { return local_; }
    void lead_to(const std::string& there) {
        if (there == there_) {
            return;
        }
        close();
        if (!there.empty()) {
            connection_.forward(local_, there);
            there_ = there;
        }
    }
    /// It went with the connection.
    void forget() { there_.clear(); }

private:
    void close() {
        if (!there_.empty()) {
            connection_.end_forward(local_, there_);
            there_.clear();
        }
    }

    const Connection& connection_;
    const Path local_;
    std::string there_;
};

/// What the host says of a checkpoint.
struct Listed {
    std::string path;
    std::int64_t bytes = 0;
};

Listed find_checkpoint(const Connection& connection, const std::string& run,
                       const std::string& which) {
    const Json all = config::json_or_discarded(
        connection.ask("weft checkpoint list " + shell_quoted(run) + " --json"));
    std::vector<std::string> steps;
    Listed out;
    for (const Json& one : all.is_array() ? all : Json::array()) {
        if (!one.value("problem", "").empty()) {
            continue;
        }
        const std::string step = std::to_string(one.value("step", std::int64_t{-1}));
        const Json kept_for = one.value("kept_for", Json::array());
        const bool best = std::any_of(kept_for.begin(), kept_for.end(), [](const Json& reason) {
            return reason.get<std::string>().starts_with("best");
        });
        if (which == "latest" || which == step || (which == "best" && best)) {
            out = {one.value("path", ""), one.value("bytes", std::int64_t{0})};
        }
        steps.push_back(step);
    }
    if (out.path.empty()) {
        throw Error(ErrorKind::usage, run + " on " + connection.host().name,
                    "has no checkpoint " + shown(which),
                    steps.empty()
                        ? "It has none yet."
                        : "It has those of the steps " + shown(join(steps, ", "), 200) + ".");
    }
    return out;
}

} // namespace

std::optional<Mirror> read_mirror(const Path& folder) {
    std::error_code problem;
    if (!fs::exists(folder / kMirrorName, problem)) {
        return std::nullopt;
    }
    const Json document = config::json_or_discarded(read_file(folder / kMirrorName, 1 << 16));
    if (!document.is_object()) {
        return std::nullopt;
    }
    return Mirror{document.value("host", ""), document.value("run", "")};
}

Path mirror_folder(const Path& runs_root, const Mirror& mirror) {
    const std::string name = Path(mirror.run).filename().string();
    const Path plain = runs_root / name;
    const std::optional<Mirror> there = read_mirror(plain);
    std::error_code problem;
    const bool ours = there && there->host == mirror.host && there->run == mirror.run;
    return ours || !fs::exists(plain, problem) ? plain : runs_root / (name + "@" + mirror.host);
}

void follow(const Connection& connection, const std::string& run, const Path& folder,
            const FollowOptions& options) {
    trainer_of(connection, run); // there is such a run
    claim_folder(connection, run, folder);
    ForwardedControl control(connection, options.sockets);
    train::RunLock lock(folder, control.local().string());
    const auto tell = [&](const std::string& line) {
        if (options.tell) {
            options.tell(line);
        }
    };
    bool lost = false;
    bool whole = false; // events are here as far as they go
    double retry_s = 1;
    Trainer last;
    last.live = true;
    std::int64_t pid = 0;
    for (bool live = true; live && !connection.stop().stop_requested();) {
        lock.beat();
        try {
            const Trainer trainer = trainer_of(connection, run).value_or(last);
            control.lead_to(trainer.live ? trainer.control : "");
            // Another process may have cut a torn last line off.
            whole = whole && trainer.pid == pid;
            pull_record(connection, run, folder, !whole);
            if (lost) {
                tell("the connection is back");
            } else if (pid == 0 && trainer.live) {
                tell("follows " + run + " on " + connection.host().name + " in " + folder.string());
            }
            lost = false;
            whole = true;
            retry_s = 1;
            pid = trainer.pid;
            last = trainer;
            live = trainer.live; // it was read before the record: that is whole
        } catch (const Error& fault) {
            if (fault.kind() != ErrorKind::device) {
                throw;
            }
            if (!lost) {
                tell("the connection is lost, and is tried again: " + fault.message());
            }
            lost = true;
            whole = false;
            control.forget();
            retry_s = std::min(2 * retry_s, kMostRetrySeconds);
        } catch (const Connection::Stopped&) {
            return;
        }
        if (live) {
            rest(lost ? retry_s : options.every_s, connection.stop());
        }
    }
}

Path fetch_checkpoint(const Connection& connection, const std::string& run, const Path& folder,
                      const std::string& which, const std::function<void(double)>& progress) {
    const Listed listed = find_checkpoint(connection, run, which);
    const Path checkpoints = folder / "checkpoints";
    const Path there = checkpoints / Path(listed.path).filename();
    std::error_code problem;
    if (fs::exists(there, problem)) {
        return there;
    }
    if (!train::is_live(folder)) { // else whoever follows it does so
        trainer_of(connection, run);
        if (!claim_folder(connection, run, folder)) {
            pull_record(connection, run, folder, true);
        }
    }
    // A checkpoint is known by its folder's name: it is fetched under that name, elsewhere.
    const Path part = folder / ".fetching" / there.filename();
    make_directories(part);
    const std::int64_t all = std::max<std::int64_t>(listed.bytes, 1);
    const auto tell = [&] {
        if (progress) {
            progress(std::min(1.0, static_cast<double>(directory_bytes(part)) /
                                       static_cast<double>(all)));
        }
    };
    connection.pull({"-rlt", "--partial", "--inplace"}, listed.path + "/", part, tell);
    const std::vector<std::string> faults = checkpoint::verify(checkpoint::read_manifest(part));
    if (!faults.empty()) {
        remove_tree(part);
        throw Error(ErrorKind::checkpoint, listed.path + " on " + connection.host().name,
                    "did not arrive whole: " + faults.front(), "Fetch it again.");
    }
    make_directories(checkpoints);
    rename_durably(part, there);
    remove_tree(part.parent_path());
    return there;
}

} // namespace weft::hosts
