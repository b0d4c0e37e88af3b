// SPDX-License-Identifier: Apache-2.0
// Attention on the host, with the rules that cuDNN has on every GPU from sm_80 on (its
// documentation, "Scaled dot product attention"; tests/kernels/vendor asks the library).
#include "kernels/cuda/wrappers/dnn.h"
#include "kernels/numbers.h"
#include "tests/kernels/emulation/machine.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <vector>

namespace weft::kernels::cuda {
namespace {

double attention_number(const void* data, std::int32_t dtype, std::int64_t i) {
    return static_cast<double>(dtype == WEFT_BF16 ? to_float(static_cast<const bf16*>(data)[i])
                                                  : to_float(static_cast<const f16*>(data)[i]));
}

void put_attention(void* data, std::int32_t dtype, std::int64_t i, double value) {
    const auto rounded = static_cast<float>(value);
    if (dtype == WEFT_BF16) {
        static_cast<bf16*>(data)[i] = to_bf16(rounded);
    } else {
        static_cast<f16*>(data)[i] = to_f16(rounded);
    }
}

void want_alignment(std::initializer_list<const void*> operands) {
    for (const void* operand : operands) {
        require(reinterpret_cast<std::uintptr_t>(operand) % kDnnAlignment == 0,
                "an operand is not aligned to 16 bytes");
    }
}

void check_rules(const PlannedAttentionShape& shape) {
    const AttentionShape& a = shape.attention;
    require(a.n > 0 && a.t > 0 && a.s > 0, "a dimension of attention is not positive");
    require(!a.dropout && !a.ring, "attention with dropout or on a ring");
    require(!a.causal || a.t == a.s, "causal attention of other queries than keys");
    require(shape.dtype == WEFT_BF16 || shape.dtype == WEFT_F16, "attention of 32-bit numbers");
    if (a.d % 8 != 0 || a.d > 128) {
        unsupported("heads whose width is no multiple of 8, or above 128");
    }
}

double scaled_score(const PlannedAttentionShape& shape, const void* q, const void* k,
                    std::int64_t query, std::int64_t key) {
    double product = 0.0;
    for (std::int64_t d = 0; d < shape.attention.d; ++d) {
        product +=
            attention_number(q, shape.dtype, query + d) * attention_number(k, shape.dtype, key + d);
    }
    return shape.attention.scale * product;
}

class HostAttention final : public PlannedAttention {
public:
    explicit HostAttention(const PlannedAttentionShape& shape)
        : a_(shape.attention), dtype_(shape.dtype) {
        check_rules(shape);
    }

    std::int64_t workspace_bytes() const override { return 64; }

    void run(weft_stream* stream, const void* q, const void* k, const void* v, void* out,
             void* logsumexp, void* workspace) override {
        want_alignment({q, k, v, out, logsumexp, workspace});
        test::queue_work(stream, [=, this] { attend(q, k, v, out, logsumexp); });
    }

private:
    void attend(const void* q, const void* k, const void* v, void* out, void* logsumexp) const {
        for (std::int64_t n = 0; n < a_.n; ++n) {
            for (std::int64_t h = 0; h < a_.h; ++h) {
                for (std::int64_t t = 0; t < a_.t; ++t) {
                    static_cast<float*>(logsumexp)[(n * a_.h + h) * a_.t + t] =
                        row(n, h, t, q, k, v, out);
                }
            }
        }
    }

    /// Writes one query's result and returns its logsumexp.
    float row(std::int64_t n, std::int64_t h, std::int64_t t, const void* q, const void* k,
              const void* v, void* out) const {
        std::vector<double> weights(static_cast<std::size_t>(a_.causal ? t + 1 : a_.s));
        for (std::size_t s = 0; s < weights.size(); ++s) {
            weights[s] = scaled_score({a_, dtype_}, q, k, a_.q_offset(n, t, h),
                                      a_.kv_offset(n, static_cast<std::int64_t>(s), h));
        }
        const double max = *std::max_element(weights.begin(), weights.end());
        double sum = 0.0;
        for (double& weight : weights) {
            weight = std::exp(weight - max);
            sum += weight;
        }
        for (std::int64_t d = 0; d < a_.d; ++d) {
            double mean = 0.0;
            for (std::size_t s = 0; s < weights.size(); ++s) {
                const std::int64_t value = a_.kv_offset(n, static_cast<std::int64_t>(s), h);
                mean += weights[s] / sum * attention_number(v, dtype_, value + d);
            }
            put_attention(out, dtype_, a_.q_offset(n, t, h) + d, mean);
        }
        return static_cast<float>(max + std::log(sum));
    }

