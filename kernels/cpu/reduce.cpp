// SPDX-License-Identifier: Apache-2.0
// Reductions. Over one block of neighbouring dimensions x is seen as [A, R, B], reduced over R: fixed
// chunks of R become partial results, which are combined in order and in double, the same bits for
// every team size. Over several blocks: one after the other, the last block first.
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/rows.h"
#include "kernels/cpu/loops/simd.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

namespace weft::kernels::cpu {
namespace {

constexpr std::int64_t kChunk = 4096;    // elements of one contiguous partial sum
constexpr std::int64_t kChunkRows = 256; // rows of one column-wise partial
constexpr std::int64_t kColumns = 4096;  // columns of one piece of work
constexpr std::int64_t kNarrow = 64;     // columns up to which several rows are added at once
constexpr std::int64_t kWide = 4 * kNarrow;

enum class Reduction { sum, max };

WEFT_VECTOR void max_into(float* to, const float* from, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        to[i] = (from[i] > to[i]) | (from[i] != from[i]) ? from[i] : to[i];
    }
}

class Reduce final : public Kernel {
public:
    Reduce(Reduction kind, std::int64_t a, std::int64_t r, std::int64_t b, std::int32_t in,
           std::int32_t out)
        : kind_(kind), a_(a), r_(r), b_(b), in_(in), out_(out), threads_(team_size()) {
        if (!is_float(in_) || !is_float(out_)) {
            unsupported("reductions of f32 and bf16 only");
        }
        chunk_ = b_ == 1 ? kChunk : kChunkRows;
        chunks_ = (r_ + chunk_ - 1) / chunk_;
        partial_bytes_ = round_up_to_line(a_ * chunks_ * b_ * 4);
        workspace_bytes_ = partial_bytes_ + threads_ * kScratchBytes;
    }

    std::int64_t outputs() const { return a_ * b_; }

    weft_status run(const weft_run_args& args) override {
        auto* partial = static_cast<float*>(args.workspace);
        const std::int64_t tiles = (b_ + kColumns - 1) / kColumns;
        parallel_each(a_ * chunks_ * tiles, a_ * r_ * b_, threads_,
                      [&](std::int64_t piece, int thread) {
                          auto* scratch =
                              reinterpret_cast<float*>(static_cast<unsigned char*>(args.workspace) +
                                                       partial_bytes_ + thread * kScratchBytes);
                          if (b_ == 1) {
                              row_piece(args.inputs[0], piece, scratch, partial);
                          } else {
                              column_piece(args.inputs[0], piece / tiles, piece % tiles * kColumns,
                                           scratch, partial);
                          }
                      });
        parallel_ranges(a_ * b_, a_ * b_ * chunks_, threads_,
                        [&](std::int64_t begin, std::int64_t end, int) {
                            combine(partial, args.outputs[0], begin, end);
                        });
        return WEFT_OK;
    }

private:
    static constexpr std::int64_t kScratchBytes = kColumns * 4;

    void row_piece(const void* in, std::int64_t piece, float* scratch, float* partial) const {
        const std::int64_t first = piece % chunks_ * chunk_;
        const std::int64_t count = std::min(chunk_, r_ - first);
        const float* x =
            as_floats(element(in, in_, piece / chunks_ * r_ + first), in_, scratch, count);
        partial[piece] = kind_ == Reduction::sum ? sum_run(x, count) : max_run(x, count);
    }

    void column_piece(const void* in, std::int64_t piece, std::int64_t column, float* scratch,
                      float* partial) const {
        const std::int64_t first = piece % chunks_ * chunk_;
        const std::int64_t rows = std::min(chunk_, r_ - first);
        const std::int64_t count = std::min(kColumns, b_ - column);
        float* to = partial + piece * b_ + column;
        if (b_ <= kNarrow) {
            narrow_piece(element(in, in_, (piece / chunks_ * r_ + first) * b_), rows, scratch, to);
            return;
        }
        fill_run(to, neutral(), count);
        for (std::int64_t r = 0; r < rows; ++r) {
            const std::int64_t at = (piece / chunks_ * r_ + first + r) * b_ + column;
            reduce_into(to, as_floats(element(in, in_, at), in_, scratch, count), count);
        }
    }

    /// As many rows at once as make long runs, which are added up at the end.
    void narrow_piece(const void* in, std::int64_t rows, float* scratch, float* to) const {
        const std::int64_t together = kWide / b_;
        float wide[kWide];
        fill_run(wide, neutral(), together * b_);
        for (std::int64_t r = 0; r < rows; r += together) {
            const std::int64_t count = std::min(together, rows - r) * b_;
            reduce_into(wide, as_floats(element(in, in_, r * b_), in_, scratch, count), count);
        }
        fill_run(to, neutral(), b_);
        for (std::int64_t i = 0; i < together; ++i) {
            reduce_into(to, wide + i * b_, b_);
        }
    }

