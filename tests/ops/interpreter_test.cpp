// SPDX-License-Identifier: Apache-2.0
// The interpreter: groups run as their single ops would, and mistakes are named.
#include "core/exec/interpreter.h"

#include "core/base/error.h"
#include "core/exec/kernel_call.h"
#include "tests/ops/op_case.h"
#include "tests/support/weft_test.h"

using namespace weft;
using namespace weft::test;
using exec::Tensor;
using ir::ValueId;
using ir::ValueIds;

namespace {

weft_status refuse(const weft_op_desc*, weft_query*) {
    return WEFT_UNSUPPORTED;
}

// A back end without kernels: what the CPU back end is to an op that it lacks.
const weft_backend kEmptyBackend{"empty", refuse, nullptr, nullptr, nullptr, weft_last_error};

const OpCase& row_of(const std::string& kind) {
    const auto& rows = op_cases();
    return *std::find_if(rows.begin(), rows.end(),
                         [&](const OpCase& row) { return row.kind == kind; });
}

QString said_by(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return QString::fromStdString(error.where() + ": " + error.text());
    }
    return QStringLiteral("nothing");
}

} // namespace

class InterpreterTest : public QObject {
    Q_OBJECT
private slots:
    void a_fused_group_equals_its_single_ops() {
        const OpCase& row = row_of("fused");
        const std::vector<Tensor> operands = make_operands(row);
        const std::vector<Tensor> together = run_case(row, operands, {});
        OpCase apart{.kind = "fused"};
        apart.build = [](ops::Builder& b, const ValueIds& inputs) {
            const ValueId product = mul(b, inputs[0], inputs[1]);
            const ValueId bent = b.emit_all("tanh", {product})[0];
            return ValueIds{affine(b, bent, 0.5), product};
        };
        const std::vector<Tensor> singly = run_case(apart, operands, {});
        QCOMPARE(together[0].data,
                 singly[0].data); // bitwise: the same arithmetic in the same order
        QCOMPARE(together[1].data, singly[1].data);
    }

    void the_first_back_end_with_a_kernel_runs_the_op() {
        const OpCase& row = row_of("softmax");
        const std::vector<Tensor> operands = make_operands(row);
        const ir::Program program = one_op_program(row, {operands[0].type}, {});
        const std::vector<Tensor> expected = exec::interpret(program, operands);
        const std::vector<Tensor> got =
            exec::interpret(program, operands, {{&kEmptyBackend, weft_reference_backend()}});
        QCOMPARE(got[0].data, expected[0].data);
    }

    void an_op_that_no_back_end_has_is_named_with_its_types() {
        const OpCase& row = row_of("softmax");
        const std::vector<Tensor> operands = make_operands(row);
        const ir::Program program = one_op_program(row, {operands[0].type}, {});
        const QString said =
            said_by([&] { exec::interpret(program, operands, {{&kEmptyBackend}}); });
        QVERIFY2(said.startsWith(QStringLiteral("softmax at layer: no back end has a kernel for "
                                                "(f64[2,2,5]) -> (f64[2,2,5])")),
                 qPrintable(said));
    }

    void an_argument_of_another_type_is_refused() {
        const ir::Program program = one_op_program({.kind = "neg"}, {parse_type("f32[2]")}, {});
        const std::vector<Tensor> wrong = {Tensor(parse_type("f32[3]"))};
        QCOMPARE(said_by([&] { exec::interpret(program, wrong); }),
                 QStringLiteral("one_op: argument 'x0' must be f32[2], but is f32[3]"));
        QCOMPARE(said_by([&] { exec::interpret(program, {}); }),
                 QStringLiteral("one_op: takes 1 argument, but got 0"));
    }

    void a_loop_stacks_outputs_at_the_place_of_their_slice() {
        // state <- state + x_i, handing out the new state, from the last slice to the first.
        OpCase row{.kind = "repeat"};
        row.build = [](ops::Builder& b, const ValueIds& inputs) {
            ir::Op op;
            op.kind = "repeat";
            op.inputs = inputs;
            op.attributes = {{"count", 3}, {"carried", 1}, {"reverse", true}};
            ir::Block& body = op.body.emplace_back();
            const ir::Type scalar = b.type(inputs[0]);
            body.arguments = {b.program().add_value(scalar), b.program().add_value(scalar)};
            ops::Builder inner(b.program(), body);
            const ValueId sum = add(inner, body.arguments[0], body.arguments[1]);
            body.results = {sum, sum};
            op.outputs = {b.program().add_value(scalar),
                          b.program().add_value({scalar.dtype, {3}})};
            const ValueIds outputs = op.outputs;
            b.append(std::move(op));
            return outputs;
        };
        Tensor start(parse_type("f64[]"));
        Tensor slices(parse_type("f64[3]"));
        for (std::size_t i = 0; i < 3; ++i) {
            slices.span<double>()[i] = std::array{1.0, 10.0, 100.0}[i];
        }
        const std::vector<Tensor> results = run_case(row, {start, slices}, {});
        QCOMPARE(results[0].span<double>()[0], 111.0);
        QCOMPARE(numbers(results[1]), (std::vector<double>{111.0, 110.0, 100.0}));
    }
};

WEFT_TEST(InterpreterTest)
#include "interpreter_test.moc"
