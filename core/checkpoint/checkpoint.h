// SPDX-License-Identifier: Apache-2.0
// A checkpoint: logical arrays by name in HDF5 shards, and a manifest (JSON) with sizes and
// checksums that is written last and ends with the commit marker, its own checksum. Written into a
// temporary folder beside, fsynced, renamed into place: a folder named step-NNNNNNNN is complete or
// was damaged from outside. An array is saved whole or in pieces, by as many writers as hold them,
// each into shards of its own; names and shapes are those of the whole array, so that any other
// arrangement of devices can read it. In a shard the array "w" of kind "parameters" is the data set
// "parameters/w"; a piece of it that starts at element (0, 512) is "parameters/w/0,512". Free
// functions may be called from any thread; one process writes into a folder at a time.
#pragma once

#include "core/checkpoint/goal.h"
#include "core/config/field.h"
#include "core/ir/type.h"
#include "core/sharding/box.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft::checkpoint {

using sharding::Box, sharding::Placed, sharding::Run;
using sharding::dense, sharding::for_each_run, sharding::inside, sharding::overlap;
using sharding::tiles, sharding::whole_box;

using config::Json;

/// A block of an array to save, where it lies in memory and who writes it.
struct PieceView {
    Placed place;
    // All of it, as place.memory says; null: another process has it, see WriteElsewhere.
    std::span<const std::byte> memory;
    int writer = 0; // device number

    bool is_elsewhere() const { return memory.data() == nullptr && place.box.elements() > 0; }
};

/// One array to save. The bytes are read during the call only.
struct TensorView {
    std::string name;
    std::string kind;                  // plan category name: "parameters", "optimizer", "state"
    ir::Type type;                     // of the whole array
    std::span<const std::byte> data{}; // the whole array; or `pieces`, which tile it
    std::vector<PieceView> pieces{};
    std::string spec = "P()"; // how the pieces lie over the mesh, for people
};

/// Everything about a checkpoint that is not an array. Times and host are never compared.
struct Record {
    std::int64_t step = 0;
    double epoch = 0;
    Json counters =
        Json::object(); // data cursor, samples, tokens, seconds trained, best so far, ...
    Json metrics = Json::object(); // "validation/loss": 0.41, ...; may be empty
    std::int64_t metric_step = -1; // step of the metrics
    Json environment =
        Json::object();           // versions, threads, instruction set: differences warn on resume
    Json config = Json::object(); // the run's frozen configuration
    std::vector<std::string> kept_for; // on disk what lasts ("by hand"); in listings every reason
    // Axes of the mesh that saved the arrays, major to minor; empty: one device.
    std::vector<std::pair<std::string, std::int64_t>> mesh;
    /// The tokenizer.json of its data, to save; null of one that was read (read_tokenizer_of).
    std::shared_ptr<const std::string> tokenizer{};
};

struct PieceInfo {
    Box box;                 // of the array; dense in the file
    std::string shard;       // file name
    std::int64_t offset = 0; // byte offset in the shard file
    std::uint32_t crc32c = 0;
    /// One per MiB, to check parts by; empty where there is one MiB at most, or in what older
    /// versions saved.
    std::vector<std::uint32_t> block_crc32c{};
};

struct TensorInfo {
    std::string name;
    std::string kind;
    ir::Type type; // of the whole array
    std::string spec = "P()";
    std::vector<PieceInfo> pieces; // they tile the array
};

struct ShardInfo {
    std::string file;                   // name in the checkpoint folder
    std::int64_t bytes = 0;             // size of the file
    std::uint32_t structure_crc32c = 0; // of every byte that belongs to no array
    int writer = 0;                     // device number
};

/// A file that belongs to a checkpoint as it is.
struct FileInfo {
    std::int64_t bytes = 0;
    std::uint32_t crc32c = 0;
};

struct Manifest {
    std::filesystem::path path; // the checkpoint folder
    Record record;
    std::optional<FileInfo> tokenizer; // kTokenizerName
    std::vector<ShardInfo> shards;
    std::vector<TensorInfo> tensors;
    std::int64_t bytes = 0; // on disk
    double saved_time = 0;  // s, UTC epoch

    const TensorInfo* find(std::string_view name) const;
    /// Who wrote a shard.
    int writer(std::string_view shard) const;
};

/// "step-00000500"
std::string folder_name(std::int64_t step);

