// SPDX-License-Identifier: Apache-2.0
// The arithmetic of blocks against painted arrays: every element by itself.
#include "core/sharding/box.h"
#include "tests/support/weft_test.h"

#include <random>
#include <vector>

using namespace weft;
using namespace weft::sharding;

namespace {

constexpr unsigned kBoxSeed = 20251122;
constexpr int kTrials = 3000;

std::int64_t pick(std::mt19937& random, std::int64_t first, std::int64_t last) {
    return std::uniform_int_distribution<std::int64_t>(first, last)(random);
}

ir::Shape random_shape(std::mt19937& random, int rank, std::int64_t least, std::int64_t most) {
    ir::Shape out;
    for (int dim = 0; dim < rank; ++dim) {
        out.push_back(pick(random, least, most));
    }
    return out;
}

Box random_box(std::mt19937& random, const ir::Shape& array) {
    Box out;
    for (const std::int64_t extent : array) {
        const std::int64_t start = pick(random, 0, extent);
        out.start.push_back(start);
        out.count.push_back(pick(random, 0, extent - start));
    }
    return out;
}

/// A block somewhere in a memory that has room around it.
Placed random_place(std::mt19937& random, const Box& box) {
    Placed out{box, {}, {}};
    for (const std::int64_t count : box.count) {
        const std::int64_t before = pick(random, 0, 2);
        out.at.push_back(before);
        out.memory.push_back(before + count + pick(random, 0, 2));
    }
    return out;
}

/// The index of an element by its number in row-major order.
std::vector<std::int64_t> index_of(std::int64_t element, const ir::Shape& array) {
    std::vector<std::int64_t> out(static_cast<std::size_t>(array.rank()));
    for (int dim = array.rank() - 1; dim >= 0; --dim) {
        out[static_cast<std::size_t>(dim)] = element % array[dim];
        element /= array[dim];
    }
    return out;
}

bool holds(const Box& box, const std::vector<std::int64_t>& index) {
    for (int dim = 0; dim < box.start.rank(); ++dim) {
        const std::int64_t at = index[static_cast<std::size_t>(dim)] - box.start[dim];
        if (at < 0 || at >= box.count[dim]) {
            return false;
        }
    }
    return true;
}

/// Where an element of a block lies in its memory.
std::int64_t offset_in(const Placed& place, const std::vector<std::int64_t>& index) {
    std::int64_t out = 0;
    for (int dim = 0; dim < place.memory.rank(); ++dim) {
        out = out * place.memory[dim] + place.at[dim] + index[static_cast<std::size_t>(dim)] -
              place.box.start[dim];
    }
    return out;
}

/// Cuts one of the boxes in two where that is possible.
void cut_one(std::mt19937& random, std::vector<Box>& boxes) {
    const auto which =
        static_cast<std::size_t>(pick(random, 0, static_cast<std::int64_t>(boxes.size()) - 1));
    const auto dim = static_cast<int>(pick(random, 0, boxes[which].start.rank() - 1));
    Box& low = boxes[which];
    if (low.count[dim] < 2) {
        return;
    }
    const std::int64_t count = pick(random, 1, low.count[dim] - 1);
    Box high = low;
    high.start[dim] += count;
    high.count[dim] -= count;
    low.count[dim] = count;
    boxes.push_back(high);
}

bool tiles_by_painting(const ir::Shape& array, const std::vector<Box>& boxes) {
    for (std::int64_t i = 0; i < array.elements(); ++i) {
        const auto index = index_of(i, array);
        if (std::count_if(boxes.begin(), boxes.end(),
                          [&](const Box& box) { return holds(box, index); }) != 1) {
            return false;
        }
    }
    return true;
}

} // namespace

class BoxTest : public QObject {
    Q_OBJECT

private slots:
    void an_overlap_is_what_both_hold() {
        std::mt19937 random(kBoxSeed);
        for (int trial = 0; trial < kTrials; ++trial) {
            const ir::Shape array = random_shape(random, static_cast<int>(trial % 4), 0, 5);
            const Box a = random_box(random, array);
            const Box b = random_box(random, array);
            const std::optional<Box> common = overlap(a, b);
            for (std::int64_t i = 0; i < array.elements(); ++i) {
                const auto index = index_of(i, array);
                QCOMPARE(common && holds(*common, index), holds(a, index) && holds(b, index));
            }
            QVERIFY(!common || (common->elements() > 0 && inside(*common, array)));
        }
    }

