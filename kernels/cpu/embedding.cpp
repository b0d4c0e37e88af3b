// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/rows.h"

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

} // namespace

Made make_embedding(const Op& op) {
    return std::make_unique<Embedding>(op);
}

Made make_embedding_grad(const Op& op) {
    return std::make_unique<EmbeddingGrad>(op);
}

} // namespace weft::kernels::cpu