/// A shard whose arrays another process has, which is to write it.
struct ShardOrder {
    int writer = 0;
    std::filesystem::path file;                      // does not exist yet
    std::vector<std::pair<std::string, Box>> pieces; // of which array; in the order of the file
};
struct WrittenShard {
    std::int64_t bytes = 0;
    std::uint32_t structure_crc32c = 0;
    std::vector<PieceInfo> pieces; // in the same order, without file name
};
/// Has the process write it and returns when it is on the medium. On any of several threads. Throws
/// weft::Error.
using WriteElsewhere = std::function<WrittenShard(const ShardOrder&)>;
/// What that process does: one piece of each view, or the whole array, in their order. Throws
/// weft::Error{checkpoint}.
WrittenShard write_shard(const std::filesystem::path& file, std::span<const TensorView> pieces);

/// Writes `parent/step-NNNNNNNN` atomically; an existing complete one is left as it is and
/// returned. Writers work side by side. Throws weft::Error{checkpoint} (disk full, permission,
/// ...); nothing half-written stays behind, whichever writer failed.
Manifest write_checkpoint(const std::filesystem::path& parent, std::span<const TensorView> tensors,
                          const Record& record, const WriteElsewhere& elsewhere = {});

/// Replaces the record of a complete checkpoint atomically (metrics that came after the save, a
/// mark by hand); arrays, mesh, step and saved_time stay. Throws weft::Error{checkpoint}.
Manifest update_record(const Manifest& manifest, const Record& record);

/// Reads the manifest of a checkpoint folder. Throws weft::Error{checkpoint}: missing marker, wrong
/// sizes, unreadable JSON, a folder with the name of another step; with what to do.
Manifest read_manifest(const std::filesystem::path& folder);
/// Reads one whole array and checks its checksums. `into` has exactly its bytes. For parts of
/// arrays see array_reader.h.
void read_tensor(const Manifest& manifest, std::string_view name, std::span<std::byte> into);
std::vector<std::byte> read_tensor(const Manifest& manifest, const TensorInfo& tensor);
/// The tokenizer.json of the data that it was trained on, checked; empty: there is none. Throws
/// weft::Error{checkpoint}.
inline constexpr const char* kTokenizerName = "tokenizer.json";
std::string read_tokenizer_of(const Manifest& manifest);
/// Told the share that is done, 0 to 1, on the caller's thread.
using Progress = std::function<void(double)>;
/// Reads everything and checks every checksum; returns the problems found, one sentence each.
std::vector<std::string> verify(const Manifest& manifest, const Progress& progress = {});

struct TensorDifference {
    std::string name;
    double max_absolute = 0;
    double max_relative = 0;
    double norm_a = 0; // Euclidean, of each and of the difference
    double norm_b = 0;
    double norm_difference = 0;
    std::string problem; // "only in A", "shape differs", ...; empty for value differences
};
struct Difference {
    std::vector<TensorDifference> tensors; // those that differ
    std::vector<std::string> counters;     // "step: 500 / 501"
    bool equal() const { return tensors.empty() && counters.empty(); }
};
/// Bitwise comparison of arrays, counters, random keys and data position; never times or host:
/// counters with "seconds", "time" or "host" in their name are left out. Relative: to the larger
/// magnitude. A difference with a NaN or an infinity is infinite. Throws when an array cannot be
/// read.
Difference compare(const Manifest& a, const Manifest& b, const Progress& progress = {});

/// A checkpoint folder as a listing shows it: also incomplete and foreign ones, with the reason.
struct Entry {
    std::filesystem::path path;
    std::int64_t step = -1;
    std::string problem; // empty: usable
    Record record;       // when usable
    std::int64_t bytes = 0;
    double saved_time = 0;
    bool looked_into = true; // false: only path and step are known yet
};
/// Entries of a run's checkpoints folder, by step. Reads manifests only. `record.kept_for` is
/// worked out anew for the folder as it stands, by the retention settings in the newest
/// checkpoint's configuration.
std::vector<Entry> list_checkpoints(const std::filesystem::path& checkpoints_folder);
/// The same in parts, for long lists: the folders and their steps at once, by step and without
/// looking inside; then one entry; at last the reasons, when every entry is read.
std::vector<Entry> find_checkpoints(const std::filesystem::path& checkpoints_folder);
Entry read_entry(const std::filesystem::path& checkpoint_folder);
void work_out_reasons(std::vector<Entry>& entries);