    void runs_take_every_common_element_once_and_in_order() {
        std::mt19937 random(kBoxSeed);
        for (int trial = 0; trial < kTrials; ++trial) {
            const ir::Shape array = random_shape(random, static_cast<int>(trial % 5), 1, 4);
            const Placed from = random_place(random, random_box(random, array));
            const Placed to = random_place(random, random_box(random, array));
            std::vector<std::pair<std::int64_t, std::int64_t>> expected;
            for (std::int64_t i = 0; i < array.elements(); ++i) {
                const auto index = index_of(i, array);
                if (holds(from.box, index) && holds(to.box, index)) {
                    expected.emplace_back(offset_in(from, index), offset_in(to, index));
                }
            }
            std::vector<std::pair<std::int64_t, std::int64_t>> seen;
            for_each_run(from, to, [&](const Run& run) {
                for (std::int64_t i = 0; i < run.count; ++i) {
                    seen.emplace_back(run.from + i, run.to + i);
                }
            });
            QCOMPARE(seen, expected);
        }
    }

    void what_is_whole_in_both_memories_is_one_run() {
        const Box rows{{2, 0, 0}, {3, 4, 5}};
        std::vector<Run> runs;
        for_each_run(dense(whole_box({8, 4, 5})), dense(rows),
                     [&](const Run& run) { runs.push_back(run); });
        QCOMPARE(runs, (std::vector<Run>{{40, 0, 60}}));
    }

    void tiles_says_what_painting_says() {
        std::mt19937 random(kBoxSeed);
        int tiled = 0;
        for (int trial = 0; trial < kTrials; ++trial) {
            const ir::Shape array = random_shape(random, 1 + trial % 4, 1, 5);
            std::vector<Box> boxes = {whole_box(array)};
            for (int cut = 0; cut < 6; ++cut) {
                cut_one(random, boxes);
            }
            // Two of three are spoilt: one box moved, lost, doubled or of another size.
            Box& victim = boxes[static_cast<std::size_t>(
                pick(random, 0, static_cast<std::int64_t>(boxes.size()) - 1))];
            switch (trial % 6) {
            case 0: victim = random_box(random, array); break;
            case 1: boxes.push_back(Box(victim)); break;
            case 2:
                victim = boxes.back();
                boxes.pop_back();
                break;
            case 3: victim = boxes.front(); break;
            default: break;
            }
            QCOMPARE(tiles(array, boxes), tiles_by_painting(array, boxes));
            tiled += tiles(array, boxes) ? 1 : 0;
        }
        QVERIFY(tiled > kTrials / 4 && tiled < kTrials * 3 / 4);
    }

    void inside_refuses_what_overflows() {
        const ir::Shape array = {4, 6};
        QVERIFY(inside({{1, 2}, {3, 4}}, array));
        QVERIFY(inside({{4, 6}, {0, 0}}, array));
        QVERIFY(!inside({{2, 2}, {3, 4}}, array));
        QVERIFY(!inside({{-1, 0}, {1, 1}}, array));
        QVERIFY(!inside({{0, 0}, {-1, 1}}, array));
        QVERIFY(!inside({{INT64_MAX, 0}, {2, 1}}, array));
        QVERIFY(!inside({{0, 0}, {INT64_MAX, 1}}, array));
        QVERIFY(!inside({{0}, {4}}, array));
    }

    void a_scalar_and_an_empty_array_are_one_box() {
        QVERIFY(tiles({}, std::vector{whole_box({})}));
        QVERIFY(!tiles({}, {}));
        QVERIFY(tiles({0, 3}, std::vector{whole_box({0, 3})}));
        QCOMPARE(to_text(whole_box({})), std::string("[]"));
        QCOMPARE(to_text({{0, 3}, {512, 3}}), std::string("[0:512, 3:6]"));
    }
};

WEFT_TEST(BoxTest)
#include "box_test.moc"
