// SPDX-License-Identifier: Apache-2.0
#include "kernels/expert_shape.h"
#include "kernels/reference/reference_list.h"

#include <algorithm>

namespace weft::kernels::reference {
namespace {

constexpr const char* kOutside = "expert routing: a row is outside the experts";

/// One choice of one token.
struct Choice {
    std::int64_t token; // first element of [N, T, C]
    std::int64_t row;   // first element of [E, N, A, C]
    double gate;
};

/// Calls fn(number of the choice, choice) for all that have a row.
template <class Fn>
weft_status each_choice(const ExpertShape& s, const double* rows, const double* gates,
                        const Fn& fn) {
    for (std::int64_t i = 0; i < s.samples * s.tokens * s.choices; ++i) {
        const auto row = static_cast<std::int64_t>(rows[i]);
        const std::int64_t token = i / s.choices;
        if (row >= 0) {
            if (!s.is_row(row)) {
                return fail(WEFT_BAD_ARGUMENT, kOutside);
            }
            fn(i, Choice{token * s.channels, s.element_of(token / s.tokens, row),
                         gates == nullptr ? 1.0 : gates[i]});
        }
    }
    return WEFT_OK;
}

} // namespace

Body make_top_k(const Op& op) {
    const std::int64_t count = row_count(op.input(0));
    const std::int64_t width = last_dim(op.input(0));
    const std::int64_t k = op.integer("k");
    require(k >= 1 && k <= width && element_count(op.output(0)) == count * k &&
                element_count(op.output(1)) == count * k,
            "top_k gives k values and indices per row");
    return [=](const Call& call) {
        for (std::int64_t r = 0; r < count; ++r) {
            const double* x = call.in(0) + r * width;
            double* indices = call.out(1) + r * k;
            for (std::int64_t j = 0; j < k; ++j) {
                std::int64_t best = -1;
                for (std::int64_t v = 0; v < width; ++v) {
                    const bool taken = std::find(indices, indices + j, v) != indices + j;
                    best = !taken && (best < 0 || x[v] > x[best]) ? v : best;
                }
                indices[j] = static_cast<double>(best);
                call.out(0)[r * k + j] = x[best];
            }
        }
        return WEFT_OK;
    };
}

Body make_top_k_grad(const Op& op) {
    const std::int64_t count = row_count(op.input(0));
    const std::int64_t k = last_dim(op.input(0));
    const std::int64_t width = last_dim(op.output(0));
    require(same_shape(op.input(0), op.input(1)) && row_count(op.output(0)) == count,
            "indices and gradients of top_k have one shape");
    return [=](const Call& call) {
        std::fill(call.out(0), call.out(0) + count * width, 0.0);
        for (std::int64_t i = 0; i < count * k; ++i) {
            const auto v = static_cast<std::int64_t>(call.in(0)[i]);
            if (v < 0 || v >= width) {
                return fail(WEFT_BAD_ARGUMENT, "top_k_grad: an index is out of range");
            }
            call.out(0)[i / k * width + v] += call.in(1)[i];
        }
        return WEFT_OK;
    };
}

Body make_expert_rows(const Op& op) {
    const Dims shape = shape_of(op.input(0));
    require(shape.size() == 3 && same_shape(op.input(0), op.output(0)),
            "expert_rows needs indices [N, T, K]");
    const std::int64_t experts = op.integer("experts");
    const std::int64_t capacity = op.integer("capacity");
    return [=](const Call& call) {
        const std::int64_t choices = shape[1] * shape[2];
        for (std::int64_t n = 0; n < shape[0]; ++n) {
            const double* indices = call.in(0) + n * choices;
            for (std::int64_t i = 0; i < choices; ++i) {
                const auto expert = static_cast<std::int64_t>(indices[i]);
                if (expert < 0 || expert >= experts) {
                    return fail(WEFT_BAD_ARGUMENT, "expert_rows: there is no such expert");
                }
                const std::int64_t before = std::count(indices, indices + i, indices[i]);
                call.out(0)[n * choices + i] =
                    before < capacity ? static_cast<double>(expert * capacity + before) : -1.0;
            }
        }
        return WEFT_OK;
    };
}

Body make_dispatch(const Op& op) {
    const ExpertShape s = expert_shape(op.output(0), op.input(1), op.input(0));
    const bool gated = op.inputs() > 2;
    require(!gated || same_shape(op.input(1), op.input(2)), "there is one gate per place");
    return [=](const Call& call) {
        double* out = call.out(0);
        std::fill(out, out + s.experts * s.samples * s.capacity * s.channels, 0.0);
        return each_choice(
            s, call.in(1), gated ? call.in(2) : nullptr, [&](std::int64_t, const Choice& choice) {
                for (std::int64_t c = 0; c < s.channels; ++c) {
                    out[choice.row + c] += choice.gate * call.in(0)[choice.token + c];
                }
            });
    };
}

Body make_combine(const Op& op) {
    const ExpertShape s = expert_shape(op.input(0), op.input(1), op.output(0));
    const bool gated = op.inputs() > 2;
    require(!gated || same_shape(op.input(1), op.input(2)), "there is one gate per place");
    return [=](const Call& call) {
        double* out = call.out(0);
        std::fill(out, out + s.samples * s.tokens * s.channels, 0.0);
        return each_choice(
            s, call.in(1), gated ? call.in(2) : nullptr, [&](std::int64_t, const Choice& choice) {
                for (std::int64_t c = 0; c < s.channels; ++c) {
                    out[choice.token + c] += choice.gate * call.in(0)[choice.row + c];
                }
            });
    };
}

Body make_gate_grad(const Op& op) {
    const ExpertShape s = expert_shape(op.input(0), op.input(1), op.input(2));
    require(same_shape(op.input(1), op.output(0)), "there is one gradient per gate");
    return [=](const Call& call) {
        double* out = call.out(0);
        std::fill(out, out + s.samples * s.tokens * s.choices, 0.0);
        return each_choice(s, call.in(1), nullptr, [&](std::int64_t i, const Choice& choice) {
            for (std::int64_t c = 0; c < s.channels; ++c) {
                out[i] += call.in(0)[choice.row + c] * call.in(2)[choice.token + c];
            }
        });
    };
}

} // namespace weft::kernels::reference
