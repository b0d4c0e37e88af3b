// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/rows.h"
#include "kernels/expert_shape.h"

#include <algorithm>
#include <atomic>

namespace weft::kernels::cpu {
namespace {

class TopK final : public Kernel {
public:
    explicit TopK(const Op& op)
        : count_(row_count(op.input(0))), width_(last_dim(op.input(0))), k_(op.integer("k")),
          threads_(team_size()) {
        require(k_ >= 1 && k_ <= width_ && element_count(op.output(0)) == count_ * k_ &&
                    element_count(op.output(1)) == count_ * k_,
                "top_k gives k values and indices per row");
        if (op.input(0).dtype != WEFT_F32 || op.output(0).dtype != WEFT_F32 ||
            op.output(1).dtype != WEFT_I32) {
            unsupported("top_k of f32 only");
        }
    }

    weft_status run(const weft_run_args& args) override {
        const auto* x = static_cast<const float*>(args.inputs[0]);
        auto* values = static_cast<float*>(args.outputs[0]);
        auto* indices = static_cast<std::int32_t*>(args.outputs[1]);
        parallel_each(count_, count_ * width_ * k_, threads_, [&](std::int64_t r, int) {
            choose(x + r * width_, values + r * k_, indices + r * k_);
        });
        return WEFT_OK;
    }

private:
    // The largest so far stand in order; of equal ones the first stays in front.
    void choose(const float* x, float* values, std::int32_t* indices) const {
        for (std::int64_t v = 0; v < width_; ++v) {
            std::int64_t at = std::min(v, k_);
            while (at > 0 && x[v] > values[at - 1]) {
                --at;
            }
            if (at == k_) {
                continue;
            }
            const std::int64_t kept = std::min(v, k_ - 1);
            std::copy_backward(values + at, values + kept, values + kept + 1);
            std::copy_backward(indices + at, indices + kept, indices + kept + 1);
            values[at] = x[v];
            indices[at] = static_cast<std::int32_t>(v);
        }
    }

    std::int64_t count_, width_, k_;
    int threads_;
};

class TopKGrad final : public Kernel {
public:
    explicit TopKGrad(const Op& op)
        : count_(row_count(op.input(0))), k_(last_dim(op.input(0))), width_(last_dim(op.output(0))),
          threads_(team_size()) {
        require(same_shape(op.input(0), op.input(1)) && row_count(op.output(0)) == count_,
                "indices and gradients of top_k have one shape");
        if (op.input(0).dtype != WEFT_I32 || op.input(1).dtype != WEFT_F32 ||
            op.output(0).dtype != WEFT_F32) {
            unsupported("gradients in f32 only");
        }
    }

    weft_status run(const weft_run_args& args) override {
        const auto* indices = static_cast<const std::int32_t*>(args.inputs[0]);
        const auto* dvalues = static_cast<const float*>(args.inputs[1]);
        auto* out = static_cast<float*>(args.outputs[0]);
        std::atomic<bool> sound{true};
        parallel_each(count_, count_ * width_, threads_, [&](std::int64_t r, int) {
            fill_run(out + r * width_, 0.0f, width_);
            for (std::int64_t i = r * k_; i < (r + 1) * k_; ++i) {
                if (indices[i] < 0 || indices[i] >= width_) {
                    sound.store(false, std::memory_order_relaxed);
                    return;
                }
                out[r * width_ + indices[i]] += dvalues[i];
            }
        });
        return sound.load() ? WEFT_OK
                            : fail(WEFT_BAD_ARGUMENT, "top_k_grad: an index is out of range");
    }

private:
    std::int64_t count_, k_, width_;
    int threads_;
};

class ExpertRows final : public Kernel {
public:
    explicit ExpertRows(const Op& op)
        : experts_(op.integer("experts")), capacity_(op.integer("capacity")) {
        const Type& indices = op.input(0);
        require(indices.rank == 3 && same_shape(indices, op.output(0)),
                "expert_rows needs indices [N, T, K]");
        if (indices.dtype != WEFT_I32 || op.output(0).dtype != WEFT_I32) {
            unsupported("indices in i32 only");
        }
        samples_ = indices.shape[0];
        choices_ = indices.shape[1] * indices.shape[2];
        workspace_bytes_ = round_up_to_line(experts_ * 8);
    }

