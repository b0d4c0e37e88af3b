// SPDX-License-Identifier: Apache-2.0
// A fixed set of buffers goes round: free -> batches under way, in order -> caller -> free. Whoever
// is free takes the piece of work that is needed first: rows of the oldest batch, a new batch, a
// block of the oldest window.
#include "core/data/loader.h"

#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/stage_meter.h"
#include "core/base/text.h"
#include "core/data/files/damaged_files.h"
#include "core/data/window.h"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <iterator>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

namespace weft::data {
namespace {

constexpr std::size_t kWindows = 2; // one in use, the next one
constexpr std::int64_t kPiecesPerThread = 4;

std::size_t sample_bytes(const ir::Type& type) {
    return static_cast<std::size_t>(type.bytes());
}

/// Loss terms of samples: one each, or their positions with a class (below 0: ignored).
std::int64_t count_terms(std::span<const std::byte> targets, const ir::Type& type,
                         std::int64_t samples) {
    if (type.dtype != ir::DType::i32) {
        return samples;
    }
    // By their sign bits, two at a time: a batch of classes has as many as it has rows.
    constexpr std::uint64_t kSigns = 0x8000000080000000;
    constexpr std::size_t kPair = sizeof(std::uint64_t);
    auto count = static_cast<std::int64_t>(targets.size() / sizeof(std::int32_t));
    std::size_t at = 0;
    for (; at + kPair <= targets.size(); at += kPair) {
        std::uint64_t pair = 0;
        std::memcpy(&pair, targets.data() + at, kPair);
        pair &= kSigns;
        count -= static_cast<std::int64_t>((pair >> 63) + (pair >> 31 & 1));
    }
    if (at < targets.size()) {
        std::int32_t last = 0;
        std::memcpy(&last, targets.data() + at, sizeof(last));
        count -= last < 0 ? 1 : 0;
    }
    return count;
}

/// What went wrong first in the order of the rows, whoever met it.
struct Fault {
    std::int64_t row = 0;
    std::exception_ptr error;
};

struct WindowInWork {
    Window window;
    bool in_use = false;
    std::size_t next_block = 0; // to load
    std::size_t loaded = 0;
    std::int64_t users = 0; // batches that show its memory; copies and loads under way
    Fault fault = {};       // row: a block

    bool is_loaded() const { return loaded == window.blocks(); }
};

/// Memory of zeros that is the system's until it is written: rows of others cost nothing.
class Rows {
public:
    void resize(std::size_t bytes) {
        memory_.reset(static_cast<std::byte*>(std::calloc(std::max<std::size_t>(bytes, 1), 1)));
        if (memory_ == nullptr) {
            throw std::bad_alloc();
        }
        bytes_ = bytes;
    }
    std::span<std::byte> all() const { return {memory_.get(), bytes_}; }

private:
    struct Free {
        void operator()(std::byte* memory) const { std::free(memory); }
    };
    std::unique_ptr<std::byte, Free> memory_;
    std::size_t bytes_ = 0;
};

struct BatchInWork {
    Batch batch;
    Rows inputs, targets; // its own rows
    Cursor begin;
    std::int64_t next_row = 0; // to be made
    std::int64_t rows_made = 0;
    std::vector<std::pair<std::int64_t, LeftOut>> left_out; // by row, as they were met
    WindowInWork* shown = nullptr;                          // whose memory it shows
    Fault fault;
};

/// A piece of work that one thread does outside the lock, and what comes of it.
struct Job {
    BatchInWork* batch = nullptr; // rows [first, end) of it
    std::int64_t first = 0, end = 0;
    WindowInWork* window = nullptr; // they come from it; or without a batch: a block of it
    std::size_t block = 0;

    Fault fault = {};
    std::int64_t terms = 0;
    std::vector<std::pair<std::int64_t, LeftOut>> left_out = {};
    std::int64_t samples = 0;
    StageSeconds stages = {};

