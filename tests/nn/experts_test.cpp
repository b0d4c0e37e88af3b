// SPDX-License-Identifier: Apache-2.0
// A mixture of experts against plain loops: which tokens it drops, what each token gets, what the
// balancing loss is.
#include "core/base/error.h"
#include "core/nn/models/experts.h"
#include "tests/support/run_programs.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace weft;
using namespace weft::test;
using exec::Tensor;

namespace {

constexpr std::int64_t kSamples = 3, kTokens = 7, kWidth = 5, kInner = 6;

// f32 arithmetic on sums of a few products of numbers near 1.
constexpr double kTolerance = 1e-5;

struct BuiltMixture {
    ir::Program program;
    std::vector<Tensor> arguments; // x, then the weights in the order of their ports
    bool penalised = false;
};

Tensor wave_of(const ir::Shape& shape, double step) {
    return f32(shape, wave(static_cast<std::size_t>(shape.elements()), step));
}

/// The mixture on x [B, T, C] while training; results are y and, where there is one, the penalty.
BuiltMixture build_mixture(const nn::ExpertSettings& settings, bool gated = false) {
    BuiltMixture out;
    ops::Builder b(out.program, out.program.body);
    const ir::Shape shape{kSamples, kTokens, kWidth};
    const ir::ValueId x = out.program.add_argument(ir::Role::batch, "x", {ir::DType::f32, shape});
    nn::ModelContext context(b, {.mode = nn::Mode::train});
    const nn::ExpertNetwork network{.inner = kInner, .activation = "silu", .gated = gated};
    const ir::ValueId y = nn::mixture_of_experts(context, settings, network, x);
    out.program.add_result(ir::Role::output, "y", y);
    out.penalised = context.penalty().valid();
    if (out.penalised) {
        out.program.add_result(ir::Role::output, "penalty", context.penalty());
    }
    double step = 0.37;
    for (const ir::Port& port : out.program.arguments) {
        out.arguments.push_back(wave_of(out.program.type(port.value).shape, step));
        step += 0.21;
    }
    return out;
}

double silu(double x) {
    return x / (1.0 + std::exp(-x));
}

/// The same in plain loops over samples, tokens and choices.
struct Oracle {
    std::vector<double> y = std::vector<double>(kSamples * kTokens * kWidth, 0.0);
    std::vector<double> penalty;
    int dropped = 0;

    Oracle(const nn::ExpertSettings& s, std::int64_t capacity, const BuiltMixture& built) {
        const auto x = built.arguments[0].span<float>();
        const auto router = built.arguments[1].span<float>();
        const auto up = built.arguments[2].span<float>();
        const auto down = built.arguments[3].span<float>();
        const auto experts = static_cast<std::size_t>(s.experts);
        for (std::int64_t n = 0; n < kSamples; ++n) {
            std::vector<std::int64_t> taken(experts, 0), wanted(experts, 0);
            std::vector<double> mass(experts, 0.0);
            for (std::int64_t t = 0; t < kTokens; ++t) {
                const float* token = &x[static_cast<std::size_t>((n * kTokens + t) * kWidth)];
                std::vector<double> p(experts, 0.0);
                for (std::size_t e = 0; e < experts; ++e) {
                    for (std::size_t c = 0; c < kWidth; ++c) {
                        p[e] += static_cast<double>(token[c]) *
                                static_cast<double>(router[c * experts + e]);
                    }
                    p[e] = std::exp(p[e]);
                }
                const double sum = std::accumulate(p.begin(), p.end(), 0.0);
                std::vector<std::size_t> order(experts);
                std::iota(order.begin(), order.end(), 0);
                std::stable_sort(order.begin(), order.end(),
                                 [&](std::size_t a, std::size_t b) { return p[a] > p[b]; });
                order.resize(static_cast<std::size_t>(s.per_token));
                double chosen = 0.0;
                for (std::size_t e = 0; e < experts; ++e) {
                    mass[e] += p[e] / sum / kTokens;
                }
                for (const std::size_t e : order) {
                    chosen += p[e];
                    ++wanted[e];
                }
                for (const std::size_t e : order) {
                    if (taken[e]++ >= capacity) {
                        ++dropped;
                        continue;
                    }
                    const double gate = p[e] / (s.per_token == 1 ? sum : chosen);
                    double* out = &y[static_cast<std::size_t>((n * kTokens + t) * kWidth)];
                    add(token, &up[e * kWidth * kInner], &down[e * kInner * kWidth], gate, out);
                }
            }
            double own = 0.0;
            for (std::size_t e = 0; e < experts; ++e) {
                own += static_cast<double>(wanted[e]) / static_cast<double>(kTokens * s.per_token) *
                       mass[e];
            }
            penalty.push_back(s.balance * static_cast<double>(s.experts) * own);
        }
    }