    float neutral() const {
        return kind_ == Reduction::sum ? 0.0f : -std::numeric_limits<float>::infinity();
    }

    void reduce_into(float* to, const float* from, std::int64_t count) const {
        if (kind_ == Reduction::sum) {
            add_run(to, from, count);
        } else {
            max_into(to, from, count);
        }
    }

    void combine(const float* partial, void* out, std::int64_t begin, std::int64_t end) const {
        for (std::int64_t i = begin; i < end; ++i) {
            const float* p = partial + i / b_ * chunks_ * b_ + i % b_;
            double total = kind_ == Reduction::max ? -std::numeric_limits<double>::infinity() : 0.0;
            for (std::int64_t c = 0; c < chunks_; ++c) {
                const auto value = static_cast<double>(p[c * b_]);
                if (kind_ != Reduction::max) {
                    total += value;
                } else if (value > total || std::isnan(value)) {
                    total = value;
                }
            }
            const auto result = static_cast<float>(total);
            if (out_ == WEFT_F32) {
                static_cast<float*>(out)[i] = result;
            } else {
                static_cast<bf16*>(out)[i] = to_bf16(result);
            }
        }
    }

    Reduction kind_;
    std::int64_t a_, r_, b_;
    std::int32_t in_, out_;
    int threads_;
    std::int64_t chunk_, chunks_, partial_bytes_;
};

/// Blocks of dimensions one after the other, f32 in between.
class ReduceBlocks final : public Kernel {
public:
    explicit ReduceBlocks(std::vector<std::unique_ptr<Reduce>> stages)
        : stages_(std::move(stages)) {
        for (std::size_t i = 0; i + 1 < stages_.size(); ++i) {
            between_.push_back(workspace_bytes_);
            workspace_bytes_ += round_up_to_line(stages_[i]->outputs() * 4);
        }
        between_.push_back(workspace_bytes_); // what the stages work in
        std::int64_t most = 0;
        for (const auto& stage : stages_) {
            most = std::max(most, stage->workspace_bytes());
        }
        workspace_bytes_ += most;
    }

    weft_status run(const weft_run_args& args) override {
        auto* const workspace = static_cast<unsigned char*>(args.workspace);
        const void* in = args.inputs[0];
        for (std::size_t i = 0; i < stages_.size(); ++i) {
            void* out = i + 1 < stages_.size() ? workspace + between_[i] : args.outputs[0];
            weft_run_args stage = args;
            stage.inputs = &in;
            stage.outputs = &out;
            stage.workspace = workspace + between_.back();
            if (const weft_status status = stages_[i]->run(stage); status != WEFT_OK) {
                return status;
            }
            in = out;
        }
        return WEFT_OK;
    }

private:
    std::vector<std::unique_ptr<Reduce>> stages_;
    std::vector<std::int64_t> between_; // bytes into the workspace: results, the stages' own
};

/// Extents of neighbouring dimensions that are kept and reduced in turn: K, R, K, R, ..., K.
/// Dimensions of 1 go anywhere.
std::vector<std::int64_t> blocks_in_turn(const Op& op) {
    const Type& x = op.input(0);
    std::uint32_t reduced = 0;
    for (std::int64_t dim : op.list("dims")) {
        dim += dim < 0 ? x.rank : 0;
        require(dim >= 0 && dim < x.rank, "no such dimension to reduce");
        reduced |= 1u << dim;
    }
    std::vector<std::int64_t> blocks = {1};
    for (int d = 0; d < x.rank; ++d) {
        if (x.shape[d] == 1) {
            continue;
        }
        const bool is_reduced = (reduced >> d & 1u) != 0;
        if (is_reduced == (blocks.size() % 2 == 1)) {
            blocks.push_back(1);
        }
        blocks.back() *= x.shape[d];
    }
    if (blocks.size() == 1) {
        blocks.push_back(1); // nothing is reduced
    }
    if (blocks.size() % 2 == 0) {
        blocks.push_back(1);
    }
    return blocks;
}

Made reduce(const Op& op, Reduction kind) {
    std::vector<std::int64_t> blocks = blocks_in_turn(op);
    std::int64_t kept = 1;
    for (std::size_t i = 0; i < blocks.size(); i += 2) {
        kept *= blocks[i];
    }
    require(kept == element_count(op.output(0)), "the output's size is not that of the rest");
    std::vector<std::unique_ptr<Reduce>> stages;
    std::int32_t in = op.input(0).dtype;
    while (blocks.size() > 1) {
        const std::int64_t after = blocks.back();
        const std::int64_t extent = blocks[blocks.size() - 2];
        blocks.resize(blocks.size() - 2);
        const std::int64_t before = std::accumulate(blocks.begin(), blocks.end(), std::int64_t{1},
                                                    std::multiplies<>());
        const std::int32_t out = blocks.size() > 1 ? std::int32_t{WEFT_F32} : op.output(0).dtype;
        stages.push_back(std::make_unique<Reduce>(kind, before, extent, after, in, out));
        in = out;
        blocks.back() *= after;
    }
    if (stages.size() == 1) {
        return std::move(stages.front());
    }
    return std::make_unique<ReduceBlocks>(std::move(stages));
}

/// Of several arrays: each on its own, as if it were the only one, then added in f32.
class SumSquares final : public Kernel {
public:
    explicit SumSquares(const Op& op) : in_(op.input(0).dtype), threads_(team_size()) {
        if (!is_float(in_) || op.output(0).dtype != WEFT_F32) {
            unsupported("sums of squares of f32 and bf16 to f32 only");
        }
        first_piece_ = {0};
        for (int i = 0; i < op.inputs(); ++i) {
            require(op.input(i).dtype == in_, "arrays of several element types");
            counts_.push_back(element_count(op.input(i)));
            first_piece_.push_back(first_piece_.back() + (counts_.back() + kChunk - 1) / kChunk);
        }
        scratch_ = {round_up_to_line(first_piece_.back() * 4), kChunk * 4};
        workspace_bytes_ = scratch_.base + threads_ * scratch_.bytes;
    }

