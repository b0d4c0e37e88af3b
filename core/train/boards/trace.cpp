// SPDX-License-Identifier: Apache-2.0
#include "core/train/boards/trace.h"

#include "core/base/error.h"
#include "core/train/program_io.h"

#include <algorithm>
#include <cstring>

namespace weft::train {
namespace {

constexpr const char* kTraced = "predict";

/// The last traced batch; valid until the next.
struct TracedBatch {
    explicit TracedBatch(exec::Executor& executor)
        : port(*find_result(executor, kTraced, "cycles")),
          verdicts(kept(executor.read(kTraced, "verdicts"))),
          shares(executor.read(kTraced, "cycles")) {
        WEFT_CHECK(port.operand.type.dtype == ir::DType::f32 && port.whole.shape.rank() == 5,
                   "cycles are f32[steps, cycles, samples, cells, classes]");
    }

    Trace sample(std::int64_t row) const {
        const ir::Shape& shape = port.whole.shape;
        Trace out{.steps = shape[0], .cycles = shape[1], .cells = shape[3], .classes = shape[4]};
        const std::int64_t rows = shape[2];
        const auto size = static_cast<std::size_t>(out.cells * out.classes);
        out.shares.resize(static_cast<std::size_t>(out.all_cycles()) * size);
        out.verdicts.resize(static_cast<std::size_t>(out.all_cycles()));
        for (std::int64_t cycle = 0; cycle < out.all_cycles(); ++cycle) {
            const auto from = static_cast<std::size_t>(cycle * rows + row);
            const auto to = static_cast<std::size_t>(cycle);
            std::memcpy(out.shares.data() + to * size, shares.data() + from * size * sizeof(float),
                        size * sizeof(float));
            std::memcpy(out.verdicts.data() + to, verdicts.data() + from * sizeof(float),
                        sizeof(float));
        }
        return out;
    }

    // What is read of a mesh is there until something else is.
    static std::vector<std::byte> kept(std::span<const std::byte> bytes) {
        return {bytes.begin(), bytes.end()};
    }

    const plan::PlannedPort& port;
    std::vector<std::byte> verdicts;
    std::span<const std::byte> shares;
};

} // namespace

std::vector<std::int32_t> Trace::guesses(std::int64_t cycle) const {
    WEFT_CHECK(cycle >= 0 && cycle < all_cycles(), "a cycle that there is");
    std::vector<std::int32_t> out;
    const float* cell = shares.data() + cycle * cells * classes;
    for (std::int64_t i = 0; i < cells; ++i, cell += classes) {
        out.push_back(static_cast<std::int32_t>(std::max_element(cell, cell + classes) - cell));
    }
    return out;
}

std::int64_t Trace::halts_after() const {
    for (std::int64_t step = 1; step < steps; ++step) {
        if (verdicts[static_cast<std::size_t>(step * cycles - 1)] > 0.0F) {
            return step;
        }
    }
    return steps;
}

bool Trace::halts() const {
    return verdicts[static_cast<std::size_t>(halts_after() * cycles - 1)] > 0.0F;
}

bool traces(const exec::Executor& executor) {
    return !executor.plan().all_stages(kTraced).empty() &&
           find_result(executor, kTraced, "cycles") != nullptr;
}

void trace(exec::Executor& executor, std::span<const std::int32_t> samples,
           const std::function<bool(std::int64_t index, const Trace& trace)>& take) {
    if (!traces(executor)) {
        throw Error(
            ErrorKind::usage, "predict", "this model takes one look at a sample",
            "Only models that work on a sample step by step, such as trm, can be followed.");
    }
    const ir::Shape& shape = find_argument(executor, kTraced, "inputs")->whole.shape;
    const auto rows = static_cast<std::size_t>(shape[0]);
    const auto cells = static_cast<std::size_t>(shape.elements()) / rows;
    if (samples.size() % cells != 0) {
        throw Error(ErrorKind::usage, "predict",
                    "samples of " + std::to_string(cells) + " cells are needed, but there are " +
                        std::to_string(samples.size()) + " in all");
    }
    const std::size_t count = samples.size() / cells;
    std::vector<std::int32_t> batch(rows * cells);
    for (std::size_t first = 0; first < count; first += rows) {
        const std::size_t n = std::min(rows, count - first);
        std::fill(batch.begin(), batch.end(), 0);
        std::copy_n(samples.begin() + static_cast<std::ptrdiff_t>(first * cells), n * cells,
                    batch.begin());
        write_argument(executor, kTraced, "inputs", std::as_bytes(std::span(batch)));
        executor.run(kTraced);
        const TracedBatch traced(executor);
        for (std::size_t i = 0; i < n; ++i) {
            if (!take(static_cast<std::int64_t>(first + i),
                      traced.sample(static_cast<std::int64_t>(i)))) {
                return;
            }
        }
    }
}

} // namespace weft::train