    weft_status run(const weft_run_args& args) override {
        auto* taken = static_cast<std::int64_t*>(args.workspace);
        const auto* indices = static_cast<const std::int32_t*>(args.inputs[0]);
        auto* rows = static_cast<std::int32_t*>(args.outputs[0]);
        for (std::int64_t n = 0; n < samples_; ++n) {
            std::fill(taken, taken + experts_, 0);
            for (std::int64_t i = n * choices_; i < (n + 1) * choices_; ++i) {
                const std::int64_t expert = indices[i];
                if (expert < 0 || expert >= experts_) {
                    return fail(WEFT_BAD_ARGUMENT, "expert_rows: there is no such expert");
                }
                const std::int64_t before = taken[expert]++;
                rows[i] = static_cast<std::int32_t>(before < capacity_ ? expert * capacity_ + before
                                                                       : -1);
            }
        }
        return WEFT_OK;
    }

private:
    std::int64_t experts_, capacity_, samples_, choices_;
};

/// Operands of dispatch, combine and gate_grad.
class Routing : public Kernel {
protected:
    Routing(const ExpertShape& shape, const Op& op, int gates)
        : s_(shape), gated_(gates >= 0 && op.inputs() > gates),
          threads_(team_size()), scratch_{0, 2 * round_up_to_line(shape.channels * 4)} {
        require(!gated_ || same_shape(op.input(1), op.input(gates)), "there is one gate per place");
        if (op.input(1).dtype != WEFT_I32 || (gated_ && op.input(gates).dtype != WEFT_F32)) {
            unsupported("places in i32 and gates in f32 only");
        }
        workspace_bytes_ = scratch_.bytes * threads_;
    }

    float gate(const weft_run_args& args, std::int64_t i) const {
        return gated_ ? static_cast<const float*>(args.inputs[2])[i] : 1.0f;
    }
    float* first(const weft_run_args& args, int thread) const {
        return scratch_.of(args.workspace, thread);
    }
    float* second(const weft_run_args& args, int thread) const {
        return first(args, thread) + round_up_to_line(s_.channels * 4) / 4;
    }
    bool places_are_sound(const weft_run_args& args) const {
        const auto* rows = static_cast<const std::int32_t*>(args.inputs[1]);
        return std::all_of(rows, rows + s_.samples * s_.tokens * s_.choices,
                           [&](std::int32_t row) { return row < 0 || s_.is_row(row); });
    }
    static weft_status outside() {
        return fail(WEFT_BAD_ARGUMENT, "expert routing: a row is outside the experts");
    }

    ExpertShape s_;
    bool gated_;
    int threads_;
    ThreadScratch scratch_;
};

/// A piece of work is one expert's rows of one sample: it looks through all of the sample's places,
/// which are few beside the channels that it moves.
class Dispatch final : public Routing {
public:
    explicit Dispatch(const Op& op)
        : Routing(expert_shape(op.output(0), op.input(1), op.input(0)), op, 2),
          in_(op.input(0).dtype), out_(op.output(0).dtype) {
        if (!is_float(in_) || !is_float(out_)) {
            unsupported("tokens in f32 or bf16 only");
        }
    }

    weft_status run(const weft_run_args& args) override {
        if (!places_are_sound(args)) {
            return outside();
        }
        const std::int64_t pieces = s_.experts * s_.samples;
        parallel_each(pieces, pieces * s_.capacity * s_.channels, threads_,
                      [&](std::int64_t piece, int thread) { fill(args, piece, thread); });
        return WEFT_OK;
    }

private:
    void fill(const weft_run_args& args, std::int64_t piece, int thread) const {
        const std::int64_t expert = piece / s_.samples;
        const std::int64_t sample = piece % s_.samples;
        const auto* rows = static_cast<const std::int32_t*>(args.inputs[1]);
        const std::int64_t all = s_.capacity * s_.channels;
        void* to = element(args.outputs[0], out_, piece * all);
        std::fill_n(static_cast<unsigned char*>(to), all * dtype_size(out_), 0); // 0.0 in either
        const std::int64_t begin = sample * s_.tokens * s_.choices;
        for (std::int64_t i = begin; i < begin + s_.tokens * s_.choices; ++i) {
            if (rows[i] >= expert * s_.capacity && rows[i] < (expert + 1) * s_.capacity) {
                add(args, i, element(args.outputs[0], out_, s_.element_of(sample, rows[i])),
                    thread);
            }
        }
    }