    explicit operator bool() const { return batch != nullptr || window != nullptr; }
};

} // namespace

struct Loader::State {
    std::shared_ptr<const Source> source;
    Sampler sampler;
    LoaderOptions options;
    std::int64_t piece_rows = 1;
    std::vector<std::unique_ptr<BatchInWork>> buffers;
    std::vector<std::unique_ptr<WindowInWork>> rooms;
    double wait_ms = 0, waited_s = 0; // of the last call, of all
    SystemClock clock;

    mutable std::mutex mutex; // guards what follows, and the counts of batches and windows
    std::condition_variable_any changed;
    LoaderUse use;
    Cursor cursor;            // of the next batch to begin
    std::int64_t batches = 0; // begun so far
    bool ended = false;       // no more are begun
    bool failed = false;      // the same, for a fault
    std::vector<BatchInWork*> free;
    std::deque<BatchInWork*> under_way;
    BatchInWork* current = nullptr; // with the caller
    std::deque<WindowInWork*> windows;
    Cursor next_window; // lies in it
    std::uint64_t changes = 0;
    std::size_t idle = 0;           // workers that have found nothing to do since the last change
    std::vector<std::byte> scratch; // of the caller

    std::vector<std::jthread> workers; // last: joined before anything else goes

    State(std::shared_ptr<const Source> from, Sampler order, LoaderOptions how, Cursor start)
        : source(std::move(from)), sampler(std::move(order)), options(how), cursor(start) {
        check_options();
        if (options.workers == 0 || options.prefetch <= 0) {
            options.workers = options.prefetch = 0;
        }
        const std::int64_t pieces = kPiecesPerThread * (options.workers + 1);
        piece_rows =
            options.workers == 0 ? options.batch_size : (rows_made() + pieces - 1) / pieces;
        for (int i = 0; i < options.prefetch + 1; ++i) {
            buffers.push_back(make_buffer());
            free.push_back(buffers.back().get());
        }
        std::reverse(free.begin(), free.end());
        if (sampler.has_windows()) {
            next_window =
                cursor.position < source->samples() ? cursor : Cursor{cursor.epoch + 1, 0};
            for (std::size_t i = 0; i < kWindows; ++i) {
                rooms.push_back(std::make_unique<WindowInWork>(
                    WindowInWork{.window = Window(source, sampler.window_rows())}));
            }
        }
    }

    bool mixes_classes() const { return options.mixing != nullptr && options.mixing->of_classes(); }

    RowUse use_of(std::int64_t row) const {
        return options.rows.empty() ? RowUse::counted : options.rows[static_cast<std::size_t>(row)];
    }

    /// Of each batch.
    std::int64_t rows_made() const {
        return options.rows.empty()
                   ? options.batch_size
                   : options.batch_size -
                         std::count(options.rows.begin(), options.rows.end(), RowUse::none);
    }

    std::size_t worker_count() const { return static_cast<std::size_t>(options.workers); }

    void check_options() const {
        const std::int64_t samples = source->samples();
        WEFT_CHECK(options.batch_size > 0, "a batch holds samples");
        WEFT_CHECK(options.workers >= 0, "a number of threads");
        WEFT_CHECK(options.rows.empty() || std::ssize(options.rows) == options.batch_size,
                   "a use for each row");
        WEFT_CHECK(cursor.epoch >= 0 && cursor.position >= 0, "a cursor counts up from 0");
        if (cursor.position > samples) {
            throw Error(ErrorKind::data, source->info().description,
                        "the run stands at sample " + format_thousands(cursor.position) +
                            " of its epoch, but there are only " + format_thousands(samples),
                        "The data has changed since the checkpoint; use the data of the run.");
        }
        if (options.drop_last && options.endless && samples < options.batch_size) {
            throw Error(ErrorKind::data, "/data/drop_last",
                        "every batch would be dropped: a batch has " +
                            format_thousands(options.batch_size) + " samples, the data " +
                            format_thousands(samples),
                        "Set drop_last to false or use a smaller global_batch_size.");
        }
    }

