// SPDX-License-Identifier: Apache-2.0
// Factor rules fit their ops: sizes multiply to the extents, and padding with the neutral element
// changes nothing. That parts make up the whole: sharded_test.cpp.
#include "core/ops/op_def.h"
#include "tests/ops/op_case.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <cmath>

using namespace weft;
using namespace weft::test;
using exec::Tensor;
using ops::Combine;
using ops::FactorRule;

namespace {

using Dims = std::vector<std::vector<int>>; // factors of each dimension of one operand

// Sums in another order: a few units in the last place of f64, times the number of terms.
constexpr double kFactorTolerance = 1e-12;

bool has(const Dims& dims, int factor) {
    return std::any_of(dims.begin(), dims.end(), [&](const std::vector<int>& factors) {
        return std::find(factors.begin(), factors.end(), factor) != factors.end();
    });
}

// A dense operand seen as [outer, factor, inner] elements.
struct Split {
    std::int64_t outer = 1;
    std::int64_t size = 1;
    std::int64_t inner_bytes = 1;
};

Split split_at(const FactorRule& rule, const Dims& dims, int factor, ir::DType dtype) {
    Split out;
    out.inner_bytes = ir::dtype_bytes(dtype);
    bool found = false;
    for (const std::vector<int>& factors : dims) {
        for (const int f : factors) {
            const std::int64_t size = rule.factors[static_cast<std::size_t>(f)].size;
            if (f == factor) {
                out.size = size;
                found = true;
            } else if (found) {
                out.inner_bytes *= size;
            } else {
                out.outer *= size;
            }
        }
    }
    return out;
}

// The type of an operand when the factor's size becomes `size`.
ir::Type resized(const FactorRule& rule, const Dims& dims, int factor, ir::Type type,
                 std::int64_t size) {
    for (int dim = 0; dim < type.shape.rank(); ++dim) {
        const auto& factors = dims[static_cast<std::size_t>(dim)];
        if (std::find(factors.begin(), factors.end(), factor) != factors.end()) {
            const std::int64_t whole = rule.factors[static_cast<std::size_t>(factor)].size;
            type.shape[dim] = type.shape[dim] / whole * size;
        }
    }
    return type;
}

// Elements first ... first + size - 1 of the factor; beyond its end, `filler`.
Tensor take(const FactorRule& rule, const Dims& dims, int factor, const Tensor& tensor,
            std::int64_t first, std::int64_t size, double filler = 0.0) {
    if (!has(dims, factor)) {
        return tensor;
    }
    const Split split = split_at(rule, dims, factor, tensor.type.dtype);
    Tensor out(resized(rule, dims, factor, tensor.type, size));
    for (std::size_t i = 0; i < static_cast<std::size_t>(out.type.shape.elements()); ++i) {
        set_number(out, i, filler);
    }
    for (std::int64_t o = 0; o < split.outer; ++o) {
        for (std::int64_t i = 0; i < size && first + i < split.size; ++i) {
            const auto from =
                tensor.data.begin() + (o * split.size + first + i) * split.inner_bytes;
            std::copy(from, from + split.inner_bytes,
                      out.data.begin() + (o * size + i) * split.inner_bytes);
        }
    }
    return out;
}

// A row with its program, rule and unsplit results.
struct Whole {
    const OpCase& row;
    std::vector<Tensor> operands;
    FactorRule rule;
    std::vector<Tensor> results;
};

Whole make_whole(const OpCase& row) {
    const std::vector<Tensor> operands = make_operands(row);
    std::vector<ir::Type> types;
    for (const Tensor& operand : operands) {
        types.push_back(operand.type);
    }
    const ir::Program program = one_op_program(row, types, row.attributes);
    FactorRule rule = ops::op_def(row.kind).factors({program, program.body.ops.back()});
    return {row, operands, std::move(rule), exec::interpret(program, operands)};
}

// The op on `size` elements of the factor from `first` on (or beyond the end, filled with neutral).
std::vector<Tensor> run_part(const Whole& whole, int factor, std::int64_t first,
                             std::int64_t size) {
    const ops::Factor& info = whole.rule.factors[static_cast<std::size_t>(factor)];
    std::vector<Tensor> parts;
    for (std::size_t i = 0; i < whole.operands.size(); ++i) {
        const Dims dims = i < whole.rule.inputs.size() ? whole.rule.inputs[i] : Dims{};
        parts.push_back(
            take(whole.rule, dims, factor, whole.operands[i], first, size, info.neutral));
    }
    // Extents that stand in attributes are those of the part's result.
    ir::Attributes attributes = whole.row.attributes;
    const ir::Type out =
        resized(whole.rule, whole.rule.outputs[0], factor, whole.results[0].type, size);
    for (const char* name : {"shape", "sizes"}) {
        if (attributes.has(name)) {
            attributes.set(name, std::vector<std::int64_t>(out.shape.begin(), out.shape.end()));
        }
    }
    return run_case(whole.row, parts, attributes);
}

std::string check_neutral(const Whole& whole, int factor) {
    const ops::Factor& info = whole.rule.factors[static_cast<std::size_t>(factor)];
    const std::vector<Tensor> padded = run_part(whole, factor, 0, info.size + 1);
    for (std::size_t i = 0; i < whole.results.size(); ++i) {
        const Dims& dims = whole.rule.outputs[i];
        // Where the factor is in the output, the padding is cut off again.
        FactorRule larger = whole.rule;
        larger.factors[static_cast<std::size_t>(factor)].size = info.size + 1;
        const Tensor kept = take(larger, dims, factor, padded[i], 0, info.size);
        if (const double off = largest_difference(kept, whole.results[i]); off > kFactorTolerance) {
            return "output " + std::to_string(i) + " is off by " + std::to_string(off);
        }
    }
    return {};
}

std::string place(const Whole& whole, int factor) {
    return describe(whole.row) + ", factor " +
           whole.rule.factors[static_cast<std::size_t>(factor)].name + ": ";
}

} // namespace

