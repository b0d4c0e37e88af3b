// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/rows.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace weft::kernels::cpu {
namespace {

class Embedding final : public Kernel {
public:
    explicit Embedding(const Op& op)
        : rows_(op.input(0).shape[0]), width_(last_dim(op.input(0))),
          count_(element_count(op.input(1))), table_(op.input(0).dtype), out_(op.output(0).dtype),
          threads_(team_size()), scratch_{0, round_up_to_line(width_ * 4)} {
        require(op.input(0).rank == 2, "the table is not [V, C]");
        require(element_count(op.output(0)) == count_ * width_, "the output is not [..., C]");
        if (!is_float(table_) || !is_float(out_) || op.input(1).dtype != WEFT_I32) {
            unsupported("tables in f32 or bf16 and ids in i32 only");
        }
        workspace_bytes_ = scratch_.bytes * threads_;
    }

    weft_status run(const weft_run_args& args) override {
        const auto* ids = static_cast<const std::int32_t*>(args.inputs[1]);
        std::atomic<bool> ids_fit{true};
        parallel_each(count_, count_ * width_, threads_, [&](std::int64_t i, int thread) {
            if (ids[i] < 0 || ids[i] >= rows_) {
                ids_fit.store(false, std::memory_order_relaxed);
                return;
            }
            const void* from = element(args.inputs[0], table_, ids[i] * width_);
            void* to = element(args.outputs[0], out_, i * width_);
            if (table_ == out_) {
                std::memcpy(to, from, static_cast<std::size_t>(width_ * dtype_size(out_)));
            } else {
                const float* row =
                    as_floats(from, table_, scratch_.of(args.workspace, thread), width_);
                store_run(out_)(row, to, width_);
            }
        });
        return ids_fit.load() ? WEFT_OK
                              : fail(WEFT_BAD_ARGUMENT, "embedding: an id is outside the table");
    }

private:
    std::int64_t rows_, width_, count_;
    std::int32_t table_, out_;
    int threads_;
    ThreadScratch scratch_;
};

/// Threads own columns of the table and each walks all ids in order: no two write the same element,
/// and each element sums in the order of the ids whatever the team.
class EmbeddingGrad final : public Kernel {
public:
    explicit EmbeddingGrad(const Op& op)
        : rows_(op.output(0).shape[0]), width_(last_dim(op.output(0))),
          count_(element_count(op.input(0))), dy_(op.input(1).dtype), threads_(team_size()) {
        require(op.output(0).rank == 2, "the table's gradient is not [V, C]");
        require(element_count(op.input(1)) == count_ * width_,
                "the upstream gradient is not [..., C]");
        if (!is_float(dy_) || op.output(0).dtype != WEFT_F32 || op.input(0).dtype != WEFT_I32) {
            unsupported("gradients into f32 from i32 ids only");
        }
        const std::int64_t share = (width_ + threads_ - 1) / threads_;
        tile_ = std::max<std::int64_t>(kMinTile, (share + kMinTile - 1) / kMinTile * kMinTile);
        scratch_ = {0, round_up_to_line(tile_ * 4)};
        workspace_bytes_ = scratch_.bytes * threads_;
    }

    weft_status run(const weft_run_args& args) override {
        const auto* ids = static_cast<const std::int32_t*>(args.inputs[0]);
        for (std::int64_t i = 0; i < count_; ++i) {
            if (ids[i] < 0 || ids[i] >= rows_) {
                return fail(WEFT_BAD_ARGUMENT, "embedding_grad: an id is outside the table");
            }
        }
        auto* out = static_cast<float*>(args.outputs[0]);
        const std::int64_t work = (rows_ + count_) * width_;
        parallel_each((width_ + tile_ - 1) / tile_, work, threads_,
                      [&](std::int64_t piece, int thread) {
                          const std::int64_t first = piece * tile_;
                          accumulate(args, ids, out, first, std::min(tile_, width_ - first),
                                     scratch_.of(args.workspace, thread));
                      });
        return WEFT_OK;
    }

private:
    static constexpr std::int64_t kMinTile = 16;

    void accumulate(const weft_run_args& args, const std::int32_t* ids, float* out,
                    std::int64_t first, std::int64_t columns, float* scratch) const {
        for (std::int64_t r = 0; r < rows_; ++r) {
            fill_run(out + r * width_ + first, 0.0f, columns);
        }
        for (std::int64_t i = 0; i < count_; ++i) {
            const float* dy =
                as_floats(element(args.inputs[1], dy_, i * width_ + first), dy_, scratch, columns);
            add_run(out + ids[i] * width_ + first, dy, columns);
        }
    }

    std::int64_t rows_, width_, count_, tile_;
    std::int32_t dy_;
    int threads_;
    ThreadScratch scratch_;
};

/// Who stands first is found in a table of places by number; then threads own columns and each
/// walks all rows in order, as above.
class SumRows final : public Kernel { // ids, rows [..., C] -> firsts, sums
public:
    explicit SumRows(const Op& op)
        : width_(last_dim(op.input(1))), count_(element_count(op.input(0))),
          rows_(op.input(1).dtype), threads_(team_size()) {
        require(element_count(op.input(1)) == count_ * width_, "the rows are not [..., C]");
        require(element_count(op.output(0)) == count_ &&
                    element_count(op.output(1)) == count_ * width_,
                "the outputs are not ids and rows");
        if (!is_float(rows_) || op.output(1).dtype != WEFT_F32 || op.input(0).dtype != WEFT_I32 ||
            op.output(0).dtype != WEFT_I32 || count_ > kMostRows) {
            unsupported("sums into f32 of at most 2^30 rows with i32 ids only");
        }
        while (places_ < 2 * count_) {
            places_ *= 2;
        }
        const std::int64_t share = (width_ + threads_ - 1) / threads_;
        tile_ = std::max<std::int64_t>(kMinTile, (share + kMinTile - 1) / kMinTile * kMinTile);
        scratch_ = {round_up_to_line(4 * (places_ + count_)), round_up_to_line(tile_ * 4)};
        workspace_bytes_ = scratch_.base + scratch_.bytes * threads_;
    }

