// SPDX-License-Identifier: Apache-2.0
// A fixed set of batch buffers goes round: free -> worker fills -> ready -> caller -> free.
#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/dataset.h"
#include "core/data/files/damaged_files.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <stop_token>
#include <thread>

namespace weft::data {
namespace {

std::size_t sample_bytes(const ir::Type& type) {
    return static_cast<std::size_t>(type.bytes());
}

/// Loss terms of a sample: one, or its positions with a class (below 0: ignored).
std::int64_t count_terms(std::span<const std::byte> target, const ir::Type& type) {
    if (type.dtype != ir::DType::i32) {
        return 1;
    }
    std::int64_t count = 0;
    for (std::size_t at = 0; at < target.size(); at += sizeof(std::int32_t)) {
        std::int32_t value = 0;
        std::memcpy(&value, target.data() + at, sizeof(value));
        count += value >= 0 ? 1 : 0;
    }
    return count;
}

} // namespace

struct Loader::State {
    std::shared_ptr<const Source> source;
    Sampler sampler;
    LoaderOptions options;
    Cursor cursor;            // of the next batch to prepare; the worker's own
    std::int64_t batches = 0; // prepared so far; the worker's own
    bool finished = false;    // a finite pass has had its last batch; the worker's own
    std::vector<std::unique_ptr<Batch>> buffers;
    Batch* current = nullptr; // with the caller
    double wait_ms = 0;

    std::mutex mutex; // guards the three below
    std::condition_variable_any changed;
    std::deque<Batch*> free;
    std::deque<Batch*> ready; // null: the end
    std::exception_ptr error; // comes after what is ready

    std::jthread worker; // last: joined before anything else goes

    State(std::shared_ptr<const Source> from, Sampler order, LoaderOptions how, Cursor start)
        : source(std::move(from)), sampler(order), options(how), cursor(start) {
        check_options();
        const int count = std::max(0, options.prefetch) + 1;
        for (int i = 0; i < count; ++i) {
            buffers.push_back(make_buffer());
            free.push_back(buffers.back().get());
        }
    }

    void check_options() const {
        const std::int64_t samples = source->samples();
        WEFT_CHECK(options.batch_size > 0, "a batch holds samples");
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

    std::unique_ptr<Batch> make_buffer() const {
        const auto rows = static_cast<std::size_t>(options.batch_size);
        auto batch = std::make_unique<Batch>();
        batch->inputs.resize(rows * sample_bytes(source->info().input));
        batch->targets.resize(rows * sample_bytes(source->info().target));
        batch->weights.resize(rows);
        return batch;
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

    /// A sample at the cursor's place, or zeros that weigh nothing.
    void fill_row(Batch& batch, std::int64_t row) {
        const auto at = static_cast<std::size_t>(row);
        const std::size_t input_bytes = sample_bytes(source->info().input);
        const std::size_t target_bytes = sample_bytes(source->info().target);
        const auto input = std::span(batch.inputs).subspan(at * input_bytes, input_bytes);
        const auto target = std::span(batch.targets).subspan(at * target_bytes, target_bytes);
        batch.weights[at] = 0;
        if (row < batch.samples) {
            const std::int64_t index = sampler.index(cursor.epoch, cursor.position + row);
            try {
                source->read_in_epoch(index, cursor.epoch, input, target);
                batch.weights[at] = 1;
                batch.count += static_cast<double>(count_terms(target, source->info().target));
                return;
            } catch (const DamagedSample& fault) {
                batch.left_out.push_back({index, fault_of(fault)});
            }
        }
        std::fill(input.begin(), input.end(), std::byte{0});
        std::fill(target.begin(), target.end(), std::byte{0});
    }

    /// False when there are no more batches or `stop` was requested.
    bool fill(Batch& batch, const std::stop_token& stop) {
        if (!seek_next()) {
            return false;
        }
        batch.samples = std::min(options.batch_size, usable());
        batch.first_sample = cursor.epoch * source->samples() + cursor.position;
        batch.count = 0;
        batch.left_out.clear();
        for (std::int64_t row = 0; row < options.batch_size; ++row) {
            if (stop.stop_requested()) {
                return false;
            }
            fill_row(batch, row);
        }
        cursor.position += batch.samples;
        if (usable() <= 0) {
            cursor = {cursor.epoch + 1, 0};
            finished = !options.endless;
        }
        batch.after = cursor;
        ++batches;
        return true;
    }

    void work(const std::stop_token& stop) {
        try {
            while (true) {
                Batch* batch = nullptr;
                {
                    std::unique_lock lock(mutex);
                    if (!changed.wait(lock, stop, [&] { return !free.empty(); })) {
                        return;
                    }
                    batch = free.front();
                    free.pop_front();
                }
                const bool more = !finished && fill(*batch, stop);
                give(more ? batch : nullptr);
                if (!more) {
                    return;
                }
            }
        } catch (...) {
            const std::lock_guard lock(mutex);
            error = std::current_exception();
            changed.notify_all();
        }
    }

    void give(Batch* batch) {
        const std::lock_guard lock(mutex);
        ready.push_back(batch);
        changed.notify_all();
    }

    const Batch* take() {
        std::unique_lock lock(mutex);
        if (current != nullptr) {
            free.push_back(current);
            current = nullptr;
            changed.notify_all();
        }
        changed.wait(lock, [&] { return !ready.empty() || error != nullptr; });
        if (ready.empty()) {
            std::rethrow_exception(error);
        }
        current = ready.front();
        if (current != nullptr) { // the end stays where it is for the next call
            ready.pop_front();
        }
        return current;
    }

    void wait_until_full() {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] {
            const std::size_t taken = current != nullptr ? 1 : 0;
            return error != nullptr || ready.size() + taken == buffers.size() ||
                   (!ready.empty() && ready.back() == nullptr);
        });
    }

    const Batch* take_in_caller() {
        current = !finished && fill(*buffers.front(), {}) ? buffers.front().get() : nullptr;
        return current;
    }
};

Loader::Loader(std::shared_ptr<const Source> source, Sampler sampler, LoaderOptions options,
               Cursor start)
    : state_(std::make_unique<State>(std::move(source), sampler, options, start)) {
    if (options.prefetch > 0) {
        State* state = state_.get();
        state->worker = std::jthread([state](const std::stop_token& stop) { state->work(stop); });
    }
}

Loader::~Loader() = default;

const Batch* Loader::next() {
    const SystemClock clock;
    const double start_s = clock.steady_s();
    const Batch* batch = state_->options.prefetch > 0 ? state_->take() : state_->take_in_caller();
    state_->wait_ms = (clock.steady_s() - start_s) * 1000;
    return batch;
}

void Loader::wait_until_full() {
    if (state_->options.prefetch > 0) {
        state_->wait_until_full();
    }
}

bool Loader::is_ready() const {
    const std::lock_guard lock(state_->mutex);
    return !state_->ready.empty();
}

double Loader::last_wait_ms() const {
    return state_->wait_ms;
}

std::int64_t Loader::buffer_bytes() const {
    std::size_t bytes = 0;
    for (const auto& buffer : state_->buffers) {
        bytes += buffer->inputs.capacity() + buffer->targets.capacity() +
                 buffer->weights.capacity() * sizeof(float);
    }
    return static_cast<std::int64_t>(bytes);
}

} // namespace weft::data