class OpFactorTest : public QObject {
    Q_OBJECT
private slots:
    void rules_fit_the_operands() {
        for (const OpCase& row : computing_op_cases()) {
            const Whole whole = make_whole(row);
            const auto check = [&](const std::vector<Dims>& dims,
                                   const std::vector<Tensor>& tensors) {
                QVERIFY(dims.size() <= tensors.size()); // captures are no operands
                for (std::size_t i = 0; i < dims.size(); ++i) {
                    const ir::Shape& shape = tensors[i].type.shape;
                    QCOMPARE(static_cast<int>(dims[i].size()), shape.rank());
                    for (int dim = 0; dim < shape.rank(); ++dim) {
                        std::int64_t product = 1;
                        for (const int factor : dims[i][static_cast<std::size_t>(dim)]) {
                            product *= whole.rule.factors.at(static_cast<std::size_t>(factor)).size;
                        }
                        QVERIFY2(product == shape[dim], describe(row).c_str());
                    }
                }
            };
            check(whole.rule.inputs, whole.operands);
            check(whole.rule.outputs, whole.results);
        }
    }

    void padding_with_the_neutral_element_changes_nothing() {
        int checked = 0;
        for (const OpCase& row : computing_op_cases()) {
            const Whole whole = make_whole(row);
            for (int factor = 0; factor < static_cast<int>(whole.rule.factors.size()); ++factor) {
                const ops::Factor& info = whole.rule.factors[static_cast<std::size_t>(factor)];
                const auto& outputs = whole.rule.outputs;
                const bool contracted =
                    std::none_of(outputs.begin(), outputs.end(),
                                 [&](const Dims& dims) { return has(dims, factor); });
                const bool reduced = info.combine == Combine::sum || info.combine == Combine::max;
                // A whole dimension has a neutral element only where the rule names one.
                if ((reduced && contracted) ||
                    (info.combine == Combine::whole && info.neutral != 0)) {
                    const std::string wrong = check_neutral(whole, factor);
                    QVERIFY2(wrong.empty(), (place(whole, factor) + wrong).c_str());
                    ++checked;
                }
            }
        }
        QVERIFY(checked > 30);
    }

    void contractions_are_found_as_sums() {
        const Whole whole = make_whole({.kind = "matmul", .operands = {"f64[2,4]", "f64[4,6]"}});
        int sums = 0;
        for (const ops::Factor& factor : whole.rule.factors) {
            sums += factor.combine == Combine::sum ? 1 : 0;
            QVERIFY(factor.combine != Combine::whole);
        }
        QCOMPARE(sums, 1);
        QCOMPARE(static_cast<int>(whole.rule.factors.size()), 3);
    }
};

WEFT_TEST(OpFactorTest)
#include "factor_test.moc"