    weft_status run(const weft_run_args& args) override {
        auto* partial = static_cast<float*>(args.workspace);
        const std::int64_t work = std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0});
        parallel_each(first_piece_.back(), work, threads_, [&](std::int64_t piece, int thread) {
            const auto after = std::upper_bound(first_piece_.begin(), first_piece_.end(), piece);
            const auto array = static_cast<std::size_t>(after - first_piece_.begin() - 1);
            const std::int64_t first = (piece - first_piece_[array]) * kChunk;
            const std::int64_t count = std::min(kChunk, counts_[array] - first);
            const float* x = as_floats(element(args.inputs[array], in_, first), in_,
                                       scratch_.of(args.workspace, thread), count);
            partial[piece] = dot_run(x, x, count);
        });
        float sum = 0.0f;
        for (std::size_t array = 0; array < counts_.size(); ++array) {
            double own = 0.0;
            for (std::int64_t p = first_piece_[array]; p < first_piece_[array + 1]; ++p) {
                own += static_cast<double>(partial[p]);
            }
            sum += static_cast<float>(own);
        }
        *static_cast<float*>(args.outputs[0]) = sum;
        return WEFT_OK;
    }

private:
    std::int32_t in_;
    int threads_;
    std::vector<std::int64_t> counts_, first_piece_; // [array]
    ThreadScratch scratch_;
};

class Argmax final : public Kernel {
public:
    explicit Argmax(const Op& op)
        : rows_(row_count(op.input(0))), width_(last_dim(op.input(0))), in_(op.input(0).dtype),
          threads_(team_size()), scratch_bytes_(round_up_to_line(width_ * 4)) {
        require(op.input(0).rank >= 1 && element_count(op.output(0)) == rows_,
                "argmax gives one index per row");
        if (!is_float(in_) || op.output(0).dtype != WEFT_I32) {
            unsupported("argmax of f32 or bf16 to i32 only");
        }
        workspace_bytes_ = scratch_bytes_ * threads_;
    }

    weft_status run(const weft_run_args& args) override {
        parallel_each(rows_, rows_ * width_, threads_, [&](std::int64_t row, int thread) {
            auto* scratch = reinterpret_cast<float*>(static_cast<unsigned char*>(args.workspace) +
                                                     thread * scratch_bytes_);
            const float* x =
                as_floats(element(args.inputs[0], in_, row * width_), in_, scratch, width_);
            std::int32_t best = 0;
            for (std::int64_t v = 1; v < width_; ++v) {
                best = x[v] > x[best] ? static_cast<std::int32_t>(v) : best;
            }
            static_cast<std::int32_t*>(args.outputs[0])[row] = best;
        });
        return WEFT_OK;
    }

private:
    std::int64_t rows_, width_;
    std::int32_t in_;
    int threads_;
    std::int64_t scratch_bytes_;
};

} // namespace

Made make_reduce_sum(const Op& op) {
    return reduce(op, Reduction::sum);
}

Made make_reduce_max(const Op& op) {
    return reduce(op, Reduction::max);
}

Made make_sum_squares(const Op& op) {
    require(element_count(op.output(0)) == 1, "the sum of squares is one number");
    return std::make_unique<SumSquares>(op);
}

Made make_argmax(const Op& op) {
    return std::make_unique<Argmax>(op);
}

} // namespace weft::kernels::cpu
