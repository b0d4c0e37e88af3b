// SPDX-License-Identifier: Apache-2.0
// Specs in the words of JAX and of PyTorch's DTensor, against what both libraries define.
#include "core/base/error.h"
#include "core/ir/text.h"
#include "core/sharding/spec_text.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <numeric>

using namespace weft;
using namespace weft::sharding;

namespace {

const Mesh kGrid{{{"data", 2}, {"model", 4}}};
const Mesh kCube{{{"a", 2}, {"b", 3}, {"c", 5}}};

std::string placements(const char* jax, const Mesh& mesh) {
    return spec_text(ir::parse_spec(jax), mesh, SpecDialect::dtensor);
}

/// A stretch of equal cuts, the one of a device.
std::vector<std::int64_t> cut(const std::vector<std::int64_t>& held, std::int64_t cuts,
                              std::int64_t at) {
    const auto size = static_cast<std::ptrdiff_t>(held.size()) / cuts;
    return {held.begin() + at * size, held.begin() + (at + 1) * size};
}

/// What a device holds of a dimension by DTensor's definition: every placement of the text on what
/// the one before left; a strided one cuts `split_factor` pieces first, each by itself.
std::vector<std::int64_t> held_by_definition(std::string text, const Mesh& mesh,
                                             std::int64_t device, std::int64_t extent) {
    std::vector<std::int64_t> held(static_cast<std::size_t>(extent));
    std::iota(held.begin(), held.end(), 0);
    const std::vector<std::int64_t> place = mesh.coordinates(device);
    for (std::size_t axis = 0; axis < place.size(); ++axis) {
        const std::size_t end = text.find(')') + 1;
        const std::string one = text.substr(1, end - 1); // behind "[" or " "
        text = text.substr(std::min(text.size(), end + 1));
        const std::size_t factor_at = one.find("split_factor=");
        const std::int64_t factor =
            factor_at == std::string::npos ? 1 : std::stoll(one.substr(factor_at + 13));
        std::vector<std::int64_t> next;
        for (std::int64_t piece = 0; piece < factor; ++piece) {
            const auto own =
                cut(cut(held, factor, piece), mesh.size(static_cast<int>(axis)), place[axis]);
            next.insert(next.end(), own.begin(), own.end());
        }
        held = std::move(next);
    }
    return held;
}

std::vector<std::int64_t> held_here(const DimSharding& dim, const Mesh& mesh, std::int64_t device,
                                    std::int64_t extent) {
    std::vector<std::int64_t> out;
    for (const Range& range : ranges(dim, extent, mesh, device)) {
        for (std::int64_t i = 0; i < range.count; ++i) {
            out.push_back(range.first + i);
        }
    }
    return out;
}

} // namespace

class SpecTextTest : public QObject {
    Q_OBJECT
private slots:
    void every_axis_of_the_mesh_has_a_placement() {
        QCOMPARE(placements("P('data', None)", kGrid), std::string("[Shard(0), Replicate()]"));
        QCOMPARE(placements("P(None, 'model')", kGrid), std::string("[Replicate(), Shard(1)]"));
        QCOMPARE(placements("P('model', 'data')", kGrid), std::string("[Shard(1), Shard(0)]"));
        QCOMPARE(placements("P()", kGrid), std::string("[Replicate(), Replicate()]"));
        QCOMPARE(placements("P()", Mesh{}), std::string("plain tensor"));
    }

    void a_dimension_over_two_axes_is_shard_on_both() {
        QCOMPARE(placements("P(('data', 'model'))", kGrid), std::string("[Shard(0), Shard(0)]"));
    }

    void the_other_order_of_axes_needs_the_private_strided_shard() {
        QCOMPARE(placements("P(('model', 'data'))", kGrid),
                 std::string("[_StridedShard(0, split_factor=4), Shard(0)]"));
    }

    void terms_of_sums_are_partial() {
        QCOMPARE(placements("P('data') partial('model')", kGrid),
                 std::string("[Shard(0), Partial()]"));
    }