    static void add(const float* token, const float* up, const float* down, double gate,
                    double* out) {
        for (std::size_t f = 0; f < kInner; ++f) {
            double inner = 0.0;
            for (std::size_t c = 0; c < kWidth; ++c) {
                inner += static_cast<double>(token[c]) * static_cast<double>(up[c * kInner + f]);
            }
            for (std::size_t c = 0; c < kWidth; ++c) {
                out[c] += gate * silu(inner) * static_cast<double>(down[f * kWidth + c]);
            }
        }
    }
};

double distance_to(const Tensor& tensor, const std::vector<double>& expected) {
    const auto values = tensor.span<float>();
    double out = values.size() == expected.size() ? 0.0 : 1.0;
    for (std::size_t i = 0; i < values.size() && i < expected.size(); ++i) {
        out = std::max(out, std::abs(static_cast<double>(values[i]) - expected[i]));
    }
    return out;
}

} // namespace

class ExpertsTest : public QObject {
    Q_OBJECT
private slots:
    void a_mixture_equals_plain_loops_over_its_tokens_data() {
        QTest::addColumn<int>("experts");
        QTest::addColumn<int>("perToken");
        QTest::addColumn<double>("capacity"); // 0: none
        QTest::newRow("one of four") << 4 << 1 << 0.0;
        QTest::newRow("two of four") << 4 << 2 << 0.0;
        QTest::newRow("two of four, room for half") << 4 << 2 << 0.5;
        QTest::newRow("one of three, little room") << 3 << 1 << 0.4;
        QTest::newRow("all of two") << 2 << 2 << 1.0;
    }

    void a_mixture_equals_plain_loops_over_its_tokens() {
        QFETCH(int, experts);
        QFETCH(int, perToken);
        QFETCH(double, capacity);
        nn::ExpertSettings settings{.experts = experts, .per_token = perToken, .balance = 0.3};
        if (capacity > 0.0) {
            settings.capacity = capacity;
        }
        const auto rows =
            capacity > 0.0 ? std::ceil(capacity * kTokens * perToken / experts) : double(kTokens);
        const BuiltMixture built = build_mixture(settings);
        const Oracle oracle(settings, static_cast<std::int64_t>(rows), built);
        const auto results = exec::interpret(built.program, built.arguments);
        QVERIFY(distance_to(results[0], oracle.y) < kTolerance);
        QVERIFY(built.penalised);
        QVERIFY(distance_to(results[1], oracle.penalty) < kTolerance);
        QCOMPARE(oracle.dropped > 0, capacity > 0.0 && capacity < 1.0);
    }

    // All probabilities equal: every share of the load costs the same, and the sum is 1.
    void an_even_router_pays_the_balancing_weight_itself() {
        const nn::ExpertSettings settings{.experts = 4, .per_token = 2, .balance = 0.25};
        BuiltMixture built = build_mixture(settings);
        for (float& weight : built.arguments[1].span<float>()) {
            weight = 0.0F;
        }
        const auto results = exec::interpret(built.program, built.arguments);
        QVERIFY(distance_to(results[1], std::vector<double>(kSamples, 0.25)) < kTolerance);
    }

    void only_training_with_a_weight_has_a_balancing_loss() {
        QVERIFY(!build_mixture({.experts = 4, .per_token = 2, .balance = 0.0}).penalised);
        QVERIFY(build_mixture({.experts = 4, .per_token = 2, .balance = 0.1}).penalised);
    }

    // What a sample becomes does not depend on the rest of its batch.
    void samples_do_not_compete_for_room() {
        const nn::ExpertSettings settings{.experts = 4, .per_token = 2, .capacity = 0.5};
        BuiltMixture built = build_mixture(settings);
        const auto before = exec::interpret(built.program, built.arguments);
        const auto x = built.arguments[0].span<float>();
        for (std::size_t i = 0; i < 2 * kTokens * kWidth; ++i) {
            x[i] = -x[i];
        }
        const auto after = exec::interpret(built.program, built.arguments);
        const auto last = [](const Tensor& y) {
            const auto values = y.span<float>();
            return std::vector<float>(values.end() - kTokens * kWidth, values.end());
        };
        QCOMPARE(last(after[0]), last(before[0]));
    }

    void an_expert_has_room_for_one_token_at_least_and_all_at_most() {
        nn::ExpertSettings settings{.experts = 8, .per_token = 2};
        QCOMPARE(nn::expert_capacity(settings, 64), std::int64_t{64});
        settings.capacity = 1.25;
        QCOMPARE(nn::expert_capacity(settings, 64), std::int64_t{20}); // 1.25 x 64 x 2 / 8
        QCOMPARE(nn::expert_capacity(settings, 1), std::int64_t{1});
        settings.capacity = 100.0;
        QCOMPARE(nn::expert_capacity(settings, 64), std::int64_t{64});
    }

    void gated_experts_have_three_weights() {
        const BuiltMixture built = build_mixture({.experts = 2, .per_token = 1}, true);
        std::vector<std::string> names;
        for (const ir::Port& port : built.program.arguments) {
            names.push_back(port.name);
        }
        const std::vector<std::string> expected = {"x", "router.weight", "experts.gate.weight",
                                                   "experts.up.weight", "experts.down.weight"};
        QCOMPARE(names, expected);
    }
};

WEFT_TEST(ExpertsTest)
#include "experts_test.moc"