    AttentionShape a_;
    std::int32_t dtype_;
};

class HostAttentionGrad final : public PlannedAttentionGrad {
public:
    explicit HostAttentionGrad(const PlannedAttentionShape& shape)
        : a_(shape.attention), dtype_(shape.dtype) {
        check_rules(shape);
    }

    std::int64_t workspace_bytes() const override { return 64; }

    void run(weft_stream* stream, const AttentionGradArrays& a, void* workspace) override {
        want_alignment({a.q, a.k, a.v, a.out, a.logsumexp, a.dout, a.dq, a.dk, a.dv, workspace});
        test::queue_work(stream, [=, this] { differentiate(a); });
    }

private:
    void differentiate(const AttentionGradArrays& a) const {
        std::vector<double> dq(static_cast<std::size_t>(a_.n * a_.t * a_.h * a_.d));
        std::vector<double> dk(static_cast<std::size_t>(a_.n * a_.s * a_.k * a_.d));
        std::vector<double> dv(dk.size());
        for (std::int64_t n = 0; n < a_.n; ++n) {
            for (std::int64_t h = 0; h < a_.h; ++h) {
                for (std::int64_t t = 0; t < a_.t; ++t) {
                    add_row(a, n, h, t, dq.data(), dk.data(), dv.data());
                }
            }
        }
        write(dq, a.dq);
        write(dk, a.dk);
        write(dv, a.dv);
    }

    void add_row(const AttentionGradArrays& a, std::int64_t n, std::int64_t h, std::int64_t t,
                 double* dq, double* dk, double* dv) const {
        const std::int64_t query = a_.q_offset(n, t, h);
        const double logsumexp =
            static_cast<double>(static_cast<const float*>(a.logsumexp)[(n * a_.h + h) * a_.t + t]);
        double row_sum = 0.0;
        for (std::int64_t d = 0; d < a_.d; ++d) {
            row_sum += attention_number(a.out, dtype_, query + d) *
                       attention_number(a.dout, dtype_, query + d);
        }
        for (std::int64_t s = 0; s < (a_.causal ? t + 1 : a_.s); ++s) {
            const std::int64_t key = a_.kv_offset(n, s, h);
            const double weight =
                std::exp(scaled_score({a_, dtype_}, a.q, a.k, query, key) - logsumexp);
            double weight_grad = 0.0;
            for (std::int64_t d = 0; d < a_.d; ++d) {
                weight_grad += attention_number(a.dout, dtype_, query + d) *
                               attention_number(a.v, dtype_, key + d);
            }
            const double score_grad = a_.scale * weight * (weight_grad - row_sum);
            for (std::int64_t d = 0; d < a_.d; ++d) {
                dq[query + d] += score_grad * attention_number(a.k, dtype_, key + d);
                dk[key + d] += score_grad * attention_number(a.q, dtype_, query + d);
                dv[key + d] += weight * attention_number(a.dout, dtype_, query + d);
            }
        }
    }

    void write(const std::vector<double>& from, void* to) const {
        for (std::size_t i = 0; i < from.size(); ++i) {
            put_attention(to, dtype_, static_cast<std::int64_t>(i), from[i]);
        }
    }

    AttentionShape a_;
    std::int32_t dtype_;
};

} // namespace

std::unique_ptr<PlannedAttention> make_planned_attention(const PlannedAttentionShape& shape) {
    return std::make_unique<HostAttention>(shape);
}

std::unique_ptr<PlannedAttentionGrad>
make_planned_attention_grad(const PlannedAttentionShape& shape) {
    return std::make_unique<HostAttentionGrad>(shape);
}

} // namespace weft::kernels::cuda
