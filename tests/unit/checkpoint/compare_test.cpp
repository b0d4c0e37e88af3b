// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/checkpoint/checkpoint_support.h"

#include <cmath>
#include <limits>

using namespace weft;
using namespace weft::checkpoint;
using namespace weft::checkpoint::test;

namespace {

template <class T>
Difference difference_of(ir::DType dtype, const std::vector<T>& left, const std::vector<T>& right) {
    const Folder folder;
    const ir::Shape shape{static_cast<std::int64_t>(left.size())};
    Arrays a;
    a.add<T>("x", "parameters", dtype, shape, left);
    Arrays b;
    b.add<T>("x", "parameters", dtype, shape, right);
    return compare(write_checkpoint(folder.path() / "a", a.views(), record_of(1)),
                   write_checkpoint(folder.path() / "b", b.views(), record_of(1)));
}

Difference difference_of(const Record& left, const Record& right) {
    const Folder folder;
    return compare(write_checkpoint(folder.path() / "a", {}, left),
                   write_checkpoint(folder.path() / "b", {}, right));
}

} // namespace

class CompareTest : public QObject {
    Q_OBJECT

private slots:
    void equal_states_are_equal_whatever_the_time_and_host() {
        const Folder folder;
        Record other = record_of(1, 0.3);
        other.counters["seconds_trained"] = 99;
        other.environment["host"] = "elsewhere";
        const Difference difference =
            compare(write_checkpoint(folder.path() / "a", every_type().views(), record_of(1)),
                    write_checkpoint(folder.path() / "b", every_type().views(), other));
        QVERIFY(difference.equal());
    }

    void the_largest_differences_are_found_in_every_type() {
        const auto check = [](const Difference& difference, double absolute, double relative) {
            QCOMPARE(difference.tensors.size(), std::size_t(1));
            QCOMPARE(difference.tensors[0].max_absolute, absolute);
            QCOMPARE(difference.tensors[0].max_relative, relative);
            QVERIFY(difference.tensors[0].problem.empty());
        };
        check(difference_of<float>(ir::DType::f32, {1, 100, 0}, {2, 104, 0}), 4, 0.5);
        check(difference_of<double>(ir::DType::f64, {1, -8}, {1, 8}), 16, 2);
        check(difference_of<std::uint16_t>(ir::DType::bf16, {0x3f80}, {0x4000}), 1, 0.5); // 1 and 2
        check(difference_of<std::int32_t>(ir::DType::i32, {INT32_MIN}, {INT32_MAX}), 4294967295.0,
              4294967295.0 / 2147483648.0);
        check(difference_of<std::int64_t>(ir::DType::i64, {INT64_MAX}, {INT64_MAX - 1}), 1,
              1.0 / 9223372036854775807.0);
        check(difference_of<std::uint8_t>(ir::DType::u8, {0, 255}, {0, 254}), 1, 1.0 / 255);
    }

    void arrays_larger_than_what_is_read_at_once_are_compared_whole() {
        const Folder folder;
        const ir::Shape shape{5, 1024, 1024}; // 20 MiB
        std::vector<float> values(5 << 20, 1.0F);
        Arrays a;
        a.add<float>("x", "parameters", ir::DType::f32, shape, values);
        const Manifest whole = write_checkpoint(folder.path() / "a", a.views(), record_of(1));
        values.front() = 5;
        values.back() = -7;
        Arrays b;
        b.add<float>("x", "parameters", ir::DType::f32, shape, values);
        const Difference found =
            compare(whole, write_checkpoint(folder.path() / "b", b.views(), record_of(1)));
        QCOMPARE(found.tensors.size(), std::size_t(1));
        QCOMPARE(found.tensors[0].max_absolute, 8.0);
        QCOMPARE(found.tensors[0].norm_a, std::sqrt(5.0 * (1 << 20)));
        QCOMPARE(found.tensors[0].norm_b, std::sqrt(5.0 * (1 << 20) - 2 + 25 + 49));
        QCOMPARE(found.tensors[0].norm_difference, std::sqrt(16.0 + 64.0));
        QVERIFY(compare(whole, whole).equal());
    }

    void bits_count_even_where_numbers_are_equal() {
        const Difference zeros = difference_of<float>(ir::DType::f32, {0.0F}, {-0.0F});
        QCOMPARE(zeros.tensors.size(), std::size_t(1));
        QCOMPARE(zeros.tensors[0].max_absolute, 0.0);
    }

    void a_nan_differs_from_a_number_infinitely_and_from_itself_not_at_all() {
        const float nan = std::numeric_limits<float>::quiet_NaN();
        QVERIFY(difference_of<float>(ir::DType::f32, {nan}, {nan}).equal());
        const Difference difference = difference_of<float>(ir::DType::f32, {nan, 1}, {1, 1});
        QVERIFY(std::isinf(difference.tensors.at(0).max_absolute));
    }

    void missing_arrays_and_other_shapes_are_named() {
        const Folder folder;
        Arrays a;
        a.add<float>("left", "parameters", ir::DType::f32, {1}, {1});
        a.add<float>("both", "parameters", ir::DType::f32, {2}, {1, 2});
        Arrays b;
        b.add<float>("both", "parameters", ir::DType::f32, {2, 1}, {1, 2});
        b.add<float>("right", "parameters", ir::DType::f32, {1}, {1});
        const Difference difference =
            compare(write_checkpoint(folder.path() / "a", a.views(), record_of(1)),
                    write_checkpoint(folder.path() / "b", b.views(), record_of(1)));
        QCOMPARE(difference.tensors.size(), std::size_t(3));
        QCOMPARE(difference.tensors[0].problem, std::string("only in A"));
        QCOMPARE(difference.tensors[1].problem, std::string("type differs: f32[2] / f32[2,1]"));
        QCOMPARE(difference.tensors[2].problem, std::string("only in B"));
    }

    void counters_differ_by_path() {
        Record left = record_of(1);
        Record right = record_of(2);
        left.counters["data"]["position"] = 3;
        right.counters.erase("samples");
        const Difference difference = difference_of(left, right);
        const std::vector<std::string> expected = {"data.position: 3 / 17", "epoch: 0.1 / 0.2",
                                                   "samples: 256 / absent", "step: 1 / 2"};
        QCOMPARE(difference.counters, expected);
    }

    // 2.18962962962963 says no more than 2.19, unless both would then read alike.
    void figures_are_short_where_that_tells_them_apart() {
        Record left = record_of(1);
        Record right = record_of(1);
        left.epoch = 2.18962962962963;
        right.epoch = 3.25;
        QCOMPARE(difference_of(left, right).counters,
                 std::vector<std::string>{"epoch: 2.19 / 3.25"});
        right.epoch = 2.18962962962964;
        QCOMPARE(difference_of(left, right).counters,
                 std::vector<std::string>{"epoch: 2.18962962962963 / 2.18962962962964"});
    }
};

WEFT_TEST(CompareTest)
#include "compare_test.moc"
