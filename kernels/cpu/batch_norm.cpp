// SPDX-License-Identifier: Apache-2.0
// Batch norm on x seen as [rows, C], rows = samples * positions. Column sums go through partial
// sums of fixed chunks of rows, combined in order and in double, so that team size changes no bit.
// Elements are read as they are stored, f32 or bf16, and widened in registers: memory is read once
// for the sums and once for the result.
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/rows.h"
#include "kernels/cpu/loops/simd.h"

#include <cmath>

namespace weft::kernels::cpu {
namespace {

/// RowRange of a chunk, by their number in the whole array.
struct RowRange {
    std::int64_t first, count, width;
};

/// What each row counts: that of its sample.
struct RowWeights {
    const float* of_sample; // null: 1
    std::int64_t positions; // rows of a sample

    WEFT_INLINE float operator()(std::int64_t row) const {
        return of_sample == nullptr ? 1.0f : of_sample[row / positions];
    }
};

// `x`, `dy`, `y` and `dx` are whole arrays; channel vectors have `width` elements.

template <class T>
WEFT_VECTOR void add_weighted(const T* x, const RowRange& rows, const RowWeights& weights,
                              float* sums) {
    const std::int64_t width = rows.width;
    for (std::int64_t r = rows.first; r < rows.first + rows.count; ++r) {
        const float weight = weights(r);
        const T* row = x + r * width;
#pragma GCC ivdep
        for (std::int64_t c = 0; c < width; ++c) {
            sums[c] += weight * to_float(row[c]);
        }
    }
}

template <class T>
WEFT_VECTOR void add_squares(const T* x, const RowRange& rows, const RowWeights& weights,
                             const float* center, float* squares) {
    const std::int64_t width = rows.width;
    for (std::int64_t r = rows.first; r < rows.first + rows.count; ++r) {
        const float weight = weights(r);
        const T* row = x + r * width;
#pragma GCC ivdep
        for (std::int64_t c = 0; c < width; ++c) {
            const float d = to_float(row[c]) - center[c];
            squares[c] += weight * d * d;
        }
    }
}

template <class T>
WEFT_VECTOR void add_grads(const T* x, const T* dy, const RowRange& rows, const float* mean,
                           const float* rstd, float* sums, float* dots) {
    const std::int64_t width = rows.width;
    for (std::int64_t r = rows.first; r < rows.first + rows.count; ++r) {
        const T* row = x + r * width;
        const T* slope = dy + r * width;
#pragma GCC ivdep
        for (std::int64_t c = 0; c < width; ++c) {
            const float g = to_float(slope[c]);
            sums[c] += g;
            dots[c] += g * ((to_float(row[c]) - mean[c]) * rstd[c]);
        }
    }
}

template <class T, class Out>
WEFT_VECTOR void normalize(const T* x, const RowRange& rows, const float* mean, const float* factor,
                           const float* shift, Out* y) {
    const std::int64_t width = rows.width;
    for (std::int64_t r = rows.first; r < rows.first + rows.count; ++r) {
        const T* row = x + r * width;
        Out* out = y + r * width;
#pragma GCC ivdep
        for (std::int64_t c = 0; c < width; ++c) {
            out[c] = from_float<Out>((to_float(row[c]) - mean[c]) * factor[c] + shift[c]);
        }
    }
}

/// What the gradient of x is made of: share (sum + u dot) is the part of the statistics.
struct InputGrad {
    const float *mean, *rstd, *factor, *sum, *dot;
    float share; // of a row of weight 1 in the total weight
};

/// dx = factor (dy - weight share (sum + u dot)), u = (x - mean) rstd
template <class T, class Out>
WEFT_VECTOR void input_grad(const T* x, const T* dy, const RowRange& rows,
                            const RowWeights& weights, const InputGrad& of, Out* dx) {
    const std::int64_t width = rows.width;
    for (std::int64_t r = rows.first; r < rows.first + rows.count; ++r) {
        const float weight = weights(r) * of.share;
        const T* row = x + r * width;
        const T* slope = dy + r * width;
        Out* out = dx + r * width;
#pragma GCC ivdep
        for (std::int64_t c = 0; c < width; ++c) {
            const float u = (to_float(row[c]) - of.mean[c]) * of.rstd[c];
            out[c] = from_float<Out>(of.factor[c] *
                                     (to_float(slope[c]) - weight * (of.sum[c] + u * of.dot[c])));
        }
    }
}

/// to += weight * from
WEFT_VECTOR void add_times(const float* from, double weight, double* to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        to[i] += weight * static_cast<double>(from[i]);
    }
}

/// Adds the squares of the distances from `mean` of a chunk with a mean of its own.
WEFT_VECTOR void add_spread(const float* own, const float* squares, const double* mean,
                            double weight, double* to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        const double apart = static_cast<double>(own[i]) - mean[i];
        to[i] += static_cast<double>(squares[i]) + weight * apart * apart;
    }
}

