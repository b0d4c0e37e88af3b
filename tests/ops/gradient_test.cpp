// SPDX-License-Identifier: Apache-2.0
// Gradient rules against central differences (f(x + h) - f(x - h)) / 2h in f64 on the reference
// kernels.
#include "core/autodiff/gradients.h"
#include "core/ops/op_def.h"
#include "core/ops/verify.h"
#include "tests/ops/op_case.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <cmath>

using namespace weft;
using namespace weft::test;
using exec::Tensor;
using ir::ValueId;
using ir::ValueIds;

namespace {

// h = 1e-5: the truncation error is of the order h^2 = 1e-10, rounding 1e-16 / h = 1e-11; both
// times derivatives of the order 10 at the rows' operands. The rest of the margin is for deep
// compositions.
constexpr double kStep = 1e-5;
constexpr double kGradientTolerance = 2e-8;

// loss = sum over the differentiable outputs of output * weights, so that every element of an
// output counts differently. `with_gradients` adds the gradient of each floating-point operand as a
// result.
struct LossProgram {
    ir::Program program;
    std::vector<Tensor> weights;
    std::vector<int> variables; // operands with a gradient
};

// Of several outputs only the first is differentiable; of loops and groups all are.
std::size_t differentiable_outputs(const OpCase& row, std::size_t outputs) {
    return row.build ? outputs : 1;
}

LossProgram make_loss(const OpCase& row, const std::vector<Tensor>& operands, bool with_gradients) {
    LossProgram out;
    ir::Program& program = out.program;
    program.name = "loss";
    ValueIds arguments;
    for (const Tensor& operand : operands) {
        const std::string name = "x" + std::to_string(arguments.size());
        arguments.push_back(program.add_argument(ir::Role::batch, name, operand.type));
    }
    ops::Builder b(program, program.body);
    const ValueIds outputs =
        row.build ? row.build(b, arguments) : b.emit_all(row.kind, arguments, row.attributes);
    ValueId loss;
    for (std::size_t i = 0; i < differentiable_outputs(row, outputs.size()); ++i) {
        const ir::Shape shape = b.shape(outputs[i]);
        out.weights.push_back(Tensor({ir::DType::f64, shape}));
        for (std::size_t at = 0; at < static_cast<std::size_t>(shape.elements()); ++at) {
            out.weights.back().span<double>()[at] = std::sin(1.0 + 3.7 * static_cast<double>(at));
        }
        const std::string name = "w" + std::to_string(i);
        const ValueId weight = program.add_argument(ir::Role::batch, name, out.weights.back().type);
        ValueId term = mul(b, outputs[i], weight);
        std::vector<std::int64_t> dims;
        for (int dim = 0; dim < shape.rank(); ++dim) {
            dims.push_back(dim);
        }
        term = dims.empty() ? term : reduce_sum(b, term, dims);
        loss = loss.valid() ? add(b, loss, term) : term;
    }
    program.add_result(ir::Role::output, "loss", loss);
    ValueIds variables;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const int operand = static_cast<int>(i);
        const auto& excluded = row.constant_operands;
        if (ir::is_float(operands[i].type.dtype) &&
            std::find(excluded.begin(), excluded.end(), operand) == excluded.end()) {
            out.variables.push_back(operand);
            variables.push_back(arguments[i]);
        }
    }
    if (with_gradients) {
        const ValueId seed = constant(b, 1.0, {}, ir::DType::f64);
        const auto gradients = autodiff::append_gradients(b, loss, seed, variables);
        for (std::size_t i = 0; i < gradients.size(); ++i) {
            program.add_result(ir::Role::output, "g" + std::to_string(i), gradients[i]);
        }
    }
    return out;
}

double loss_of(const LossProgram& loss, std::vector<Tensor> operands) {
    operands.insert(operands.end(), loss.weights.begin(), loss.weights.end());
    return exec::interpret(loss.program, operands)[0].span<double>()[0];
}

// Differences of the loss along each element of one operand.
Tensor numeric_gradient(const LossProgram& loss, const std::vector<Tensor>& operands,
                        int variable) {
    const auto at = static_cast<std::size_t>(variable);
    Tensor out(operands[at].type);
    for (std::size_t i = 0; i < out.span<double>().size(); ++i) {
        std::vector<Tensor> moved = operands;
        moved[at].span<double>()[i] += kStep;
        const double above = loss_of(loss, moved);
        moved[at].span<double>()[i] -= 2 * kStep;
        out.span<double>()[i] = (above - loss_of(loss, moved)) / (2 * kStep);
    }
    return out;
}

bool differentiable(const OpCase& row) {
    const bool variables =
        std::any_of(row.operands.begin(), row.operands.end(), [](const std::string& operand) {
            return ir::is_float(parse_type(operand).dtype);
        });
    return variables && (ops::op_def(row.kind).gradient != nullptr || row.kind == "repeat");
}

} // namespace

class OpGradientTest : public QObject {
    Q_OBJECT
private slots:
    void gradients_match_finite_differences() {
        int checked = 0;
        for (const OpCase& row : op_cases()) {
            if (!differentiable(row)) {
                continue;
            }
            const std::vector<Tensor> operands = make_operands(row);
            const LossProgram with = make_loss(row, operands, true);
            const LossProgram without = make_loss(row, operands, false);
            const std::vector<std::string> violations = ops::verify(with.program);
            QVERIFY2(violations.empty(),
                     (describe(row) + ": " + (violations.empty() ? "" : violations[0])).c_str());
            std::vector<Tensor> arguments = operands;
            arguments.insert(arguments.end(), with.weights.begin(), with.weights.end());
            const std::vector<Tensor> results = exec::interpret(with.program, arguments);
            for (std::size_t i = 0; i < with.variables.size(); ++i) {
                const Tensor expected = numeric_gradient(without, operands, with.variables[i]);
                const double difference = largest_difference(results[i + 1], expected);
                QVERIFY2(difference < kGradientTolerance,
                         (describe(row) + ", operand " + std::to_string(with.variables[i]) +
                          ": off by " + std::to_string(difference))
                             .c_str());
                ++checked;
            }
        }
        QVERIFY(checked > 80); // rows x variables: the walk was not empty
    }
};

WEFT_TEST(OpGradientTest)
#include "gradient_test.moc"