    std::unique_ptr<BatchInWork> make_buffer() const {
        const auto rows = static_cast<std::size_t>(options.batch_size);
        auto made = std::make_unique<BatchInWork>();
        made->inputs.resize(rows * sample_bytes(source->info().input));
        made->targets.resize(rows * sample_bytes(source->info().target));
        made->batch.weights.resize(rows);
        if (mixes_classes()) {
            made->batch.others.resize(rows);
            made->batch.shares.resize(rows);
        }
        return made;
    }

    /// Samples of the epoch that batches may hold.
    std::int64_t usable() const {
        const std::int64_t left = source->samples() - cursor.position;
        return options.drop_last ? left / options.batch_size * options.batch_size : left;
    }

    /// Moves on to an epoch with samples left; false at the end of all batches.
    bool seek_next() {
        if (options.max_batches > 0 && batches >= options.max_batches) {
            return false;
        }
        if (usable() > 0) {
            return true;
        }
        cursor = {cursor.epoch + 1, 0};
        return options.endless;
    }

    /// With the lock. Null at the end, after a fault, and while all buffers are taken.
    BatchInWork* begin_batch() {
        if (ended || failed || free.empty()) {
            return nullptr;
        }
        if (!seek_next()) {
            ended = true;
            tell();
            return nullptr;
        }
        BatchInWork* made = free.back();
        free.pop_back();
        made->begin = cursor;
        made->next_row = made->rows_made = 0;
        made->fault = {};
        made->left_out.clear();
        Batch& batch = made->batch;
        batch.inputs = made->inputs.all();
        batch.targets = made->targets.all();
        batch.samples = std::min(options.batch_size, usable());
        batch.first_sample = cursor.epoch * source->samples() + cursor.position;
        batch.count = 0;
        cursor.position += batch.samples;
        if (usable() <= 0) {
            cursor = {cursor.epoch + 1, 0};
            ended = !options.endless;
        }
        batch.after = cursor;
        ++batches;
        ended = ended || (options.max_batches > 0 && batches >= options.max_batches);
        under_way.push_back(made);
        return made;
    }

    /// With the lock. The piece of work that is needed first; none when all depends on work that
    /// others are doing, or on the caller.
    Job take_job() {
        for (BatchInWork* batch : under_way) {
            if (batch->fault.error == nullptr && batch->next_row < options.batch_size) {
                return sampler.has_windows() ? take_of_window(*batch) : take_rows(*batch);
            }
        }
        if (BatchInWork* batch = begin_batch(); batch != nullptr) {
            return sampler.has_windows() ? take_of_window(*batch) : take_rows(*batch);
        }
        return take_block();
    }

    Job take_rows(BatchInWork& batch) const {
        Job job{.batch = &batch, .first = batch.next_row};
        std::int64_t& end = batch.next_row;
        for (std::int64_t made = 0; made < piece_rows && end < options.batch_size; ++end) {
            made += use_of(end) != RowUse::none ? 1 : 0;
        }
        job.end = end;
        return job;
    }

    /// Rows of a batch that are in memory; or a block, when they are not yet.
    Job take_of_window(BatchInWork& batch) {
        const std::int64_t samples = batch.batch.samples;
        if (batch.next_row >= samples) { // what is left is padding
            Job job{.batch = &batch, .first = batch.next_row, .end = options.batch_size};
            batch.next_row = options.batch_size;
            return job;
        }
        const std::int64_t position = batch.begin.position + batch.next_row;
        WindowInWork* from = find_window(batch.begin.epoch, position);
        if (from == nullptr || !from->is_loaded()) {
            return take_block();
        }
        Job job{.batch = &batch, .first = batch.next_row, .window = from};
        job.end = batch.next_row =
            std::min(samples, from->window.end_position() - batch.begin.position);
        ++from->users;
        return job;
    }

