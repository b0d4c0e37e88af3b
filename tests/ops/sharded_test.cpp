// SPDX-License-Identifier: Apache-2.0
// Every op of the table, cut along each of its factors over 2, 3, 4 and 2x2 devices, gives the same
// as on one device: even cuts and padded ones. The partition pass makes the devices' programs, so
// factor rules, local attributes, split functions, masks and reshards are all at stake.
#include "core/exec/mesh_interpreter.h"
#include "tests/ops/op_case.h"
#include "tests/support/weft_test.h"

#include <algorithm>

using namespace weft;
using namespace weft::test;
using exec::Tensor;
using sharding::DimSharding;
using sharding::Mesh;
using sharding::Sharding;

namespace {

// Sums in another order: a few units in the last place of f64, times the number of terms. Values
// that pass through f32 (losses of f32 operands and key indices) round to 1e-7.
constexpr double kShardedTolerance = 1e-11;
constexpr double kSingleTolerance = 1e-6;

struct Row {
    ir::Program program;
    std::vector<Tensor> operands;
    ops::FactorRule rule;
    std::vector<Tensor> whole;
};

Row make_row(const OpCase& row) {
    Row out;
    out.operands = make_operands(row);
    std::vector<ir::Type> types;
    for (const Tensor& operand : out.operands) {
        types.push_back(operand.type);
    }
    out.program = one_op_program(row, types, row.attributes);
    out.rule = ops::op_def(row.kind).factors({out.program, out.program.body.ops.back()});
    out.whole = exec::interpret(out.program, out.operands);
    return out;
}

/// Operands that have the factor, cut along it.
sharding::ProgramAnnotations cut_along(const Row& row,
                                       const std::vector<std::pair<int, std::vector<int>>>& cuts,
                                       const Mesh& mesh) {
    sharding::ProgramAnnotations out;
    for (std::size_t i = 0; i < row.rule.inputs.size(); ++i) {
        const auto& dims = row.rule.inputs[i];
        Sharding place = Sharding::replicated(static_cast<int>(dims.size()));
        for (const auto& [factor, axes] : cuts) {
            for (std::size_t dim = 0; dim < dims.size(); ++dim) {
                const auto at = std::find(dims[dim].begin(), dims[dim].end(), factor);
                if (at != dims[dim].end()) {
                    const auto position = static_cast<std::size_t>(at - dims[dim].begin());
                    const std::int64_t size =
                        row.rule.factors[static_cast<std::size_t>(factor)].size;
                    const sharding::Split split = from_factor(canonical({axes, 1, 1}, size, mesh),
                                                              dims[dim], position, row.rule, mesh);
                    sharding::insert_split(place.dims[dim], split,
                                           row.operands[i].type.shape[static_cast<int>(dim)], mesh);
                }
            }
        }
        out.arguments[row.program.arguments[i].name] = {place, place};
    }
    return out;
}

bool may_split(const Row& row, const std::string& kind, int factor, std::int64_t devices) {
    const ops::Factor& info = row.rule.factors[static_cast<std::size_t>(factor)];
    const bool custom = info.combine == ops::Combine::custom;
    return info.combine != ops::Combine::whole && info.size >= devices &&
           (!custom || ops::op_def(kind).split != nullptr);
}

std::string wrong(const Row& row, const Mesh& mesh,
                  const std::vector<std::pair<int, std::vector<int>>>& cuts) {
    const auto annotations = cut_along(row, cuts, mesh);
    const auto local = sharding::partition(row.program, annotations, mesh);
    const auto joined = exec::interpret_on_mesh(local, mesh, row.operands);
    for (std::size_t i = 0; i < joined.size(); ++i) {
        const bool single =
            std::any_of(row.operands.begin(), row.operands.end(),
                        [](const Tensor& t) { return t.type.dtype == ir::DType::f32; });
        const double off = largest_difference(joined[i], row.whole[i]);
        if (!(off <= (single ? kSingleTolerance : kShardedTolerance))) {
            return "output " + std::to_string(i) + " is off by " + std::to_string(off);
        }
    }
    return {};
}

} // namespace

class ShardedOpsTest : public QObject {
    Q_OBJECT
private slots:
    void an_op_cut_along_one_factor_gives_the_whole_result_data() {
        QTest::addColumn<int>("devices");
        QTest::newRow("two devices") << 2;
        QTest::newRow("three devices, mostly padded") << 3;
        QTest::newRow("four devices") << 4;
    }

    void an_op_cut_along_one_factor_gives_the_whole_result() {
        QFETCH(int, devices);
        const Mesh mesh{{{"a", devices}}};
        int checked = 0;
        for (const OpCase& one : computing_op_cases()) {
            if (one.kind == "repeat" || one.kind == "fused" || one.kind == "sweep") {
                continue;
            }
            const Row row = make_row(one);
            for (int factor = 0; factor < static_cast<int>(row.rule.factors.size()); ++factor) {
                if (may_split(row, one.kind, factor, devices)) {
                    const std::string text = wrong(row, mesh, {{factor, {0}}});
                    QVERIFY2(text.empty(),
                             (describe(one) + ", factor " +
                              row.rule.factors[static_cast<std::size_t>(factor)].name + ": " + text)
                                 .c_str());
                    ++checked;
                }
            }
        }
        QVERIFY(checked > 40); // the walk was not empty
    }

    void an_op_cut_along_two_factors_gives_the_whole_result() {
        const Mesh mesh{{{"a", 2}, {"b", 2}}};
        int checked = 0;
        for (const OpCase& one : computing_op_cases()) {
            if (one.kind == "repeat" || one.kind == "fused" || one.kind == "sweep") {
                continue;
            }
            const Row row = make_row(one);
            const int factors = static_cast<int>(row.rule.factors.size());
            for (int first = 0; first < factors; ++first) {
                for (int second = first + 1; second < factors; ++second) {
                    if (may_split(row, one.kind, first, 2) && may_split(row, one.kind, second, 2)) {
                        const std::string text = wrong(row, mesh, {{first, {0}}, {second, {1}}});
                        QVERIFY2(text.empty(), (describe(one) + ": " + text).c_str());
                        ++checked;
                    }
                }
            }
        }
        QVERIFY(checked > 60);
    }

    void a_factor_cut_over_both_axes_gives_the_whole_result() {
        const Mesh mesh{{{"a", 2}, {"b", 2}}};
        int checked = 0;
        for (const OpCase& one : computing_op_cases()) {
            if (one.kind == "repeat" || one.kind == "fused" || one.kind == "sweep") {
                continue;
            }
            const Row row = make_row(one);
            for (int factor = 0; factor < static_cast<int>(row.rule.factors.size()); ++factor) {
                if (may_split(row, one.kind, factor, 4)) {
                    const std::string text = wrong(row, mesh, {{factor, {1, 0}}});
                    QVERIFY2(text.empty(), (describe(one) + ": " + text).c_str());
                    ++checked;
                }
            }
        }
        QVERIFY(checked > 20);
    }
};

WEFT_TEST(ShardedOpsTest)
#include "sharded_test.moc"
