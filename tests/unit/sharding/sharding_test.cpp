// SPDX-License-Identifier: Apache-2.0
// Meshes, specs and splits, against brute force and against figures of JAX and Shardy (FACTS G).
#include "core/base/error.h"
#include "core/ir/text.h"
#include "core/sharding/sharding.h"
#include "core/sharding/strategies/strategy_list.h"
#include "tests/support/weft_test.h"

#include <set>

using namespace weft;
using namespace weft::sharding;

namespace {

const Mesh kMesh{{{"x", 2}, {"y", 4}, {"z", 2}}};

/// Which device holds which element of a dimension, dealt out one unit at a time.
std::vector<std::int64_t> owner_of_elements(const Split& split, std::int64_t extent,
                                            const Mesh& mesh) {
    const std::int64_t devices = mesh.size(split.axes);
    const std::int64_t units = extent / (split.parts * split.unit);
    const std::int64_t run = (units + devices - 1) / devices;
    std::vector<std::int64_t> out;
    for (std::int64_t part = 0; part < split.parts; ++part) {
        for (std::int64_t unit = 0; unit < units; ++unit) {
            for (std::int64_t i = 0; i < split.unit; ++i) {
                out.push_back(unit / run);
            }
        }
    }
    return out;
}

} // namespace

class ShardingTest : public QObject {
    Q_OBJECT
private slots:
    void devices_are_numbered_with_the_last_axis_fastest() {
        const Mesh mesh{{{"data", 3}, {"model", 2}}};
        QCOMPARE(mesh.devices(), std::int64_t{6});
        for (std::int64_t d = 0; d < 3; ++d) {
            for (std::int64_t m = 0; m < 2; ++m) {
                const std::vector<std::int64_t> place{d, m};
                QCOMPARE(mesh.device(place), d * 2 + m);
                QVERIFY(mesh.coordinates(d * 2 + m) == place);
            }
        }
    }

    void groups_differ_in_their_axes_only() {
        const Mesh mesh{{{"data", 2}, {"model", 2}}};
        using Groups = std::vector<std::vector<std::int64_t>>;
        QVERIFY((mesh.groups(std::vector{1}) == Groups{{0, 1}, {2, 3}}));
        QVERIFY((mesh.groups(std::vector{0}) == Groups{{0, 2}, {1, 3}}));
        QVERIFY((mesh.groups(std::vector{1, 0}) == Groups{{0, 2, 1, 3}}));
    }

    // FACTS G: mesh x=2, y=4, z=2 with [{x}, {z, y}] on 4 x 8 gives a local 2 x 1.
    void a_shardy_example_has_the_known_local_shape() {
        const Sharding sharding =
            from_spec(ir::parse_spec("P('x', ('z', 'y'))"), ir::Shape{4, 8}, kMesh);
        QVERIFY((local_type({ir::DType::f32, {4, 8}}, sharding, kMesh).shape == ir::Shape{2, 1}));
        QCOMPARE(QString::fromStdString(ir::to_text(to_spec(sharding, kMesh))),
                 QStringLiteral("P('x', ('z', 'y'))"));
    }

    void wrong_specs_are_named_as_jax_names_them() {
        const ir::Shape shape{4, 8};
        const auto wrong = [&](const char* text) {
            return check_spec(ir::parse_spec(text), shape, kMesh);
        };
        QVERIFY(wrong("P('x', ('z', 'y'))").empty());
        QVERIFY(wrong("P()").empty());
        QVERIFY(wrong("P('x', None, None)").find("3 entries") != std::string::npos);
        QVERIFY(wrong("P('w')").find("no axis 'w'") != std::string::npos);
        try {
            wrong("P('x', 'x')");
            QFAIL("an axis used twice was taken");
        } catch (const Error& error) {
            QVERIFY(error.text().find("twice") != std::string::npos);
        }
    }

    // Batch 128 on four devices: [0:32] ... [96:128].
    void a_batch_is_cut_into_consecutive_stretches() {
        const Mesh mesh{{{"data", 4}}};
        const DimSharding dim = {canonical({{0}, 1, 1}, 128, mesh)};
        for (std::int64_t device = 0; device < 4; ++device) {
            QVERIFY((ranges(dim, 128, mesh, device) == std::vector<Range>{{32 * device, 32, 0}}));
        }
    }

