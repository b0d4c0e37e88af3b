// SPDX-License-Identifier: Apache-2.0
#include "core/checkpoint/manifest_json.h"

#include "core/base/check.h"
#include "core/base/clock.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace weft::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kPageBytes = 4096; // the smallest of any processor

/// What one write needs. The views point into the staging copy, or at the caller's arrays when the
/// caller waits.
struct Job {
    std::vector<TensorView> tensors;
    Record record;
    double blocked_ms = 0;
    double waited_ms = 0;
};

/// The record of a step that was saved before: newer facts win, marks by hand stay.
Record merged(const Record& existing, Record fresh) {
    if (fresh.metric_step != fresh.step && existing.metric_step == existing.step) {
        fresh.metrics = existing.metrics;
        fresh.metric_step = existing.metric_step;
    }
    for (const std::string& reason : existing.kept_for) {
        if (std::find(fresh.kept_for.begin(), fresh.kept_for.end(), reason) ==
            fresh.kept_for.end()) {
            fresh.kept_for.push_back(reason);
        }
    }
    return fresh;
}

Manifest write_or_update(const ManagerOptions& options, const Job& job) {
    const fs::path& folder = options.folder;
    const fs::path target = folder / folder_name(job.record.step);
    try {
        read_manifest(target);
    } catch (const Error&) {
        // Absent or damaged.
        return write_checkpoint(folder, job.tensors, job.record, options.elsewhere);
    }
    return rewrite_record(target,
                          [&](const Record& existing) { return merged(existing, job.record); });
}

/// A checkpoint of another step under the name that is needed is a copy of somebody: it stays.
std::string make_room(const fs::path& target, std::int64_t step) {
    try {
        const Manifest there = read_manifest_of_any_step(target);
        if (there.record.step == step) {
            return {};
        }
        return target.filename().string() + " held step " + std::to_string(there.record.step) +
               ", a copy from elsewhere; it is now " + set_aside(target).filename().string() + ".";
    } catch (const Error&) {
        return {}; // absent or damaged, or it stays in the way, which the save will tell
    }
}

/// Takes a checkpoint out of sight in one step, then apart: a kill in between leaves no half of it.
void remove_checkpoint(const fs::path& folder, std::int64_t step) {
    const fs::path gone = folder / (temporary_name(step) + "-removed");
    const fs::path target = folder / folder_name(step);
    remove_tree(gone);
    {
        const FileReplacement right(target / kManifestName); // nobody marks it meanwhile
        if (is_pinned(read_manifest(target).record)) {
            return; // marked after the rules were applied
        }
        rename_durably(target, gone);
    }
    remove_tree(gone);
}

/// Removes what retention lets go of; fills kept_for and warning.
void apply_retention(const ManagerOptions& options, Saved& saved) {
    std::vector<Entry> entries = list_checkpoints(options.folder);
    // Copies under other names are the user's.
    std::erase_if(entries, [](const Entry& entry) {
        return !entry.problem.empty() || entry.path.filename() != folder_name(entry.step);
    });
    const std::vector<Retained> kept = retained(entries, options);
    for (const Retained& reason : kept) {
        if (reason.step == saved.step) {
            saved.kept_for.push_back(reason.reason);
        }
    }
    for (const Entry& entry : entries) {
        const bool keep = entry.step == saved.step ||
                          std::any_of(kept.begin(), kept.end(), [&](const Retained& reason) {
                              return reason.step == entry.step;
                          });
        if (!keep) {
            remove_checkpoint(options.folder, entry.step);
        }
    }
}

std::string fault_text(const fs::path& path, const std::exception& fault) noexcept {
    try {
        const auto* error = dynamic_cast<const Error*>(&fault);
        return error != nullptr ? error->message() : path.string() + ": " + fault.what();
    } catch (const std::bad_alloc&) {
        return "out of memory"; // short enough to need none
    }
}

/// Never throws: this is the top of the writer thread.
Saved carry_out(const ManagerOptions& options, const Job& job) noexcept {
    const SystemClock clock;
    const double start_s = clock.steady_s();
    Saved saved;
    saved.step = job.record.step;
    saved.blocked_ms = job.blocked_ms;
    saved.waited_ms = job.waited_ms;
    try {
        saved.path = options.folder / folder_name(job.record.step);
        if (options.check) {
            options.check();
        }
        remove_stray_files(options.folder);
        saved.warning = make_room(saved.path, saved.step);
        saved.bytes = write_or_update(options, job).bytes;
        try {
            apply_retention(options, saved);
        } catch (const Error& error) {
            saved.warning += std::string(saved.warning.empty() ? "" : " ") +
                             "An old checkpoint could not be removed: " + error.message();
        }
    } catch (const std::exception& error) {
        saved.error = fault_text(saved.path, error);
    }
    saved.write_ms = (clock.steady_s() - start_s) * 1000;
    return saved;
}

} // namespace

struct Manager::State {
    ManagerOptions options;
    std::unique_ptr<std::byte[]> staging;
    std::size_t staging_bytes = 0;
    std::shared_ptr<const void> arrays; // of the save in flight, where it has its own
    /// Of the save that is being prepared.
    struct Preparation {
        double begun_s = 0;
        double waited_ms = 0;
    };
    std::optional<Preparation> preparation;

    std::mutex mutex; // guards finished and written
    std::vector<Saved> finished;
    std::optional<Saved> written; // by the writer, which takes no memory to say so

    std::jthread writer; // last: joined before anything else goes

    void add(Saved saved) {
        const std::lock_guard lock(mutex);
        finished.push_back(std::move(saved));
    }

