// SPDX-License-Identifier: Apache-2.0
#include "core/base/philox.h"
#include "tests/support/weft_test.h"

#include <set>

using namespace weft;

class PhiloxTest : public QObject {
    Q_OBJECT
private slots:
    // Known answers of the authors' Random123 distribution (kat_vectors, philox4x32 10).
    void ten_rounds_match_the_published_vectors() {
        const PhiloxCounter zero = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
        QVERIFY(philox4x32({0, 0, 0, 0}, {0, 0}) == zero);
        const uint32_t all = 0xffffffff;
        const PhiloxCounter ones = {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
        QVERIFY(philox4x32({all, all, all, all}, {all, all}) == ones);
        const PhiloxCounter pi = {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1};
        QVERIFY(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                           {0xa4093822, 0x299f31d0}) == pi);
    }

    // Published FNV-1a 64 test vectors (Noll).
    void names_are_hashed_as_fnv_1a() {
        QCOMPARE(kernels::stream_hash(""), uint64_t{0xcbf29ce484222325});
        QCOMPARE(kernels::stream_hash("a"), uint64_t{0xaf63dc4c8601ec8c});
        QCOMPARE(kernels::stream_hash("foobar"), uint64_t{0x85944171f73967e8});
    }

    void uniform_covers_its_half_open_range() {
        QCOMPARE(uniform_01(0), 0.0f);
        QVERIFY(uniform_01(0xffffffff) < 1.0f);
        QCOMPARE(uniform_01(0x80000000), 0.5f);
        QVERIFY(uniform_open(0) > 0.0f);
        QCOMPARE(uniform_open(0xffffffff), 1.0f);
    }

    void an_element_is_a_word_of_its_block() {
        const RandomStream stream(7, "blocks.0.dropout");
        for (uint64_t index = 0; index < 16; ++index) {
            QCOMPARE(stream.word(3, index), stream.block(3, index / 4)[index % 4]);
        }
    }

    void seeds_names_and_steps_give_different_numbers() {
        std::set<uint32_t> seen;
        for (uint64_t seed = 0; seed < 4; ++seed) {
            for (const char* name : {"a", "b", "init/a", "blocks.1"}) {
                for (uint64_t step = 0; step < 4; ++step) {
                    seen.insert(RandomStream(seed, name).word(step, 0));
                }
            }
        }
        QCOMPARE(seen.size(), size_t{64});
    }

    // 5 standard errors of each moment: a fair generator fails this once in a million seeds, and
    // the seed is fixed.
    void normal_has_the_moments_of_the_standard_normal() {
        const RandomStream stream(1, "weights");
        constexpr int kCount = 200'000;
        double sum = 0;
        double squares = 0;
        double fourths = 0;
        for (int i = 0; i < kCount; ++i) {
            const double x = stream.normal(0, static_cast<uint64_t>(i));
            sum += x;
            squares += x * x;
            fourths += x * x * x * x;
        }
        const double root = std::sqrt(static_cast<double>(kCount));
        QVERIFY(std::abs(sum / kCount) < 5 * 1.0 / root);
        QVERIFY(std::abs(squares / kCount - 1) < 5 * std::sqrt(2.0) / root);
        QVERIFY(std::abs(fourths / kCount - 3) < 5 * std::sqrt(96.0) / root);
    }

    void below_reaches_every_value_and_none_outside() {
        const RandomStream stream(5, "shuffle");
        std::set<uint64_t> seen;
        for (uint64_t i = 0; i < 1000; ++i) {
            const uint64_t value = stream.below(0, i, 10);
            QVERIFY(value < 10);
            seen.insert(value);
        }
        QCOMPARE(seen.size(), size_t{10});
        QVERIFY(stream.below(0, 0, uint64_t{1} << 40) < uint64_t{1} << 40);
        QCOMPARE(stream.below(0, 0, 1), uint64_t{0});
    }
};

WEFT_TEST(PhiloxTest)
#include "philox_test.moc"