    /// The window of a position; those before it are done with. Null: it is not begun.
    WindowInWork* find_window(std::int64_t epoch, std::int64_t position) {
        while (!windows.empty()) {
            WindowInWork& front = *windows.front();
            if (front.window.epoch() == epoch && position < front.window.end_position()) {
                return &front;
            }
            windows.pop_front();
            front.in_use = front.users > 0;
        }
        return nullptr;
    }

    void stop_using(WindowInWork& window) {
        --window.users;
        if (std::find(windows.begin(), windows.end(), &window) == windows.end()) {
            window.in_use = window.users > 0;
        }
    }

    Job take_block() {
        for (WindowInWork* window : windows) {
            if (window->next_block < window->window.blocks()) {
                return block_of(*window);
            }
        }
        if (!sampler.has_windows() || failed || (ended && !is_before(next_window, cursor))) {
            return {};
        }
        const auto room = std::find_if(rooms.begin(), rooms.end(),
                                       [](const auto& window) { return !window->in_use; });
        if (room == rooms.end()) {
            return {};
        }
        begin_window(**room);
        return block_of(**room);
    }

    static Job block_of(WindowInWork& window) {
        ++window.users;
        return {.window = &window, .block = window.next_block++};
    }

    static bool is_before(const Cursor& one, const Cursor& other) {
        return std::pair(one.epoch, one.position) < std::pair(other.epoch, other.position);
    }

    void begin_window(WindowInWork& room) {
        const auto all = sampler.windows(next_window.epoch);
        room.window.begin(*all, next_window.epoch, all->at(next_window.position));
        room.in_use = true;
        room.next_block = room.loaded = 0;
        room.fault = {};
        windows.push_back(&room);
        const std::int64_t end = room.window.end_position();
        next_window = end < source->samples() ? Cursor{next_window.epoch, end}
                                              : Cursor{next_window.epoch + 1, 0};
    }

    void run(Job& job, std::vector<std::byte>& room) {
        job.fault.row = job.batch != nullptr ? job.first : static_cast<std::int64_t>(job.block);
        const double start_s = clock.steady_s();
        try {
            if (job.batch == nullptr) {
                StageMeter meter(clock);
                job.samples = job.window->window.load(job.block, room);
                job.stages = meter.seconds();
            } else if (job.window != nullptr) {
                show_rows(job);
            } else {
                read_rows(job, room);
            }
        } catch (...) {
            job.fault.error = std::current_exception();
        }
        share_out(clock.steady_s() - start_s, job.stages);
    }

    /// All of `seconds` as what was measured of it.
    static void share_out(double seconds, StageSeconds& stages) {
        const double measured = std::accumulate(stages.begin(), stages.end(), 0.0);
        if (measured <= 0) {
            stages[static_cast<std::size_t>(Stage::batch)] = seconds;
            return;
        }
        for (double& stage : stages) {
            stage *= seconds / measured;
        }
    }

    /// From a window: a batch that lies within it shows its memory.
    void show_rows(Job& job) {
        if (job.window->fault.error != nullptr) {
            std::rethrow_exception(job.window->fault.error);
        }
        const std::int64_t position = job.batch->begin.position + job.first;
        const std::int64_t count = job.end - job.first;
        const auto inputs = job.window->window.inputs(position, count);
        const auto targets = job.window->window.targets(position, count);
        Batch& batch = job.batch->batch;
        if (options.mixing != nullptr) {
            mix_rows(job);
        } else if (count == options.batch_size) {
            batch.inputs = inputs;
            batch.targets = targets;
            job.batch->shown = job.window;
        } else {
            const auto first = static_cast<std::size_t>(job.first);
            std::copy(inputs.begin(), inputs.end(),
                      job.batch->inputs.all()
                          .subspan(first * sample_bytes(source->info().input))
                          .begin());
            std::copy(targets.begin(), targets.end(),
                      job.batch->targets.all()
                          .subspan(first * sample_bytes(source->info().target))
                          .begin());
        }
        std::fill_n(batch.weights.begin() + job.first, count, 1.0F);
        count_shown(job, targets);
    }