    void collect_written() {
        const std::lock_guard lock(mutex);
        if (written) {
            finished.push_back(std::move(*written));
            written.reset();
            arrays.reset();
        }
    }

    /// Makes the one staging buffer large enough.
    void make_staging(std::span<const TensorView> tensors) {
        std::size_t needed = 0;
        for (const TensorView& view : tensors) {
            needed += staged_bytes(view);
        }
        if (needed > staging_bytes) {
            staging.reset(); // never two copies at once
            staging_bytes = 0;
            staging = std::make_unique_for_overwrite<std::byte[]>(needed);
            staging_bytes = needed;
        }
    }

    /// Copies the arrays into the staging buffer and points `job` at the copies.
    void stage(std::span<const TensorView> tensors, Job& job) {
        make_staging(tensors);
        std::byte* at = staging.get();
        job.tensors.assign(tensors.begin(), tensors.end());
        for (TensorView& view : job.tensors) {
            stage(view, at);
            at += staged_bytes(view);
        }
    }

private:
    /// Of what this process has of it.
    static std::size_t staged_bytes(const TensorView& view) {
        std::int64_t bytes = view.pieces.empty() ? view.type.bytes() : 0;
        for (const PieceView& piece : view.pieces) {
            bytes += piece.is_elsewhere()
                         ? 0
                         : piece.place.box.elements() * ir::dtype_bytes(view.type.dtype);
        }
        return aligned(static_cast<std::size_t>(bytes));
    }

    static std::size_t aligned(std::size_t bytes) {
        return (bytes + kAlignment - 1) / kAlignment * kAlignment;
    }

    static void stage(TensorView& view, std::byte* into) {
        if (view.pieces.empty() && !view.data.empty()) {
            std::memcpy(into, view.data.data(), view.data.size());
            view.data = {into, view.data.size()};
        }
        for (PieceView& piece : view.pieces) {
            if (piece.is_elsewhere()) {
                continue;
            }
            const Placed copy = dense(piece.place.box);
            const auto element = static_cast<std::size_t>(ir::dtype_bytes(view.type.dtype));
            for_each_run(piece.place, copy, [&](const Run& run) {
                std::memcpy(into + static_cast<std::size_t>(run.to) * element,
                            piece.memory.data() + static_cast<std::size_t>(run.from) * element,
                            static_cast<std::size_t>(run.count) * element);
            });
            const auto bytes = static_cast<std::size_t>(copy.box.elements()) * element;
            piece.place = copy;
            piece.memory = {into, bytes};
            into += bytes;
        }
    }
};

Manager::Manager(ManagerOptions options) : state_(std::make_unique<State>()) {
    state_->options = std::move(options);
}

Manager::~Manager() = default;

void Manager::reserve(std::span<const TensorView> tensors) {
    WEFT_CHECK(!state_->writer.joinable(), "no write is in flight");
    try {
        state_->make_staging(tensors);
    } catch (const std::bad_alloc&) {
        return; // a save will tell
    }
    state_->writer =
        std::jthread([pages = std::span(state_->staging.get(), state_->staging_bytes)] {
            for (std::size_t at = 0; at < pages.size(); at += kPageBytes) {
                // Volatile: a store that nobody reads is what it is about.
                static_cast<volatile std::byte&>(pages[at]) = std::byte{0};
            }
        });
}

void Manager::prepare() {
    const SystemClock clock;
    const double begun_s = clock.steady_s();
    wait();
    state_->collect_written(); // before what the next save adds
    state_->preparation = {begun_s, (clock.steady_s() - begun_s) * 1000};
}

void Manager::save(std::span<const TensorView> tensors, Record record,
                   std::shared_ptr<const void> arrays) {
    if (!state_->preparation) {
        prepare();
    }
    State& state = *state_;
    const auto [begun_s, waited_ms] = *std::exchange(state.preparation, std::nullopt);
    Job job{{}, std::move(record), 0, waited_ms};
    const auto blocked_ms = [begun_s] { return (SystemClock().steady_s() - begun_s) * 1000; };
    if (!state.options.async) {
        job.tensors.assign(tensors.begin(), tensors.end());
        Saved saved = carry_out(state.options, job);
        saved.blocked_ms = blocked_ms();
        state.add(std::move(saved));
        return;
    }
    try {
        if (arrays != nullptr) {
            job.tensors.assign(tensors.begin(), tensors.end());
            state.arrays = std::move(arrays);
        } else {
            state.stage(tensors, job);
        }
    } catch (const std::bad_alloc&) {
        Saved saved;
        saved.step = job.record.step;
        saved.blocked_ms = blocked_ms();
        saved.waited_ms = waited_ms;
        saved.error = "not enough host memory for the copy that a background save needs; set "
                      "checkpoint.async to false";
        state.add(std::move(saved));
        return;
    }
    job.blocked_ms = blocked_ms();
    state.writer = std::jthread([&state, job = std::move(job)] {
        Saved saved = carry_out(state.options, job);
        {
            const std::lock_guard lock(state.mutex);
            state.written = std::move(saved);
        }
        state.options.finished();
    });
}

void Manager::wait() {
    if (state_->writer.joinable()) {
        state_->writer.join();
        state_->collect_written();
    }
}

bool Manager::has_finished() const {
    const std::lock_guard lock(state_->mutex);
    return state_->written || !state_->finished.empty();
}

std::vector<Saved> Manager::take_finished() {
    state_->collect_written();
    const std::lock_guard lock(state_->mutex);
    return std::exchange(state_->finished, {});
}

std::int64_t Manager::staging_bytes() const {
    return static_cast<std::int64_t>(state_->staging_bytes);
}

} // namespace weft::checkpoint
