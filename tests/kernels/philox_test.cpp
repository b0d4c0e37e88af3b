// SPDX-License-Identifier: Apache-2.0
// The random number convention of kernels/philox.h and the conversions of kernels/numbers.h,
// against published vectors and hand-made values.
#include "kernels/numbers.h"
#include "kernels/philox.h"
#include "tests/kernels/cases/harness.h"
#include "tests/support/weft_test.h"

#include <cmath>
#include <limits>

using namespace weft::test;
using weft::kernels::philox;
using weft::kernels::PhiloxBlock;

class KernelNumbers : public QObject {
    Q_OBJECT

private slots:
    void philox_gives_the_known_answers_of_its_authors();
    void the_stream_hash_is_fnv_1a();
    void bf16_rounds_to_nearest_even();
    void every_f16_is_read_as_its_formula_says_and_written_back_as_it_was();
    void f16_rounds_to_nearest_even();
    void a_later_first_sample_continues_the_same_sequence();
    void seed_step_and_stream_each_change_the_numbers();
    void uniform_numbers_fill_their_range_evenly();
    void normal_numbers_have_the_normal_distribution();
    void truncated_normal_numbers_follow_the_cut_distribution();
    void dropout_keeps_the_expected_share_and_rescales();
};

void KernelNumbers::philox_gives_the_known_answers_of_its_authors() {
    // kat_vectors of Random123, philox 4x32 with 10 rounds.
    QCOMPARE(philox({0, 0, 0, 0}, 0, 0),
             (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    const std::uint32_t ones = 0xffffffff;
    QCOMPARE(philox({ones, ones, ones, ones}, ones, ones),
             (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    QCOMPARE(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0),
             (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

void KernelNumbers::the_stream_hash_is_fnv_1a() { // vectors of Fowler, Noll, Vo
    QCOMPARE(weft::kernels::stream_hash(""), 0xcbf29ce484222325u);
    QCOMPARE(weft::kernels::stream_hash("a"), 0xaf63dc4c8601ec8cu);
    QCOMPARE(weft::kernels::stream_hash("foobar"), 0x85944171f73967e8u);
}

void KernelNumbers::bf16_rounds_to_nearest_even() {
    using weft::kernels::round_to_bf16;
    QCOMPARE(round_to_bf16(1.0f + 0x1p-8f), 1.0f);               // tie, to the even lower
    QCOMPARE(round_to_bf16(1.0f + 3 * 0x1p-8f), 1.0f + 0x1p-6f); // tie, to the even upper
    QCOMPARE(round_to_bf16(1.0f + 0x1.02p-8f), 1.0f + 0x1p-7f);  // above the tie
    QCOMPARE(round_to_bf16(3.3895314e38f), 3.3895314e38f);       // the largest bf16
    QVERIFY(std::isinf(round_to_bf16(3.4e38f)));
    QVERIFY(std::isnan(round_to_bf16(std::numeric_limits<float>::quiet_NaN())));
}

void KernelNumbers::every_f16_is_read_as_its_formula_says_and_written_back_as_it_was() {
    using weft::kernels::f16;
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        const int exponent = static_cast<int>(bits >> 10 & 31);
        const int mantissa = static_cast<int>(bits & 1023);
        const float value = weft::kernels::to_float(f16{static_cast<std::uint16_t>(bits)});
        const double sign = (bits & 0x8000u) != 0 ? -1.0 : 1.0;
        if (exponent == 31 && mantissa != 0) {
            QVERIFY(std::isnan(value) && std::isnan(weft::kernels::round_to_f16(value)));
            continue;
        }
        const double size = exponent == 31  ? HUGE_VAL // IEEE 754, section 3.4
                            : exponent == 0 ? std::ldexp(mantissa, -24)
                                            : std::ldexp(1024 + mantissa, exponent - 25);
        QCOMPARE(static_cast<double>(value), sign * size);
        QCOMPARE(weft::kernels::to_f16(value).bits, static_cast<std::uint16_t>(bits));
    }
}

void KernelNumbers::f16_rounds_to_nearest_even() {
    using weft::kernels::round_to_f16;
    QCOMPARE(round_to_f16(1.0f + 0x1p-11f), 1.0f);               // tie, to the even lower
    QCOMPARE(round_to_f16(1.0f + 3 * 0x1p-11f), 1.0f + 0x1p-9f); // tie, to the even upper
    QCOMPARE(round_to_f16(1.0f + 0x1.02p-11f), 1.0f + 0x1p-10f); // above the tie
    QCOMPARE(round_to_f16(65519.9f), 65504.0f);                  // the largest
    QVERIFY(std::isinf(round_to_f16(65520.0f)) && round_to_f16(-1e38f) < -65504.0f);
    QCOMPARE(round_to_f16(0x1p-25f), 0.0f); // tie of the smallest denormal
    QCOMPARE(round_to_f16(0x1.8p-24f), 0x1p-23f);
    QCOMPARE(round_to_f16(0x1.ff8p-15f), 0x1.ff8p-15f); // the largest denormal
    QCOMPARE(round_to_f16(0x1.ffcp-15f), 0x1p-14f);     // tie, up into the normal ones
}

namespace {

Tensor draw(const char* kind, const Shape& shape, std::vector<std::int64_t> random,
            std::vector<Attribute> attributes, const char* stream = "a") {
    attributes.push_back(text("stream", stream));
    attributes.push_back(list("shape", shape));
    const Result r =
        run(weft_reference_backend(),
            {kind, {integers({3}, random)}, {type_of(WEFT_F64, shape)}, attributes, {}, {}});
    return r.status == WEFT_OK ? r.outputs[0] : Tensor(type_of(WEFT_F64, shape));
}

Tensor uniform(std::vector<std::int64_t> random, const Shape& shape = {1000},
               const char* stream = "a") {
    return draw("random_uniform", shape, std::move(random), {real("low", 0), real("high", 1)},
                stream);
}

/// Share of the values below `limit`.
double share_below(const Tensor& t, double limit) {
    double count = 0;
    for (std::int64_t i = 0; i < t.count(); ++i) {
        count += t.get(i) < limit ? 1 : 0;
    }
    return count / static_cast<double>(t.count());
}

double phi(double x) {
    return 0.5 * (1.0 + std::erf(x / std::sqrt(2.0)));
}

// Five standard deviations of a share of 100000 draws: passes for every good generator.
constexpr std::int64_t kDraws = 100000;
constexpr double kSpread = 5 * 0.5 / 316.0;

} // namespace

void KernelNumbers::a_later_first_sample_continues_the_same_sequence() {
    const Tensor all = uniform({1, 2, 0}, {6, 5});
    const Tensor tail = uniform({1, 2, 4}, {2, 5});
    for (std::int64_t i = 0; i < 10; ++i) {
        QCOMPARE(tail.get(i), all.get(20 + i));
    }
}

void KernelNumbers::seed_step_and_stream_each_change_the_numbers() {
    const Tensor base = uniform({1, 2, 0});
    QVERIFY(base.same_bytes(uniform({1, 2, 0})));
    QVERIFY(!base.same_bytes(uniform({3, 2, 0})));
    QVERIFY(!base.same_bytes(uniform({1, 3, 0})));
    QVERIFY(!base.same_bytes(uniform({1, 2, 0}, {1000}, "b")));
}

void KernelNumbers::uniform_numbers_fill_their_range_evenly() {
    const Tensor t =
        draw("random_uniform", {kDraws}, {7, 0, 0}, {real("low", -1), real("high", 3)});
    QCOMPARE(share_below(t, -1.0), 0.0);
    QCOMPARE(share_below(t, 3.0), 1.0);
    for (const double part : {0.1, 0.25, 0.5, 0.9}) {
        QVERIFY(std::fabs(share_below(t, -1 + 4 * part) - part) < kSpread);
    }
}

void KernelNumbers::normal_numbers_have_the_normal_distribution() {
    const Tensor t =
        draw("random_normal", {kDraws}, {7, 0, 0}, {real("mean", 2), real("stddev", 3)});
    for (const double z : {-3.0, -1.5, -0.5, 0.0, 0.7, 2.0}) {
        QVERIFY(std::fabs(share_below(t, 2 + 3 * z) - phi(z)) < kSpread);
    }
}

void KernelNumbers::truncated_normal_numbers_follow_the_cut_distribution() {
    const Tensor t =
        draw("random_truncated_normal", {kDraws}, {7, 0, 0}, {real("mean", 0), real("stddev", 1)});
    QCOMPARE(share_below(t, -2.0), 0.0);
    QCOMPARE(share_below(t, 2.0 + 1e-12), 1.0);
    for (const double z : {-1.9, -1.0, -0.2, 0.0, 0.5, 1.7}) {
        const double expected = (phi(z) - phi(-2)) / (phi(2) - phi(-2));
        QVERIFY(std::fabs(share_below(t, z) - expected) < kSpread);
    }
}

void KernelNumbers::dropout_keeps_the_expected_share_and_rescales() {
    const Tensor x = tensor(WEFT_F64, {kDraws}, std::vector<double>(kDraws, 3.0));
    const Result r = run(weft_reference_backend(), {"dropout",
                                                    {x, integers({3}, {9, 1, 0})},
                                                    {type_of(WEFT_F64, {kDraws})},
                                                    {real("rate", 0.25), text("stream", "a")},
                                                    {},
                                                    {}});
    QCOMPARE(r.status, WEFT_OK);
    QVERIFY(std::fabs(share_below(r.outputs[0], 1.0) - 0.25) < kSpread);
    for (std::int64_t i = 0; i < kDraws; ++i) {
        const double y = r.outputs[0].get(i);
        QVERIFY(y == 0.0 || std::fabs(y - 4.0) < 1e-12);
    }
}

WEFT_TEST(KernelNumbers)
#include "philox_test.moc"
