// SPDX-License-Identifier: Apache-2.0
// The blocks of state slots against what the executor cuts out of whole arrays, on meshes, splits
// and padding drawn from a seed.
#include "core/train/slot_blocks.h"

#include "core/exec/placement_copy.h"
#include "tests/support/weft_test.h"

#include <numeric>
#include <random>
#include <span>

using namespace weft;
using namespace weft::train;

namespace {

constexpr unsigned kSeed = 20251122;
constexpr int kTrials = 400;

std::int64_t pick(std::mt19937& random, std::int64_t first, std::int64_t last) {
    return std::uniform_int_distribution<std::int64_t>(first, last)(random);
}

/// Up to three dimensions, each split over one of the axes or not: in parts, in units, with
/// padding.
plan::StateSlot random_slot(std::mt19937& random, const sharding::Mesh& mesh) {
    plan::StateSlot slot;
    slot.name = "slot";
    slot.whole.dtype = ir::DType::i32;
    const auto rank = static_cast<int>(pick(random, 0, 3));
    slot.placement = sharding::Sharding::replicated(rank);
    for (int dim = 0; dim < rank; ++dim) {
        const auto axis = static_cast<int>(pick(random, 0, 3)); // a fourth: not split
        if (axis >= static_cast<int>(mesh.axes.size()) || slot.placement.uses(axis)) {
            slot.whole.shape.push_back(pick(random, 1, 5));
            continue;
        }
        const sharding::Split split{{axis}, pick(random, 1, 3), pick(random, 1, 2)};
        const std::int64_t units = mesh.size(axis) + pick(random, 0, 3);
        slot.whole.shape.push_back(split.parts * units * split.unit);
        slot.placement.dims[static_cast<std::size_t>(dim)] = {split};
    }
    slot.type = sharding::local_type(slot.whole, slot.placement, mesh);
    return slot;
}

sharding::Mesh random_mesh(std::mt19937& random) {
    sharding::Mesh mesh;
    for (const char* name : {"data", "fsdp", "model"}) {
        mesh.axes.push_back({name, pick(random, 1, 3)});
    }
    return mesh;
}

} // namespace

class SlotBlocksTest : public QObject {
    Q_OBJECT

private slots:
    void the_blocks_of_a_device_are_what_the_executor_cuts_for_it() {
        std::mt19937 random(kSeed);
        for (int trial = 0; trial < kTrials; ++trial) {
            const sharding::Mesh mesh = random_mesh(random);
            const plan::StateSlot slot = random_slot(random, mesh);
            std::vector<std::int32_t> whole(static_cast<std::size_t>(slot.whole.shape.elements()));
            std::iota(whole.begin(), whole.end(), 1); // padding is 0
            for (int device = 0; device < mesh.devices(); ++device) {
                std::vector<std::int32_t> cut(static_cast<std::size_t>(slot.type.shape.elements()));
                exec::cut_part(slot.whole, std::as_bytes(std::span(whole)), slot.placement, mesh,
                               device, std::as_writable_bytes(std::span(cut)));
                std::vector<std::int32_t> filled(cut.size());
                const auto from = sharding::dense(sharding::whole_box(slot.whole.shape));
                for (const sharding::Placed& block : blocks_of(slot, mesh, device)) {
                    sharding::for_each_run(from, block, [&](const sharding::Run& run) {
                        std::copy_n(whole.begin() + run.from, run.count, filled.begin() + run.to);
                    });
                }
                QCOMPARE(filled, cut);
            }
        }
    }

    void the_blocks_of_the_owners_make_up_the_array() {
        std::mt19937 random(kSeed);
        for (int trial = 0; trial < kTrials; ++trial) {
            const sharding::Mesh mesh = random_mesh(random);
            const plan::StateSlot slot = random_slot(random, mesh);
            std::vector<sharding::Box> boxes;
            for (const OwnedBlock& owned : owned_blocks(slot, mesh)) {
                boxes.push_back(owned.place.box);
            }
            QVERIFY(sharding::tiles(slot.whole.shape, boxes));
        }
    }

    void a_mesh_of_one_is_recorded_as_one_device() {
        QVERIFY(recorded_axes({{{"data", 1}, {"model", 1}}}).empty());
        QCOMPARE(mesh_text(recorded_axes({{{"data", 4}, {"model", 2}}})),
                 std::string("data=4 x model=2"));
        QCOMPARE(mesh_text({}), std::string("one device"));
    }
};

WEFT_TEST(SlotBlocksTest)
#include "slot_blocks_test.moc"