    weft_status run(const weft_run_args& args) override {
        auto* places = static_cast<std::int32_t*>(args.workspace);
        std::int32_t* firsts = places + places_;
        find_firsts(static_cast<const std::int32_t*>(args.inputs[0]), places, firsts,
                    static_cast<std::int32_t*>(args.outputs[0]));
        parallel_each((width_ + tile_ - 1) / tile_, 2 * count_ * width_, threads_,
                      [&](std::int64_t piece, int thread) {
                          const std::int64_t column = piece * tile_;
                          accumulate(args, firsts, column, std::min(tile_, width_ - column),
                                     scratch_.of(args.workspace, thread));
                      });
        return WEFT_OK;
    }

private:
    static constexpr std::int64_t kMinTile = 16;
    static constexpr std::int64_t kMostRows = std::int64_t{1} << 30;
    static constexpr std::int32_t kNone = -1;

    /// firsts[i]: where the id of row i stands first; none for ids below 0.
    void find_firsts(const std::int32_t* ids, std::int32_t* places, std::int32_t* firsts,
                     std::int32_t* named) const {
        std::fill_n(places, places_, kNone);
        for (std::int64_t i = 0; i < count_; ++i) {
            if (ids[i] < 0) {
                firsts[i] = named[i] = kNone;
                continue;
            }
            auto at = static_cast<std::int64_t>(static_cast<std::uint32_t>(ids[i]) * kSpread) &
                      (places_ - 1);
            while (places[at] != kNone && ids[places[at]] != ids[i]) {
                at = (at + 1) & (places_ - 1);
            }
            const bool is_first = places[at] == kNone;
            places[at] = is_first ? static_cast<std::int32_t>(i) : places[at];
            firsts[i] = places[at];
            named[i] = is_first ? ids[i] : kNone;
        }
    }
    static constexpr std::uint32_t kSpread = 2654435769; // 2^32 by the golden ratio

    void accumulate(const weft_run_args& args, const std::int32_t* firsts, std::int64_t column,
                    std::int64_t columns, float* scratch) const {
        auto* out = static_cast<float*>(args.outputs[1]);
        for (std::int64_t i = 0; i < count_; ++i) {
            fill_run(out + i * width_ + column, 0.0f, columns);
            if (firsts[i] != kNone) {
                const float* row = as_floats(element(args.inputs[1], rows_, i * width_ + column),
                                             rows_, scratch, columns);
                add_run(out + firsts[i] * width_ + column, row, columns);
            }
        }
    }

    std::int64_t width_, count_, tile_, places_ = 2;
    std::int32_t rows_;
    int threads_;
    ThreadScratch scratch_;
};

class WriteRows final : public Kernel { // table, ids, rows -> table
public:
    explicit WriteRows(const Op& op)
        : rows_(op.input(0).shape[0]), count_(element_count(op.input(1))), threads_(team_size()) {
        const Type& table = op.input(0);
        require(table.rank == 2 && same_shape(table, op.output(0)), "the table is not [V, C]");
        require(element_count(op.input(2)) == count_ * table.shape[1], "the rows are not [..., C]");
        require(op.input(2).dtype == table.dtype && op.output(0).dtype == table.dtype,
                "table and rows differ in dtype");
        require(op.input(1).dtype == WEFT_I32, "the ids are not i32");
        row_bytes_ = table.shape[1] * dtype_size(table.dtype);
    }

    weft_status run(const weft_run_args& args) override {
        const auto* ids = static_cast<const std::int32_t*>(args.inputs[1]);
        const auto* fresh = static_cast<const unsigned char*>(args.inputs[2]);
        auto* out = static_cast<unsigned char*>(args.outputs[0]);
        if (std::any_of(ids, ids + count_, [&](std::int32_t id) { return id >= rows_; })) {
            return fail(WEFT_BAD_ARGUMENT, "write_rows: an id is outside the table");
        }
        if (args.inputs[0] != args.outputs[0]) {
            std::memcpy(out, args.inputs[0], static_cast<std::size_t>(rows_ * row_bytes_));
        }
        parallel_each(count_, count_ * row_bytes_ / 4, threads_, [&](std::int64_t i, int) {
            if (ids[i] >= 0) {
                std::memcpy(out + ids[i] * row_bytes_, fresh + i * row_bytes_,
                            static_cast<std::size_t>(row_bytes_));
            }
        });
        return WEFT_OK;
    }

private:
    std::int64_t rows_, count_, row_bytes_ = 0;
    int threads_;
};

} // namespace

Made make_embedding(const Op& op) {
    return std::make_unique<Embedding>(op);
}

Made make_embedding_grad(const Op& op) {
    return std::make_unique<EmbeddingGrad>(op);
}

Made make_sum_rows(const Op& op) {
    return std::make_unique<SumRows>(op);
}

Made make_write_rows(const Op& op) {
    return std::make_unique<WriteRows>(op);
}

} // namespace weft::kernels::cpu
