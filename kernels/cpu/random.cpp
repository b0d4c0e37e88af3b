// SPDX-License-Identifier: Apache-2.0
// Random ops in the convention of kernels/philox.h.
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/random_runs.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/simd.h"
#include "kernels/random_shape.h"

namespace weft::kernels::cpu {
namespace {

WEFT_VECTOR void multiply(const float* x, const float* factors, float* out, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        out[i] = factors[i] != 0.0f ? x[i] * factors[i] : 0.0f;
    }
}

constexpr std::int64_t kBlock = 1024;

class Dropout final : public Kernel {
public:
    explicit Dropout(const Op& op)
        : shape_(random_shape(op, 1)), type_(op.input(0).dtype), rate_(op.real("rate")),
          threads_(team_size()), scratch_{0, kBlock * 12} {
        require(rate_ >= 0.0 && rate_ < 1.0, "the dropout rate is not in [0, 1)");
        require(same_shape(op.input(0), op.output(0)), "dropout keeps the shape");
        if (!is_float(type_) || op.output(0).dtype != type_) {
            unsupported("dropout of f32 or bf16 only");
        }
        workspace_bytes_ = scratch_.bytes * threads_;
    }

    weft_status run(const weft_run_args& args) override {
        const auto* random = static_cast<const std::int64_t*>(args.inputs[1]);
        const Stream stream(random, shape_.stream);
        const std::int64_t base = random[2] * shape_.per_sample;
        const auto kept = static_cast<float>(1.0 / (1.0 - rate_));
        parallel_each((shape_.count + kBlock - 1) / kBlock, shape_.count * 8, threads_,
                      [&](std::int64_t block, int thread) {
                          float* factors = scratch_.of(args.workspace, thread);
                          const std::int64_t start = block * kBlock;
                          const std::int64_t count = std::min(kBlock, shape_.count - start);
                          dropout_factors(stream, static_cast<std::uint64_t>(base + start),
                                          static_cast<float>(rate_), kept, factors, count);
                          apply(args, start, count, factors);
                      });
        return WEFT_OK;
    }

private:
    void apply(const weft_run_args& args, std::int64_t start, std::int64_t count,
               float* factors) const {
        void* out = element(args.outputs[0], type_, start);
        const float* x =
            as_floats(element(args.inputs[0], type_, start), type_, factors + kBlock, count);
        float* result = type_ == WEFT_F32 ? static_cast<float*>(out) : factors + 2 * kBlock;
        multiply(x, factors, result, count);
        if (type_ == WEFT_BF16) {
            store_bf16(result, static_cast<bf16*>(out), count);
        }
    }

    RandomShape shape_;
    std::int32_t type_;
    double rate_;
    int threads_;
    ThreadScratch scratch_;
};

enum class Distribution { uniform, normal, truncated_normal };

class Generate final : public Kernel {
public:
    /// Values are a + b * draw.
    Generate(const Op& op, Distribution distribution, double a, double b)
        : shape_(random_shape(op, 0)), type_(op.output(0).dtype), distribution_(distribution),
          a_(a), b_(b), threads_(team_size()), scratch_{0, kBlock * 4} {
        if (!is_float(type_)) {
            unsupported("random numbers in f32 or bf16 only");
        }
        workspace_bytes_ = scratch_.bytes * threads_;
    }

    weft_status run(const weft_run_args& args) override {
        const auto* random = static_cast<const std::int64_t*>(args.inputs[0]);
        const Stream stream(random, shape_.stream);
        const std::int64_t base = random[2] * shape_.per_sample;
        parallel_each((shape_.count + kBlock - 1) / kBlock, shape_.count * 16, threads_,
                      [&](std::int64_t block, int thread) {
                          const std::int64_t start = block * kBlock;
                          const std::int64_t count = std::min(kBlock, shape_.count - start);
                          float* values = scratch_.of(args.workspace, thread);
                          for (std::int64_t i = 0; i < count; ++i) {
                              values[i] =
                                  static_cast<float>(a_ + b_ * draw(stream, base + start + i));
                          }
                          store_run(type_)(values, element(args.outputs[0], type_, start), count);
                      });
        return WEFT_OK;
    }

private:
    double draw(const Stream& stream, std::int64_t index) const {
        const PhiloxBlock block = stream.block(static_cast<std::uint64_t>(index));
        switch (distribution_) {
        case Distribution::uniform: return static_cast<double>(uniform_of(block[0]));
        case Distribution::normal: return normal_of(block);
        default: return truncated_normal_of(block);
        }
    }

    RandomShape shape_;
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