WEFT_VECTOR void widen_and_add(const float* from, double* to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        to[i] += static_cast<double>(from[i]);
    }
}

/// Calls fn with the elements of `data` as they are stored.
template <class Fn>
void as_stored(std::int32_t dtype, const void* data, const Fn& fn) {
    if (dtype == WEFT_F32) {
        fn(static_cast<const float*>(data));
    } else {
        fn(static_cast<const bf16*>(data));
    }
}
template <class Fn>
void as_stored(std::int32_t dtype, void* data, const Fn& fn) {
    if (dtype == WEFT_F32) {
        fn(static_cast<float*>(data));
    } else {
        fn(static_cast<bf16*>(data));
    }
}

/// Workspace: two totals per channel in double, then channel vectors, then two partial sums per
/// chunk.
class BatchNormKernel : public Kernel {
public:
    BatchNormKernel(const Op& op, int weights, int vectors)
        : samples_(op.input(0).rank >= 2 ? op.input(0).shape[0] : 0), rows_(row_count(op.input(0))),
          width_(last_dim(op.input(0))), x_(op.input(0).dtype),
          weights_(op.inputs() > weights ? weights : -1), eps_(op.real("eps")),
          threads_(team_size()), stride_(round_up_to_line(width_ * 4) / 4), chunk_(rows_of_chunk()),
          chunks_((rows_ + chunk_ - 1) / chunk_), partial_((4 + vectors) * stride_) {
        require(op.input(0).rank >= 2, "batch norm takes [N, ..., C]");
        if (!is_float(x_)) {
            unsupported("batch norm of f32 or bf16 only");
        }
        if (weights_ >= 0) {
            check(op.input(weights_), samples_);
        }
        workspace_bytes_ = (partial_ + 2 * stride_ * chunks_) * 4;
    }

protected:
    static void check(const Type& type, std::int64_t count) {
        require(element_count(type) == count,
                "a vector of statistics or parameters has a wrong size");
        if (type.dtype != WEFT_F32) {
            unsupported("statistics and parameters in f32 only");
        }
    }

    RowWeights weights(const weft_run_args& args) const {
        return {weights_ < 0 ? nullptr : static_cast<const float*>(args.inputs[weights_]),
                samples_ > 0 ? rows_ / samples_ : 1};
    }

    /// Of the rows from `first` to before `end`.
    double total_weight(const RowWeights& weights, std::int64_t first, std::int64_t end) const {
        if (weights.of_sample == nullptr) {
            return static_cast<double>(end - first);
        }
        double total = 0.0;
        for (std::int64_t row = first; row < end;) { // sample by sample
            const std::int64_t next =
                std::min(end, (row / weights.positions + 1) * weights.positions);
            total += static_cast<double>(weights(row)) * static_cast<double>(next - row);
            row = next;
        }
        return total;
    }

    /// 1 / that of all rows; 0 without any.
    double share(const RowWeights& weights) const {
        const double total = total_weight(weights, 0, rows_);
        return total > 0.0 ? 1.0 / total : 0.0;
    }

    RowRange chunk(std::int64_t number) const {
        const std::int64_t first = number * chunk_;
        return {first, std::min(chunk_, rows_ - first), width_};
    }

    /// Two of every channel.
    double* totals(const weft_run_args& args) const { return static_cast<double*>(args.workspace); }
    float* vector(const weft_run_args& args, std::int64_t i) const {
        return static_cast<float*>(args.workspace) + (4 + i) * stride_;
    }
    /// Two partial sums of every channel.
    float* partial(const weft_run_args& args, std::int64_t chunk) const {
        return static_cast<float*>(args.workspace) + partial_ + 2 * stride_ * chunk;
    }

    /// fn(rows, its two partial sums, which are zero before)
    template <class Fn>
    void for_each_chunk(const weft_run_args& args, const Fn& fn) const {
        parallel_each(chunks_, rows_ * width_ * 2, threads_, [&](std::int64_t number, int) {
            float* first = partial(args, number);
            fill_run(first, 0.0f, 2 * stride_);
            fn(chunk(number), first, first + stride_);
        });
    }

