// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding: pieces of 16 rows; the first row's sines and cosines come from the
// library, those of the next rows by turning them one position on, in double, so that the error
// stays below 1e-14 and no table is kept.
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/rows.h"
#include "kernels/cpu/loops/simd.h"
#include "kernels/rotary_shape.h"

namespace weft::kernels::cpu {
namespace {

constexpr std::int64_t kPieceRows = 16;

/// Turns each angle on by its step and writes it as float.
WEFT_VECTOR void next_position(double* sine, double* cosine, const double* step_sine,
                               const double* step_cosine, float* sine_f, float* cosine_f,
                               std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        sine_f[i] = static_cast<float>(sine[i]);
        cosine_f[i] = static_cast<float>(cosine[i]);
        const double next = sine[i] * step_cosine[i] + cosine[i] * step_sine[i];
        cosine[i] = cosine[i] * step_cosine[i] - sine[i] * step_sine[i];
        sine[i] = next;
    }
}

/// `y` may be `x`.
WEFT_VECTOR void turn(const float* x, const float* sine, const float* cosine, float* y,
                      std::int64_t half) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < half; ++i) {
        const float first = x[i];
        const float second = x[i + half];
        y[i] = first * cosine[i] - second * sine[i];
        y[i + half] = second * cosine[i] + first * sine[i];
    }
}

class Rotary final : public Kernel { // x, position? -> y; y may lie over x
public:
    explicit Rotary(const Op& op)
        : s_(rotary_shape(op)), type_(op.input(0).dtype), threads_(team_size()), half_(s_.d / 2),
          line_(round_up_to_line(half_ * 8)) {
        if (!is_float(type_) || op.output(0).dtype != type_) {
            unsupported("rotary of f32 or bf16 only");
        }
        for (std::int64_t i = 0; i < half_; ++i) {
            frequency_.push_back(s_.frequency(i));
            step_sine_.push_back(std::sin(frequency_.back()));
            step_cosine_.push_back(std::cos(frequency_.back()));
        }
        // sine, cosine in double; both in float; one head in float
        scratch_.bytes = 4 * line_ + round_up_to_line(s_.d * 4);
        workspace_bytes_ = scratch_.bytes * threads_;
    }

    weft_status run(const weft_run_args& args) override {
        const std::int64_t start =
            s_.positioned ? static_cast<const std::int64_t*>(args.inputs[1])[0] : 0;
        const std::int64_t pieces = (s_.t + kPieceRows - 1) / kPieceRows;
        const std::int64_t work = s_.n * s_.t * s_.h * s_.d * 2;
        parallel_each(pieces, work, threads_, [&](std::int64_t piece, int thread) {
            rows(args, start, piece * kPieceRows, scratch_.of(args.workspace, thread));
        });
        return WEFT_OK;
    }

private:
    void rows(const weft_run_args& args, std::int64_t start, std::int64_t first,
              float* scratch) const {
        auto* sine = reinterpret_cast<double*>(scratch);
        double* cosine = sine + line_ / 8;
        auto* sine_f = scratch + line_ / 2;
        float* cosine_f = sine_f + line_ / 4;
        float* head = cosine_f + line_ / 4;
        for (std::int64_t i = 0; i < half_; ++i) {
            const double angle =
                static_cast<double>(start + first) * frequency_[static_cast<std::size_t>(i)];
            sine[i] = std::sin(angle);
            cosine[i] = std::cos(angle);
        }
        const std::int64_t end = std::min(s_.t, first + kPieceRows);
        for (std::int64_t t = first; t < end; ++t) {
            next_position(sine, cosine, step_sine_.data(), step_cosine_.data(), sine_f, cosine_f,
                          half_);
            for (std::int64_t n = 0; n < s_.n; ++n) {
                for (std::int64_t h = 0; h < s_.h; ++h) {
                    one(args, ((n * s_.t + t) * s_.h + h) * s_.d, sine_f, cosine_f, head);
                }
            }
        }
    }

    void one(const weft_run_args& args, std::int64_t at, const float* sine, const float* cosine,
             float* head) const {
        const float* x = as_floats(element(args.inputs[0], type_, at), type_, head, s_.d);
        void* out = element(args.outputs[0], type_, at);
        turn(x, sine, cosine, type_ == WEFT_F32 ? static_cast<float*>(out) : head, half_);
        if (type_ == WEFT_BF16) {
            store_bf16(head, static_cast<bf16*>(out), s_.d);
        }
    }

    RotaryShape s_;
    std::int32_t type_;
    int threads_;
    std::int64_t half_, line_;
    std::vector<double> frequency_, step_sine_, step_cosine_;
    ThreadScratch scratch_;
};

} // namespace

Made make_rotary(const Op& op) {
    return std::make_unique<Rotary>(op);
}

} // namespace weft::kernels::cpu