    void ranges_of_parts_and_units_equal_dealing_them_out() {
        for (const Split& split : {Split{{1}, 1, 1}, Split{{1}, 3, 1}, Split{{0, 1}, 1, 2},
                                   Split{{1, 2}, 3, 2}, Split{{2}, 2, 5}}) {
            for (std::int64_t units : {2, 5, 8, 16, 19}) {
                const std::int64_t extent = split.parts * units * split.unit;
                const auto owners = owner_of_elements(split, extent, kMesh);
                const DimSharding dim = {canonical(split, extent, kMesh)};
                for (std::int64_t device = 0; device < kMesh.devices(); ++device) {
                    const std::int64_t index = kMesh.index(device, split.axes);
                    std::set<std::int64_t> held;
                    std::set<std::int64_t> places;
                    for (const Range& range : ranges(dim, extent, kMesh, device)) {
                        for (std::int64_t i = 0; i < range.count; ++i) {
                            held.insert(range.first + i);
                            places.insert(range.local + i);
                            QVERIFY(range.local + i < local_extent(dim, extent, kMesh));
                        }
                    }
                    std::set<std::int64_t> expected;
                    for (std::size_t i = 0; i < owners.size(); ++i) {
                        if (owners[i] == index) {
                            expected.insert(static_cast<std::int64_t>(i));
                        }
                    }
                    QVERIFY(held == expected);
                    QCOMPARE(places.size(), held.size()); // no two elements in one place
                }
            }
        }
    }

    void a_dimension_split_twice_is_dealt_out_once() {
        // Rows of 6 samples and 8 positions: samples over x, positions over y.
        DimSharding dim;
        QCOMPARE(insert_split(dim, {{1}, 6, 1}, 48, kMesh), 0);
        QCOMPARE(insert_split(dim, {{0}, 1, 8}, 48, kMesh), 0);
        QCOMPARE(local_extent(dim, 48, kMesh), std::int64_t{3 * 2});
        std::vector<int> held(48, 0);
        for (std::int64_t device = 0; device < kMesh.devices(); device += 2) { // z alike
            for (const Range& range : ranges(dim, 48, kMesh, device)) {
                for (std::int64_t i = 0; i < range.count; ++i) {
                    ++held[static_cast<std::size_t>(range.first + i)];
                }
            }
        }
        QVERIFY(std::all_of(held.begin(), held.end(), [](int count) { return count == 1; }));
    }

    void splits_that_do_not_nest_are_refused() {
        DimSharding dim = {Split{{1}, 6, 1}};
        QCOMPARE(insert_split(dim, {{0}, 1, 4}, 48, kMesh), -1);
    }

    // A pattern may match tensors of any rank: that is known only when they are.
    void an_override_with_more_entries_than_dimensions_is_refused_by_name() {
        Placement placement;
        placement.mesh = kMesh;
        placement.specs = {{"*.bias", ir::parse_spec("P(None, 'x')")}};
        const SlotInfo bias{
            SlotInfo::Kind::parameter, "head.bias", {}, {ir::DType::f32, {8}}, {""}};
        try {
            annotate({bias}, placement);
            QFAIL("it was taken");
        } catch (const Error& error) {
            QCOMPARE(error.kind(), ErrorKind::usage);
            QCOMPARE(error.where(), std::string("/mesh/specs/*.bias"));
            QVERIFY(error.text().starts_with("head.bias: the spec has 2 entries"));
        }
    }

    // Kept over both axes, computed with over those that do not split the batch: as if the rule had
    // named those alone.
    void what_ops_see_of_a_weight_does_not_depend_on_how_it_is_kept() {
        Placement placement;
        placement.mesh = kMesh;
        placement.rules = {{"batch", {"x"}}, {"mlp", {"z", "x"}}};
        const SlotInfo weight{
            SlotInfo::Kind::parameter, "up", {}, {ir::DType::f32, {8, 16}}, {"", "mlp"}};
        const Annotation both = annotate({weight}, placement).state.at("up");
        placement.rules = {{"batch", {"x"}}, {"mlp", {"z"}}};
        const Annotation alone = annotate({weight}, placement).state.at("up");
        QVERIFY(both.used == alone.used);
        QVERIFY(both.stored.uses(0));
    }

    void strategies_are_named_once_and_explained() {
        std::set<std::string_view> names;
        for (const StrategyDef* strategy : all_strategies()) {
            QVERIFY(names.insert(strategy->name).second);
            QVERIFY(!strategy->help.empty() && !strategy->when.empty() && !strategy->axes.empty());
            QCOMPARE(find_strategy(strategy->name), strategy);
        }
        QCOMPARE(find_strategy("none such"), nullptr);
    }
};

WEFT_TEST(ShardingTest)
#include "sharding_test.moc"