    // Added, not written: a token that is padding is zero, and may name a row that another has.
    void add(const weft_run_args& args, std::int64_t i, void* to, int thread) const {
        const std::int64_t token = i / s_.choices * s_.channels;
        const float* x =
            as_floats(element(args.inputs[0], in_, token), in_, first(args, thread), s_.channels);
        if (out_ == WEFT_F32) {
            axpy_run(static_cast<float*>(to), gate(args, i), x, s_.channels);
            return;
        }
        float* sum = second(args, thread);
        load_bf16(static_cast<const bf16*>(to), sum, s_.channels);
        axpy_run(sum, gate(args, i), x, s_.channels);
        store_bf16(sum, static_cast<bf16*>(to), s_.channels);
    }

    std::int32_t in_, out_;
};

class Combine final : public Routing {
public:
    explicit Combine(const Op& op)
        : Routing(expert_shape(op.input(0), op.input(1), op.output(0)), op, 2),
          in_(op.input(0).dtype), out_(op.output(0).dtype) {
        if (!is_float(in_) || !is_float(out_)) {
            unsupported("tokens in f32 or bf16 only");
        }
    }

    weft_status run(const weft_run_args& args) override {
        if (!places_are_sound(args)) {
            return outside();
        }
        const auto* rows = static_cast<const std::int32_t*>(args.inputs[1]);
        const std::int64_t tokens = s_.samples * s_.tokens;
        const std::int64_t work = tokens * s_.choices * s_.channels;
        parallel_each(tokens, work, threads_, [&](std::int64_t token, int thread) {
            void* to = element(args.outputs[0], out_, token * s_.channels);
            float* sum = out_ == WEFT_F32 ? static_cast<float*>(to) : second(args, thread);
            fill_run(sum, 0.0f, s_.channels);
            for (std::int64_t i = token * s_.choices; i < (token + 1) * s_.choices; ++i) {
                if (rows[i] >= 0) {
                    const std::int64_t from = s_.element_of(token / s_.tokens, rows[i]);
                    axpy_run(sum, gate(args, i),
                             as_floats(element(args.inputs[0], in_, from), in_, first(args, thread),
                                       s_.channels),
                             s_.channels);
                }
            }
            if (out_ == WEFT_BF16) {
                store_bf16(sum, static_cast<bf16*>(to), s_.channels);
            }
        });
        return WEFT_OK;
    }

private:
    std::int32_t in_, out_;
};

class GateGrad final : public Routing {
public:
    explicit GateGrad(const Op& op)
        : Routing(expert_shape(op.input(0), op.input(1), op.input(2)), op, -1),
          rows_(op.input(0).dtype), tokens_(op.input(2).dtype) {
        require(same_shape(op.input(1), op.output(0)), "there is one gradient per gate");
        if (!is_float(rows_) || !is_float(tokens_) || op.output(0).dtype != WEFT_F32) {
            unsupported("tokens in f32 or bf16 and gates in f32 only");
        }
    }

    weft_status run(const weft_run_args& args) override {
        if (!places_are_sound(args)) {
            return outside();
        }
        const auto* rows = static_cast<const std::int32_t*>(args.inputs[1]);
        auto* out = static_cast<float*>(args.outputs[0]);
        const std::int64_t count = s_.samples * s_.tokens * s_.choices;
        parallel_each(count, count * s_.channels, threads_, [&](std::int64_t i, int thread) {
            if (rows[i] < 0) {
                out[i] = 0.0f;
                return;
            }
            const std::int64_t token = i / s_.choices;
            const std::int64_t row = s_.element_of(token / s_.tokens, rows[i]);
            out[i] = dot_run(as_floats(element(args.inputs[0], rows_, row), rows_,
                                       first(args, thread), s_.channels),
                             as_floats(element(args.inputs[2], tokens_, token * s_.channels),
                                       tokens_, second(args, thread), s_.channels),
                             s_.channels);
        });
        return WEFT_OK;
    }

private:
    std::int32_t rows_, tokens_;
};

} // namespace

Made make_top_k(const Op& op) {
    return std::make_unique<TopK>(op);
}

Made make_top_k_grad(const Op& op) {
    return std::make_unique<TopKGrad>(op);
}

Made make_expert_rows(const Op& op) {
    return std::make_unique<ExpertRows>(op);
}

Made make_dispatch(const Op& op) {
    return std::make_unique<Dispatch>(op);
}

Made make_combine(const Op& op) {
    return std::make_unique<Combine>(op);
}

Made make_gate_grad(const Op& op) {
    return std::make_unique<GateGrad>(op);
}

} // namespace weft::kernels::cpu