    std::int64_t samples_, rows_, width_;
    std::int32_t x_;
    int weights_; // input index or -1
    double eps_;
    int threads_;
    std::int64_t stride_, chunk_, chunks_, partial_;

private:
    /// What is read twice for the statistics stays in the second cache.
    std::int64_t rows_of_chunk() const {
        constexpr std::int64_t kElements = 64 * 1024;
        return std::clamp<std::int64_t>(kElements / std::max<std::int64_t>(width_, 1), 16, 256);
    }
};

class BatchNorm final : public BatchNormKernel { // x, scale, shift, weights? -> y, mean, variance
public:
    explicit BatchNorm(const Op& op) : BatchNormKernel(op, 3, 1), y_(op.output(0).dtype) {
        for (int i : {1, 2}) {
            check(op.input(i), width_);
            check(op.output(i), width_);
        }
        require(same_shape(op.input(0), op.output(0)), "batch_norm keeps the shape");
        if (!is_float(y_)) {
            unsupported("batch norm of f32 or bf16 only");
        }
    }

    weft_status run(const weft_run_args& args) override {
        add_up(args);
        combine(args);
        const auto* scale = static_cast<const float*>(args.inputs[1]);
        const auto* shift = static_cast<const float*>(args.inputs[2]);
        const auto* mean = static_cast<const float*>(args.outputs[1]);
        const auto* variance = static_cast<const float*>(args.outputs[2]);
        float* factor = vector(args, 0);
        for (std::int64_t c = 0; c < width_; ++c) {
            factor[c] = scale[c] / std::sqrt(variance[c] + static_cast<float>(eps_));
        }
        as_stored(x_, args.inputs[0], [&](const auto* x) {
            as_stored(y_, args.outputs[0], [&](auto* y) {
                parallel_each(chunks_, rows_ * width_ * 2, threads_, [&](std::int64_t i, int) {
                    normalize(x, chunk(i), mean, factor, shift, y);
                });
            });
        });
        return WEFT_OK;
    }

private:
    /// Of each chunk its mean and the squares of the distances from that.
    void add_up(const weft_run_args& args) const {
        const RowWeights weights = this->weights(args);
        as_stored(x_, args.inputs[0], [&](const auto* x) {
            for_each_chunk(args, [&](const RowRange& rows, float* mean, float* squares) {
                add_weighted(x, rows, weights, mean);
                const double total = total_weight(weights, rows.first, rows.first + rows.count);
                scale_run(mean, total > 0.0 ? static_cast<float>(1.0 / total) : 0.0f, width_);
                add_squares(x, rows, weights, mean, squares);
            });
        });
    }

    /// Mean and variance of all rows from those of the chunks (Chan, Golub, LeVeque 1983).
    void combine(const weft_run_args& args) const {
        const RowWeights weights = this->weights(args);
        auto* means = static_cast<float*>(args.outputs[1]);
        auto* variances = static_cast<float*>(args.outputs[2]);
        const double share = this->share(weights);
        double* sums = totals(args);
        double* squares = sums + stride_;
        std::fill_n(sums, 2 * stride_, 0.0);
        for (std::int64_t i = 0; i < chunks_; ++i) {
            const RowRange rows = chunk(i);
            add_times(partial(args, i), total_weight(weights, rows.first, rows.first + rows.count),
                      sums, width_);
        }
        for (std::int64_t c = 0; c < width_; ++c) {
            sums[c] *= share; // the mean
            means[c] = static_cast<float>(sums[c]);
        }
        for (std::int64_t i = 0; i < chunks_; ++i) {
            const RowRange rows = chunk(i);
            const float* mean = partial(args, i);
            add_spread(mean, mean + stride_, sums,
                       total_weight(weights, rows.first, rows.first + rows.count), squares, width_);
        }
        for (std::int64_t c = 0; c < width_; ++c) {
            variances[c] = static_cast<float>(squares[c] * share);
        }
    }

    std::int32_t y_;
};

class BatchNormGrad final : public BatchNormKernel {
public: // x, scale, mean, variance, dy, weights? -> dx, dscale, dshift
    explicit BatchNormGrad(const Op& op) : BatchNormKernel(op, 5, 2), dx_(op.output(0).dtype) {
        for (int i : {1, 2, 3}) {
            check(op.input(i), width_);
        }
        check(op.output(1), width_);
        check(op.output(2), width_);
        require(same_shape(op.input(0), op.input(4)) && same_shape(op.input(0), op.output(0)),
                "x, dy and dx differ in shape");
        if (!is_float(dx_) || op.input(4).dtype != x_) {
            unsupported("batch norm of f32 or bf16 only");
        }
    }