/// The best of the usable ones by the goal; null where none was evaluated at its own step.
const Entry* best_entry(std::span<const Entry> entries, const Goal& goal);
/// Moves a checkpoint folder that cannot be used to a name beside it that no save needs and no
/// resume takes, and returns that. Nothing in it changes. Throws weft::Error.
std::filesystem::path set_aside(const std::filesystem::path& checkpoint_folder);

/// Keeps a checkpoint whatever retention says, or no longer. Throws weft::Error{checkpoint}.
Manifest set_pinned(const Manifest& manifest, bool pinned);
/// The reason that set_pinned and a save on request give.
inline constexpr const char* kByHand = "by hand";

/// Retention and background writing for one run. Newest and best are separate guarantees; the old
/// goes only after the new is committed. Used from the engine thread; the writer thread is its own.
struct ManagerOptions {
    std::filesystem::path folder; // <run>/checkpoints
    std::int64_t keep_latest = 2;
    std::int64_t keep_best = 3;
    std::optional<std::int64_t> keep_every; // steps; those are never removed
    Goal goal;
    bool async = true;
    /// Called on the writing thread before a save touches the folder; throws weft::Error where the
    /// folder is not to be written any more.
    std::function<void()> check;
    /// Writes the shards of pieces that other processes have, which stay there as they are until
    /// the save is done.
    WriteElsewhere elsewhere;
    /// Called on the writing thread when a background save is among take_finished().
    std::function<void()> finished = [] {};
};

struct Saved {
    std::int64_t step = 0;
    std::filesystem::path path;
    std::int64_t bytes = 0;
    double blocked_ms = 0; // how long the caller waited
    double waited_ms = 0;  // of these, for the save before to reach the disk: back-pressure
    double write_ms = 0;
    std::vector<std::string> kept_for;
    std::string error;   // non-empty: this save failed; training may go on
    std::string warning; // saved, but something else in the folder needs a look
};

class Manager {
public:
    explicit Manager(ManagerOptions options);
    ~Manager(); // waits for the write in flight
    Manager(const Manager&) = delete;
    Manager& operator=(const Manager&) = delete;

    /// Takes the memory of the staging copy of such arrays, its pages in the background: the first
    /// save would wait for the system to give them. Not while a write is in flight.
    void reserve(std::span<const TensorView> tensors);
    /// Waits for the write in flight. What the caller does from here until save() returns, the
    /// copies that it makes itself, counts as blocked.
    void prepare();
    /// Copies the arrays (the only part that blocks) and writes them in the background, or at once
    /// when not async. Pieces are copied one after the other: the copy has the size of the arrays.
    /// A second save waits for the first, where prepare() has not. Where the step is complete on
    /// disk already, its record is brought up to date instead. Never throws for faults of the disk:
    /// they come as Saved.error. `arrays` holds what the views point to where that is nobody else's
    /// and stays as it is: no copy is made then, and it is let go of on this thread, by whichever
    /// call finds the save done.
    void save(std::span<const TensorView> tensors, Record record,
              std::shared_ptr<const void> arrays = nullptr);
    /// Waits for the write in flight.
    void wait();
    /// Whether take_finished would return any; does not wait.
    bool has_finished() const;
    /// Finished saves since the last call, in order.
    std::vector<Saved> take_finished();
    /// Bytes of the staging copy (host memory plan).
    std::int64_t staging_bytes() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Which of `entries` retention would keep, with the reason; the rest would be removed. Pure. By
/// step; a step with several reasons comes several times. The newest one is always kept. Only a
/// checkpoint that was evaluated at its own step can be best; of equal ones the earlier is. Entries
/// with a problem are left out: they neither count nor are they ever removed.
struct Retained {
    std::int64_t step;
    std::string reason; // "newest", "best", "every 1000", "by hand"
};
std::vector<Retained> retained(std::span<const Entry> entries, const ManagerOptions& options);

/// Retention settings in the "checkpoint" section of a run's configuration; defaults for what is
/// absent.
ManagerOptions retention_of(const Json& config);

/// Removes temporary folders and files that a killed process left behind; what a living one writes
/// stays.
void remove_stray_files(const std::filesystem::path& checkpoints_folder);

} // namespace weft::checkpoint
