// SPDX-License-Identifier: Apache-2.0
// Random ops in the convention of kernels/philox.h.
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/random_runs.h"
#include "kernels/cpu/loops/rows.h"
#include "kernels/random_shape.h"

namespace weft::kernels::cpu {
namespace {

constexpr std::int64_t kBlock = 1024;

/// Blocks of at most kBlock elements with consecutive logical indices.
class Blocks {
public:
    explicit Blocks(RandomShape shape)
        : shape_(std::move(shape)), per_run_((shape_.run + kBlock - 1) / kBlock) {}

    std::uint64_t stream() const { return shape_.stream; }
    std::int64_t elements() const { return shape_.count; }
    std::int64_t count() const { return shape_.runs() * per_run_; }

    struct Block {
        std::int64_t start, count; // elements of the array
        std::uint64_t index;       // logical, of the first
    };
    Block operator()(const std::int64_t* random, std::int64_t number) const {
        const std::int64_t run = number / per_run_;
        const std::int64_t inside = number % per_run_ * kBlock;
        return {run * shape_.run + inside, std::min(kBlock, shape_.run - inside),
                static_cast<std::uint64_t>(shape_.base(random, run) + inside)};
    }

private:
    RandomShape shape_;
    std::int64_t per_run_;
};

class Dropout final : public Kernel {
public:
    explicit Dropout(const Op& op)
        : blocks_(random_shape(op, 1)), type_(op.input(0).dtype), rate_(op.real("rate")),
          threads_(team_size()) {
        require(rate_ >= 0.0 && rate_ < 1.0, "the dropout rate is not in [0, 1)");
        require(same_shape(op.input(0), op.output(0)), "dropout keeps the shape");
        if (!is_float(type_) || op.output(0).dtype != type_) {
            unsupported("dropout of f32 or bf16 only");
        }
    }

    weft_status run(const weft_run_args& args) override {
        if (type_ == WEFT_F32) {
            drop<float>(args);
        } else {
            drop<bf16>(args);
        }
        return WEFT_OK;
    }

private:
    template <class T>
    void drop(const weft_run_args& args) const {
        const auto* random = static_cast<const std::int64_t*>(args.inputs[1]);
        const Stream stream(random, blocks_.stream());
        const auto kept = static_cast<float>(1.0 / (1.0 - rate_));
        parallel_each(blocks_.count(), blocks_.elements() * 8, threads_,
                      [&](std::int64_t number, int) {
                          const Blocks::Block block = blocks_(random, number);
                          drop_run(stream, block.index, static_cast<float>(rate_), kept,
                                   static_cast<const T*>(args.inputs[0]) + block.start,
                                   static_cast<T*>(args.outputs[0]) + block.start, block.count);
                      });
    }

    Blocks blocks_;
    std::int32_t type_;
    double rate_;
    int threads_;
};

enum class Distribution { uniform, normal, truncated_normal };

class Generate final : public Kernel {
public:
    /// Values are a + b * draw.
    Generate(const Op& op, Distribution distribution, double a, double b)
        : blocks_(random_shape(op, 0)), type_(op.output(0).dtype), distribution_(distribution),
          a_(a), b_(b), threads_(team_size()), scratch_{0, kBlock * 4} {
        if (!is_float(type_)) {
            unsupported("random numbers in f32 or bf16 only");
        }
        workspace_bytes_ = scratch_.bytes * threads_;
    }

    weft_status run(const weft_run_args& args) override {
        const auto* random = static_cast<const std::int64_t*>(args.inputs[0]);
        const Stream stream(random, blocks_.stream());
        parallel_each(
            blocks_.count(), blocks_.elements() * 16, threads_,
            [&](std::int64_t number, int thread) {
                const Blocks::Block block = blocks_(random, number);
                float* values = scratch_.of(args.workspace, thread);
                for (std::int64_t i = 0; i < block.count; ++i) {
                    values[i] = static_cast<float>(
                        a_ + b_ * draw(stream, block.index + static_cast<std::uint64_t>(i)));
                }
                store_run(type_)(values, element(args.outputs[0], type_, block.start), block.count);
            });
        return WEFT_OK;
    }

private:
    double draw(const Stream& stream, std::uint64_t index) const {
        const PhiloxBlock block = stream.block(index);
        switch (distribution_) {
        case Distribution::uniform: return static_cast<double>(uniform_of(block[0]));
        case Distribution::normal: return normal_of(block);
        default: return truncated_normal_of(block);
        }
    }

    Blocks blocks_;
    std::int32_t type_;
    Distribution distribution_;
    double a_, b_;
    int threads_;
    ThreadScratch scratch_;
};

} // namespace

Made make_dropout(const Op& op) {
    return std::make_unique<Dropout>(op);
}

Made make_random_uniform(const Op& op) {
    const double low = op.real("low");
    return std::make_unique<Generate>(op, Distribution::uniform, low, op.real("high") - low);
}

Made make_random_normal(const Op& op) {
    return std::make_unique<Generate>(op, Distribution::normal, op.real("mean"), op.real("stddev"));
}

Made make_random_truncated_normal(const Op& op) {
    return std::make_unique<Generate>(op, Distribution::truncated_normal, op.real("mean"),
                                      op.real("stddev"));
}

} // namespace weft::kernels::cpu