    /// Loss terms of the rows of a window that this loader counts.
    void count_shown(Job& job, std::span<const std::byte> targets) const {
        const ir::Type& type = source->info().target;
        if (options.rows.empty()) {
            job.terms = count_terms(targets, type, job.end - job.first);
            return;
        }
        for (std::int64_t row = job.first; row < job.end; ++row) {
            if (use_of(row) == RowUse::counted) {
                const auto at = static_cast<std::size_t>(row - job.first) * sample_bytes(type);
                job.terms += count_terms(targets.subspan(at, sample_bytes(type)), type, 1);
            }
        }
    }

    /// The same from a window with mates for every row, which stay as they are.
    void mix_rows(Job& job) {
        const Window& window = job.window->window;
        const Stretch mates = {window.first_position(),
                               window.end_position() - window.first_position()};
        const auto sample = [&](std::int64_t position) -> OtherSample {
            return {window.inputs(position, 1), window.targets(position, 1)};
        };
        for (std::int64_t row = job.first; row < job.end; ++row) {
            const std::int64_t position = job.batch->begin.position + row;
            const SampleBytes own = row_of(*job.batch, row);
            const OtherSample before = sample(position);
            std::copy(before.input.begin(), before.input.end(), own.input.begin());
            std::copy(before.target.begin(), before.target.end(), own.target.begin());
            const Mix mix = options.mixing->draw(job.batch->begin.epoch, position, mates);
            set_other(
                *job.batch, row,
                options.mixing->join(mix, own, mix.other < 0 ? OtherSample{} : sample(mix.other)));
        }
    }

    SampleBytes row_of(BatchInWork& made, std::int64_t row) const {
        const auto at = static_cast<std::size_t>(row);
        const std::size_t input_bytes = sample_bytes(source->info().input);
        const std::size_t target_bytes = sample_bytes(source->info().target);
        return {made.inputs.all().subspan(at * input_bytes, input_bytes),
                made.targets.all().subspan(at * target_bytes, target_bytes)};
    }

    void set_other(BatchInWork& made, std::int64_t row, const OtherClass& other) const {
        if (mixes_classes()) {
            made.batch.others[static_cast<std::size_t>(row)] = other.label;
            made.batch.shares[static_cast<std::size_t>(row)] = other.share;
        }
    }

    /// From a source whose samples are at hand; also what pads a batch. One of them tells where the
    /// time goes: to ask a clock costs more than to copy a small sample.
    void read_rows(Job& job, std::vector<std::byte>& room) {
        bool looked = false;
        for (std::int64_t& row = job.fault.row; row < job.end; ++row) {
            if (use_of(row) == RowUse::none) {
                continue;
            }
            if (std::exchange(looked, true)) {
                read_row(job, row, room);
            } else {
                StageMeter meter(clock);
                read_row(job, row, room);
                job.stages = meter.seconds();
            }
            job.samples += row < job.batch->batch.samples ? 1 : 0;
        }
    }

    /// A sample, or zeros that weigh nothing.
    void read_row(Job& job, std::int64_t row, std::vector<std::byte>& room) {
        BatchInWork& made = *job.batch;
        const auto at = static_cast<std::size_t>(row);
        const auto [input, target] = row_of(made, row);
        made.batch.weights[at] = 0;
        set_other(made, row, {});
        if (row < made.batch.samples) {
            const bool counts = use_of(row) == RowUse::counted;
            try {
                set_other(made, row, read_sample(made, row, {input, target}, room));
                made.batch.weights[at] = 1;
                job.terms += counts ? count_terms(target, source->info().target, 1) : 0;
                return;
            } catch (const DamagedSample& fault) {
                if (counts) {
                    const std::int64_t position = made.begin.position + row;
                    job.left_out.push_back(
                        {row, {sampler.index(made.begin.epoch, position), fault_of(fault)}});
                }
            }
        }
        std::fill(input.begin(), input.end(), std::byte{0});
        std::fill(target.begin(), target.end(), std::byte{0});
    }