    void what_a_stage_holds_has_no_placement_along_the_pipeline() {
        const Mesh mesh{{{"pipeline", 2}, {"data", 2}, {"model", 2}}};
        Sharding sharding = from_spec(ir::parse_spec("P(None, 'model')"), ir::Shape{8, 8}, mesh);
        sharding.pin = Pin{0, 1};
        QCOMPARE(spec_text(sharding, mesh, SpecDialect::dtensor),
                 std::string("[Replicate(), Shard(1)]"));
        QCOMPARE(spec_text(sharding, mesh, SpecDialect::jax), std::string("P(None, 'model')"));
        QCOMPARE(placement_axes(mesh, 0), std::string("data, model"));
    }

    void placements_hold_what_the_spec_holds_in_every_order_of_three_axes() {
        std::vector<int> order{0, 1, 2};
        do {
            Split split;
            split.axes = AxisList(order);
            const DimSharding dim{split};
            const std::string text = spec_text(Sharding{{dim}, {}}, kCube, SpecDialect::dtensor);
            for (std::int64_t device = 0; device < kCube.devices(); ++device) {
                QVERIFY2(held_by_definition(text, kCube, device, 60) ==
                             held_here(dim, kCube, device, 60),
                         text.c_str());
            }
        } while (std::next_permutation(order.begin(), order.end()));
    }

    void what_is_written_can_be_read_again() {
        for (const char* jax :
             {"P()", "P('a')", "P(None, 'c')", "P(('a', 'b', 'c'))", "P(('c', 'a', 'b'))",
              "P(('c', 'b', 'a'))", "P(('b', 'a'), 'c')", "P('b') partial('a', 'c')"}) {
            const ir::Spec spec = ir::parse_spec(jax);
            for (const SpecDialect dialect : {SpecDialect::jax, SpecDialect::dtensor}) {
                const std::string text = spec_text(spec, kCube, dialect);
                QVERIFY2(parse_spec_text(text, kCube) == spec, text.c_str());
            }
        }
    }

    void placements_are_read_as_people_write_them() {
        const ir::Spec rows = ir::parse_spec("P('data')");
        QVERIFY(parse_spec_text("[Shard(dim=0), Replicate()]", kGrid) == rows);
        QVERIFY(parse_spec_text(" [ Shard( 0 ) , Replicate( ) , ] ", kGrid) == rows);
        QVERIFY(parse_spec_text("P('data', None)", kGrid).dims.size() == 2);
    }

    void mistakes_in_placements_are_said() {
        const auto fault = [](const char* text) -> std::string {
            try {
                parse_spec_text(text, kGrid);
            } catch (const Error& error) {
                return error.text();
            }
            return {};
        };
        const std::pair<const char*, const char*> cases[] = {
            {"[Shard(0)]", "there are 1 placements for 2 axes"},
            {"[Shard(0), Split(1)]", "not 'Split'"},
            {"[Shard, Replicate()]", "expected '('"},
            {"[Shard('data'), Replicate()]", "expected a number for dim"},
            {"[_StridedShard(0, split_factor=3), Shard(0)]", "split_factor 3 of axis 'data'"},
            {"[Shard(99), Replicate()]", "at most 8 dimensions"},
            {"[Shard(0), Replicate()] more", "unexpected 'more'"}};
        for (const auto& [text, words] : cases) {
            QVERIFY2(fault(text).find(words) != std::string::npos, fault(text).c_str());
        }
    }

    void what_placements_cannot_say_is_said() {
        const ir::Shape shape{12, 24};
        const Sharding plain = from_spec(ir::parse_spec("P('data', 'model')"), shape, kGrid);
        QVERIFY(dtensor_gaps(plain, shape, kGrid).empty());
        Sharding fused = Sharding::replicated(2);
        fused.dims[1] = {Split{AxisList{1}, 3, 1}};
        const auto parts = dtensor_gaps(fused, shape, kGrid);
        QCOMPARE(parts.size(), std::size_t{1});
        QVERIFY(parts.front().find("each of its 3 parts") != std::string::npos);
        Sharding turned = Sharding::replicated(2);
        turned.dims[0] = {Split{AxisList{1, 0}, 1, 1}};
        const auto order = dtensor_gaps(turned, ir::Shape{16, 24}, kGrid);
        QCOMPARE(order.size(), std::size_t{1});
        QVERIFY(order.front().find("another order") != std::string::npos);
        QCOMPARE(dtensor_gaps(turned, shape, kGrid).size(), std::size_t{2}); // and 12 rows on 8
    }
};

WEFT_TEST(SpecTextTest)
#include "spec_text_test.moc"
