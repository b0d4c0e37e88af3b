// SPDX-License-Identifier: Apache-2.0
// A run's folder on disk (INTERFACES.md "Run folder"): readable without the engine, never
// renumbered, never overwritten. Also what the studio and `weft runs` read, of live and of dead
// runs.
#pragma once

#include "core/base/clock.h"
#include "core/compile/config/run_config.h"
#include "core/train/record/event.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft::train {

/// run.json.
struct RunInfo {
    std::string id;
    std::string name;
    std::string parent; // run folder or id of the run that this one forked from; may be empty
    std::int64_t parent_step = -1;
    std::string state;  // last written state name
    double created = 0; // s, UTC epoch
    std::int64_t parameters = 0;
    std::string model; // "mlp"
    std::string data;  // SampleInfo::description
    std::string data_fingerprint;
    config::Json environment = config::Json::object(); // versions, threads, instruction set, host
    std::int64_t total_steps = 0;                      // planned length; 0 where it is not known
    double seconds = 0;                                // spent training, over all sessions
    std::string base_dir;                              // where the configuration's paths count from
    std::string message;                               // failed: what happened
};

/// Creates <date>_<slug>_<nnn>/ under `root` with the next free number; the session fills it.
/// Throws weft::Error{runtime} when the folder cannot be written.
std::filesystem::path create_run_folder(const std::filesystem::path& root, const std::string& name);
/// The folder that create_run_folder would create now. Creates nothing.
std::filesystem::path next_run_folder(const std::filesystem::path& root, const std::string& name);
/// Uses exactly this folder (--run-dir); must be absent or empty, or as create_run_folder left it,
/// with nothing in it but logs and the configuration file that the run is started with.
void create_run_folder_at(const std::filesystem::path& folder,
                          const std::filesystem::path& config = {});

void write_run_info(const std::filesystem::path& folder, const RunInfo& info);
RunInfo read_run_info(const std::filesystem::path& folder);
/// The frozen configuration of a run, checked again, with the base folder of run.json and
/// `overrides`
/// ("--set" assignments) on top. Problems are diagnostics.
compile::CheckedRun read_frozen_config(const std::filesystem::path& folder,
                                       const std::vector<std::string>& overrides = {});
bool is_run_folder(const std::filesystem::path& folder);

/// `lock`: pid, host, heartbeat. One session trains a run; anybody may read it. The kernel's lock
/// on the open file is the truth on this host and ends with the process; the text is for people and
/// other hosts.
class RunLock {
public:
    /// Throws weft::Error{runtime} naming pid and host when another live session holds it.
    /// `control`: the socket where the run is controlled, for those who read the lock.
    explicit RunLock(const std::filesystem::path& folder, std::string control = {});
    ~RunLock(); // removes the file, where it is still ours
    RunLock(const RunLock&) = delete;
    RunLock& operator=(const RunLock&) = delete;
    /// Writes the heartbeat; best effort.
    void beat();

    enum class Place : std::uint8_t {
        ours,       // the folder holds this very lock
        gone,       // it was deleted or moved: nobody's run is there
        of_another, // another run was begun there, or the lock was taken away
    };
    /// To be asked before each write into the folder. Any thread.
    Place place() const;
    /// Throws weft::Error{runtime} where the folder is of another run. Any thread.
    void check() const;
    /// Begins a folder that is gone anew and takes its lock; where it is ours nothing changes.
    /// Throws as check() does, or when another takes the lock first.
    void claim();

private:
    void take();

    std::filesystem::path path_;
    std::string control_;
    int descriptor_ = -1;
};
/// What the lock of a run says that is being trained.
struct LockInfo {
    std::int64_t pid = 0; // 0: not written yet
    std::string host;
    double heartbeat = 0;      // s, UTC epoch
    std::string control;       // path of the control socket; empty where there is none
    std::int64_t protocol = 1; // kControlProtocol of the process; 1 before it was told
};
/// Nothing when nobody trains the run: no process of this host holds the lock, and none of another
/// host has given a sign of life for a minute.
std::optional<LockInfo> read_lock(const std::filesystem::path& folder);
bool is_live(const std::filesystem::path& folder);

/// Appends events to events.jsonl, one write per line; gives seq and time. One writer, one thread
/// at a time.
class EventLog {
public:
    /// Opens for append; `seq` goes on after the last complete line. A torn last line is cut off.
    /// `clock` null: the system's; else it must outlive the log.
    explicit EventLog(const std::filesystem::path& folder, const Clock* clock = nullptr);
    ~EventLog();
    /// Writes and returns the numbered event. On a full disk the line is kept and written, in
    /// order, with the next event that goes through; the file never holds half a line of ours.
    Event write(Payload payload);
    /// Why the last write did not reach the file; empty when everything did.
    const std::string& problem() const;
    /// fsync: called with every checkpoint and at the end. Best effort.
    void sync();

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Reads events.jsonl, whole or as it grows. Damaged lines are counted and skipped.
class EventReader {
public:
    explicit EventReader(const std::filesystem::path& folder);
    /// Complete lines written since the last call (at most `limit`, 0 = all).
    std::vector<Event> read(std::size_t limit = 0);
    /// Before the first read: leaves out events up to this number.
    void skip_through(std::int64_t seq);
    std::int64_t damaged_lines() const { return damaged_; }

private:
    std::filesystem::path path_;
    std::int64_t offset_ = 0;
    std::int64_t damaged_ = 0;
};

/// Where runs go when no option says it: `variable` (the value of $WEFT_RUNS, which app/ reads), or
/// ~/WeftRuns when that is empty. Absolute.
std::filesystem::path default_runs_root(const std::filesystem::path& variable,
                                        const std::filesystem::path& home);

} // namespace weft::train