    /// The sample of a row of a batch.
    OtherClass read_sample(const BatchInWork& made, std::int64_t row, SampleBytes into,
                           std::vector<std::byte>& room) const {
        const std::int64_t epoch = made.begin.epoch;
        const std::int64_t position = made.begin.position + row;
        if (options.mixing != nullptr) {
            return options.mixing->read(*source, sampler, epoch, position, into, room);
        }
        source->read_in_epoch(sampler.index(epoch, position), epoch, into.input, into.target);
        return {};
    }

    /// With the lock.
    void finish(Job& job) {
        use.samples += job.samples;
        for (std::size_t k = 0; k < kStages; ++k) {
            use.stages[k] += job.stages[k];
        }
        if (job.batch == nullptr) {
            ++job.window->loaded;
            keep_first(job.window->fault, job.fault);
            stop_using(*job.window);
            return;
        }
        BatchInWork& made = *job.batch;
        made.rows_made += job.end - job.first;
        made.batch.count += static_cast<double>(job.terms);
        std::move(job.left_out.begin(), job.left_out.end(), std::back_inserter(made.left_out));
        keep_first(made.fault, job.fault);
        failed = failed || job.fault.error != nullptr;
        if (job.window != nullptr && made.shown == nullptr) {
            stop_using(*job.window);
        }
    }

    static void keep_first(Fault& kept, const Fault& fault) {
        if (fault.error != nullptr && (kept.error == nullptr || fault.row < kept.row)) {
            kept = fault;
        }
    }

    /// Does one piece of work, without the lock meanwhile; false when there is none.
    bool work_once(std::unique_lock<std::mutex>& lock, std::vector<std::byte>& room) {
        Job job = take_job();
        if (!job) {
            return false;
        }
        lock.unlock();
        run(job, room);
        lock.lock();
        finish(job);
        tell();
        return true;
    }

    /// With the lock: there may be work again.
    void tell() {
        ++changes;
        idle = 0;
        changed.notify_all();
    }

    void work(const std::stop_token& stop) {
        std::vector<std::byte> room;
        std::unique_lock lock(mutex);
        while (!stop.stop_requested()) {
            if (work_once(lock, room)) {
                continue;
            }
            if (++idle == worker_count()) {
                changed.notify_all(); // wait_until_full
            }
            changed.wait(lock, stop, [&, seen = changes] { return changes != seen; });
        }
    }

    const Batch* take() {
        std::unique_lock lock(mutex);
        give_back_current();
        const auto ready = std::count_if(under_way.begin(), under_way.end(),
                                         [&](const auto* batch) { return is_made(*batch); });
        while (true) {
            if (front_is_made()) {
                const Batch* batch = take_front();
                use.ready += ready;
                ++use.batches;
                return batch;
            }
            if (under_way.empty() && ended) {
                return nullptr;
            }
            if (!work_once(lock, scratch)) {
                changed.wait(lock, [&, seen = changes] { return changes != seen; });
            }
        }
    }

    /// After a fault no more of its rows are made, and those before it were begun before.
    bool front_is_made() const { return !under_way.empty() && is_made(*under_way.front()); }

    bool is_made(const BatchInWork& batch) const {
        return batch.rows_made ==
               (batch.fault.error != nullptr ? batch.next_row : options.batch_size);
    }

    void give_back_current() {
        if (current == nullptr) {
            return;
        }
        if (current->shown != nullptr) {
            stop_using(*std::exchange(current->shown, nullptr));
        }
        free.push_back(std::exchange(current, nullptr));
        tell();
    }

    /// Whether the row weighs nothing here, and is of use.
    bool is_idle(const BatchInWork& made, std::int64_t row) const {
        return use_of(row) != RowUse::none &&
               made.batch.weights[static_cast<std::size_t>(row)] == 0;
    }