    weft_status run(const weft_run_args& args) override {
        if (x_ == WEFT_F32) {
            run_on<float>(args);
        } else {
            run_on<bf16>(args);
        }
        return WEFT_OK;
    }

private:
    template <class T>
    void run_on(const weft_run_args& args) const {
        const auto* x = static_cast<const T*>(args.inputs[0]);
        const auto* scale = static_cast<const float*>(args.inputs[1]);
        const auto* mean = static_cast<const float*>(args.inputs[2]);
        const auto* variance = static_cast<const float*>(args.inputs[3]);
        const auto* dy = static_cast<const T*>(args.inputs[4]);
        auto* dscale = static_cast<float*>(args.outputs[1]);
        auto* dshift = static_cast<float*>(args.outputs[2]);
        float* rstd = vector(args, 0);
        float* factor = vector(args, 1);
        for (std::int64_t c = 0; c < width_; ++c) {
            rstd[c] = 1.0f / std::sqrt(variance[c] + static_cast<float>(eps_));
            factor[c] = scale[c] * rstd[c];
        }
        for_each_chunk(args, [&](const RowRange& rows, float* sums, float* dots) {
            add_grads(x, dy, rows, mean, rstd, sums, dots);
        });
        double* totals = this->totals(args);
        std::fill_n(totals, 2 * stride_, 0.0);
        for (std::int64_t i = 0; i < chunks_; ++i) {
            widen_and_add(partial(args, i), totals, 2 * stride_);
        }
        for (std::int64_t c = 0; c < width_; ++c) {
            dshift[c] = static_cast<float>(totals[c]);
            dscale[c] = static_cast<float>(totals[stride_ + c]);
        }
        const RowWeights weights = this->weights(args);
        const InputGrad parts{mean,   rstd,   factor,
                              dshift, dscale, static_cast<float>(share(weights))};
        as_stored(dx_, args.outputs[0], [&](auto* dx) {
            parallel_each(chunks_, rows_ * width_ * 3, threads_, [&](std::int64_t i, int) {
                input_grad(x, dy, chunk(i), weights, parts, dx);
            });
        });
    }

    std::int32_t dx_;
};

class BatchNormInference final : public Kernel { // x, scale, shift, mean, variance -> y
public:
    explicit BatchNormInference(const Op& op)
        : rows_(row_count(op.input(0))), width_(last_dim(op.input(0))), type_(op.input(0).dtype),
          eps_(op.real("eps")), threads_(team_size()) {
        for (int i = 1; i < 5; ++i) {
            require(element_count(op.input(i)) == width_,
                    "a vector of statistics or parameters has a wrong size");
            if (op.input(i).dtype != WEFT_F32) {
                unsupported("statistics and parameters in f32 only");
            }
        }
        require(same_shape(op.input(0), op.output(0)), "batch_norm_inference keeps the shape");
        if (!is_float(type_) || op.output(0).dtype != type_) {
            unsupported("batch norm of f32 or bf16 only");
        }
        workspace_bytes_ = round_up_to_line(width_ * 4);
    }

    weft_status run(const weft_run_args& args) override {
        const auto vector = [&](int i) { return static_cast<const float*>(args.inputs[i]); };
        auto* factor = static_cast<float*>(args.workspace);
        for (std::int64_t c = 0; c < width_; ++c) {
            factor[c] = vector(1)[c] / std::sqrt(vector(4)[c] + static_cast<float>(eps_));
        }
        as_stored(type_, args.inputs[0], [&](const auto* x) {
            auto* y = static_cast<std::remove_cvref_t<decltype(*x)>*>(args.outputs[0]);
            parallel_ranges(
                rows_, rows_ * width_ * 2, threads_,
                [&](std::int64_t begin, std::int64_t end, int) {
                    normalize(x, {begin, end - begin, width_}, vector(3), factor, vector(2), y);
                });
        });
        return WEFT_OK;
    }

private:
    std::int64_t rows_, width_;
    std::int32_t type_;
    double eps_;
    int threads_;
};

} // namespace

Made make_batch_norm(const Op& op) {
    return std::make_unique<BatchNorm>(op);
}

Made make_batch_norm_grad(const Op& op) {
    return std::make_unique<BatchNormGrad>(op);
}

Made make_batch_norm_inference(const Op& op) {
    return std::make_unique<BatchNormInference>(op);
}

} // namespace weft::kernels::cpu