    /// In place of rows that weigh nothing.
    void repeat_first_sound(BatchInWork& made) {
        if (made.shown != nullptr) {
            return;
        }
        std::int64_t row = 0;
        while (row < options.batch_size && !is_idle(made, row)) {
            ++row;
        }
        if (row == options.batch_size) {
            return;
        }
        const std::optional<SampleBytes> first = first_sound(made);
        for (; first && row < options.batch_size; ++row) {
            if (is_idle(made, row)) {
                const SampleBytes into = row_of(made, row);
                std::copy(first->input.begin(), first->input.end(), into.input.begin());
                std::copy(first->target.begin(), first->target.end(), into.target.begin());
            }
        }
    }

    /// One that others make is read here, too, into its row, which is of no use else.
    std::optional<SampleBytes> first_sound(BatchInWork& made) {
        for (std::int64_t row = 0; row < made.batch.samples; ++row) {
            if (sampler.has_windows() || use_of(row) != RowUse::none) {
                if (made.batch.weights[static_cast<std::size_t>(row)] == 1) {
                    return row_of(made, row);
                }
                continue;
            }
            try {
                read_sample(made, row, row_of(made, row), scratch);
                return row_of(made, row);
            } catch (const DamagedSample&) { // who counts it tells of it
            }
        }
        return std::nullopt;
    }

    /// A batch with a fault stays where it is for the next call.
    const Batch* take_front() {
        BatchInWork* front = under_way.front();
        if (front->fault.error != nullptr) {
            std::rethrow_exception(front->fault.error);
        }
        under_way.pop_front();
        repeat_first_sound(*front);
        std::sort(front->left_out.begin(), front->left_out.end(),
                  [](const auto& a, const auto& b) { return a.first < b.first; });
        front->batch.left_out.clear();
        for (auto& [row, left_out] : front->left_out) {
            front->batch.left_out.push_back(std::move(left_out));
        }
        current = front;
        return &current->batch;
    }

    void wait_until_full() {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return idle == worker_count(); });
    }
};

Loader::Loader(std::shared_ptr<const Source> source, Sampler sampler, LoaderOptions options,
               Cursor start)
    : state_(std::make_unique<State>(std::move(source), std::move(sampler), options, start)) {
    State* state = state_.get();
    for (int i = 0; i < state->options.workers; ++i) {
        state->workers.emplace_back([state](const std::stop_token& stop) { state->work(stop); });
    }
}

Loader::~Loader() = default;

const Batch* Loader::next() {
    const double start_s = state_->clock.steady_s();
    const Batch* batch = state_->take();
    state_->wait_ms = (state_->clock.steady_s() - start_s) * 1000;
    state_->waited_s += state_->wait_ms / 1000;
    return batch;
}

void Loader::wait_until_full() {
    state_->wait_until_full();
}

bool Loader::is_ready() const {
    const std::lock_guard lock(state_->mutex);
    return state_->worker_count() > 0 &&
           (state_->front_is_made() || (state_->under_way.empty() && state_->ended));
}

double Loader::last_wait_ms() const {
    return state_->wait_ms;
}

LoaderUse Loader::use() const {
    const std::lock_guard lock(state_->mutex);
    LoaderUse out = state_->use;
    out.wait_s = state_->waited_s;
    return out;
}

std::int64_t Loader::buffer_bytes() const {
    const std::int64_t rows =
        state_->sampler.has_windows() ? state_->options.batch_size : state_->rows_made();
    return std::ssize(state_->buffers) * rows *
               row_bytes(state_->source->info(), state_->mixes_classes()) +
           window_memory_bytes(state_->source->info(), state_->sampler.window_rows());
}

std::int64_t row_bytes(const SampleInfo& info, bool with_other_classes) {
    const std::size_t beside =
        sizeof(float) + (with_other_classes ? sizeof(std::int32_t) + sizeof(float) : 0);
    return info.input.bytes() + info.target.bytes() + static_cast<std::int64_t>(beside);
}

std::int64_t window_memory_bytes(const SampleInfo& info, std::int64_t window_rows) {
    return static_cast<std::int64_t>(kWindows) * window_rows *
           (info.input.bytes() + info.target.bytes());
}

} // namespace weft::data
