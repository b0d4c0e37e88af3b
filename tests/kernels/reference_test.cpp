// SPDX-License-Identifier: Apache-2.0
// Elementwise, structure, reduction and matmul kernels of the reference back end against values
// worked out by hand. Layers are in reference_layers_test.cpp, gradients in gradient_test.cpp,
// random numbers in philox_test.cpp.
#include "kernels/elementwise.h"
#include "kernels/reference/reference_list.h"
#include "tests/kernels/cases/cases.h"
#include "tests/kernels/reference_support.h"
#include "tests/support/weft_test.h"

#include <cmath>
#include <set>

using namespace weft::test;

class ReferenceKernels : public QObject {
    Q_OBJECT

private slots:
    void every_kernel_runs_in_the_case_table();
    void elementwise_ops_give_hand_made_values_data();
    void elementwise_ops_give_hand_made_values();
    void a_fused_group_rounds_every_step_to_its_type();
    void maximum_and_relu_let_nan_through();
    void column_maxima_and_pooling_let_nan_through();
    void structure_ops_move_elements_where_they_belong();
    void reductions_give_hand_made_values();
    void matmul_honours_transposition_batches_and_bias();
    void narrow_results_are_f64_results_rounded_once();
    void padding_is_finite_in_f16();
};

void ReferenceKernels::every_kernel_runs_in_the_case_table() {
    std::set<std::string> covered;
    for (const Case& c : kernel_cases()) {
        covered.insert(c.call.kind);
    }
    for (const auto& row : weft::kernels::reference::kReferenceList) {
        QVERIFY2(covered.count(row.op) == 1, row.op);
    }
}

void ReferenceKernels::elementwise_ops_give_hand_made_values_data() {
    QTest::addColumn<QString>("op");
    QTest::addColumn<QVector<double>>("inputs");
    QTest::addColumn<double>("expected");
    auto row = [](const char* op, QVector<double> inputs, double expected) {
        QTest::addRow("%s %d", op, static_cast<int>(expected * 1000))
            << QString(op) << inputs << expected;
    };
    row("neg", {2}, -2);
    row("abs", {-2}, 2);
    row("exp", {1}, 2.718281828459045);
    row("log", {2}, 0.6931471805599453);
    row("sqrt", {2}, 1.4142135623730951);
    row("rsqrt", {4}, 0.5);
    row("tanh", {0.5}, 0.46211715726000975);
    row("sigmoid", {1}, 0.7310585786300049);
    row("square", {-3}, 9);
    row("sign", {-0.1}, -1);
    row("sign", {0}, 0);
    row("is_finite", {1}, 1);
    row("is_finite", {INFINITY}, 0);
    row("relu", {-1}, 0);
    row("relu", {3}, 3);
    row("gelu", {1}, 0.8411919906082768);     // 0.5 (1 + tanh(0.7978845608 * 1.044715))
    row("gelu_erf", {1}, 0.8413447460685429); // Phi(1)
    row("silu", {1}, 0.7310585786300049);
    row("symlog", {1}, 0.6931471805599453);   // log 2
    row("symlog", {-3}, -1.3862943611198906); // -log 4
    row("cast", {1.5}, 1.5);
    row("affine", {2}, 7); // scale 3, shift 1
    row("add", {2, 3}, 5);
    row("sub", {2, 3}, -1);
    row("mul", {2, 3}, 6);
    row("div", {3, 2}, 1.5);
    row("maximum", {2, 3}, 3);
    row("minimum", {2, 3}, 2);
    row("pow", {2, 10}, 1024);
    row("atan2", {1, 1}, 0.7853981633974483);   // pi / 4
    row("atan2", {1, 0}, 1.5707963267948966);   // pi / 2
    row("atan2", {-1, -1}, -2.356194490192345); // -3 pi / 4
    row("atan2", {0, 0}, 0);
    row("less", {2, 3}, 1);
    row("less", {3, 3}, 0);
    row("equal", {3, 3}, 1);
    row("select", {1, 5, 6}, 5);
    row("select", {0, 5, 6}, 6);
}

void ReferenceKernels::elementwise_ops_give_hand_made_values() {
    QFETCH(QString, op);
    QFETCH(QVector<double>, inputs);
    QFETCH(double, expected);
    Call call{op.toStdString(), {}, {f64({1})}, {real("scale", 3), real("shift", 1)}, {}, {}};
    for (const double x : inputs) {
        call.inputs.push_back(reals({1}, {x}));
    }
    QVERIFY(near(values_of(call), {expected}, 1e-14 * std::fmax(1.0, std::fabs(expected))));
}

void ReferenceKernels::a_fused_group_rounds_every_step_to_its_type() {
    // 1 + 2^-9 rounds to 1 in bf16 and 1 + 2^-12 in f16, so that the second sum never sees the
    // first small part.
    const auto twice_added = [](weft_dtype dtype, double small) {
        Call call{"fused",
                  {tensor(WEFT_F32, {1}, {1.0}), tensor(WEFT_F32, {1}, {small})},
                  {type_of(WEFT_F32, {1})},
                  {},
                  {},
                  {3}};
        call.steps = {{WEFT_EW_ADD, dtype, {0, 1, -1}, 1, 0},
                      {WEFT_EW_ADD, WEFT_F32, {2, 1, -1}, 1, 0}};
        return values_of(call);
    };
    QVERIFY(near(twice_added(WEFT_BF16, 0x1p-9), {1 + 0x1p-9}, 0.0));
    QVERIFY(near(twice_added(WEFT_F16, 0x1p-9), {1 + 0x1p-8}, 0.0));
    QVERIFY(near(twice_added(WEFT_F16, 0x1p-12), {1 + 0x1p-12}, 0.0));
    QVERIFY(near(twice_added(WEFT_F32, 0x1p-12), {1 + 0x1p-11}, 0.0));
}

void ReferenceKernels::maximum_and_relu_let_nan_through() {
    for (const weft_backend* backend : {weft_reference_backend(), weft_cpu_backend()}) {
        for (const bool first : {false, true}) {
            const Tensor nan = tensor(WEFT_F32, {3}, {NAN, NAN, NAN});
            const Tensor one = tensor(WEFT_F32, {3}, {1, 1, 1});
            const weft_tensor_type type = type_of(WEFT_F32, {3});
            for (const char* op : {"maximum", "minimum"}) {
                const Result r =
                    run(backend, {op, {first ? nan : one, first ? one : nan}, {type}, {}, {}, {}});
                QVERIFY(std::isnan(r.outputs.at(0).get(2)));
            }
            QVERIFY(
                std::isnan(run(backend, {"relu", {nan}, {type}, {}, {}, {}}).outputs.at(0).get(1)));
            QVERIFY(std::isnan(
                run(backend,
                    {"reduce_max", {nan}, {type_of(WEFT_F32, {})}, {list("dims", {0})}, {}, {}})
                    .outputs.at(0)
                    .get(0)));
        }
    }
}

void ReferenceKernels::column_maxima_and_pooling_let_nan_through() {
    for (const weft_backend* backend : {weft_reference_backend(), weft_cpu_backend()}) {
        Tensor x = noise(WEFT_F32, {1, 3, 3, 2}, 1);
        x.set(9, NAN); // pixel (1, 1), channel 1
        const Result columns =
            run(backend,
                {"reduce_max", {x}, {type_of(WEFT_F32, {2})}, {list("dims", {0, 1, 2})}, {}, {}});
        QVERIFY(!std::isnan(columns.outputs.at(0).get(0)));
        QVERIFY(std::isnan(columns.outputs.at(0).get(1)));
        const Result pooled = run(
            backend,
            {"max_pool", {x}, {type_of(WEFT_F32, {1, 1, 1, 2})}, {list("window", {3, 3})}, {}, {}});
        QVERIFY(!std::isnan(pooled.outputs.at(0).get(0)));
        QVERIFY(std::isnan(pooled.outputs.at(0).get(1)));
    }
}

void ReferenceKernels::structure_ops_move_elements_where_they_belong() {
    const Tensor x = reals({2, 3}, {1, 2, 3, 4, 5, 6});
    QVERIFY(
        near(values_of({"transpose", {x}, {f64({3, 2})}, {list("permutation", {1, 0})}, {}, {}}),
             {1, 4, 2, 5, 3, 6}));
    QVERIFY(near(values_of({"reshape", {x}, {f64({3, 2})}, {list("shape", {3, 2})}, {}, {}}),
                 {1, 2, 3, 4, 5, 6}));
    QVERIFY(near(values_of({"copy", {x}, {f64({2, 3})}, {}, {}, {}}), {1, 2, 3, 4, 5, 6}));
    QVERIFY(near(values_of({"broadcast",
                            {reals({2, 1}, {7, 8})},
                            {f64({2, 2, 2})},
                            {list("shape", {2, 2, 2})},
                            {},
                            {}}),
                 {7, 7, 8, 8, 7, 7, 8, 8}));
    QVERIFY(near(
        values_of(
            {"slice", {x}, {f64({2, 2})}, {list("starts", {0, 1}), list("sizes", {2, 2})}, {}, {}}),
        {2, 3, 5, 6}));
    QVERIFY(near(values_of({"pad",
                            {x},
                            {f64({3, 4})},
                            {list("low", {1, 0}), list("high", {0, 1}), real("value", 9)},
                            {},
                            {}}),
                 {9, 9, 9, 9, 1, 2, 3, 9, 4, 5, 6, 9}));
    QVERIFY(near(
        values_of(
            {"concat", {x, reals({2, 1}, {7, 8})}, {f64({2, 4})}, {integer("dim", 1)}, {}, {}}),
        {1, 2, 3, 7, 4, 5, 6, 8}));
    QVERIFY(
        near(values_of({"constant", {}, {f64({2})}, {real("value", 2.5)}, {}, {}}), {2.5, 2.5}));
}

void ReferenceKernels::reductions_give_hand_made_values() {
    const Tensor x = reals({2, 3}, {1, -2, 3, 4, 5, -6});
    QVERIFY(
        near(values_of({"reduce_sum", {x}, {f64({3})}, {list("dims", {0})}, {}, {}}), {5, 3, -3}));
    QVERIFY(near(
        values_of({"reduce_sum", {x}, {f64({2, 1})}, {list("dims", {1}), flag("keep")}, {}, {}}),
        {2, 3}));
    QVERIFY(near(values_of({"reduce_max", {x}, {f64({2})}, {list("dims", {1})}, {}, {}}), {3, 5}));
    QVERIFY(near(values_of({"sum_squares", {x}, {f64({})}, {}, {}, {}}), {91}));
    QVERIFY(near(
        values_of(
            {"argmax", {reals({2, 3}, {1, 4, 4, 0, -1, 0})}, {type_of(WEFT_I32, {2})}, {}, {}, {}}),
        {1, 0}));
}

void ReferenceKernels::matmul_honours_transposition_batches_and_bias() {
    const Tensor x = reals({2, 3}, {1, 2, 3, 4, 5, 6});
    const Tensor turned = reals({3, 2}, {1, 4, 2, 5, 3, 6});
    const Tensor y = reals({3, 2}, {1, 0, 0, 1, 2, -1});
    const Tensor y_turned = reals({2, 3}, {1, 0, 2, 0, 1, -1});
    const std::vector<double> product = {7, -1, 16, -1};
    for (const bool tx : {false, true}) {
        for (const bool ty : {false, true}) {
            QVERIFY(near(values_of({"matmul",
                                    {tx ? turned : x, ty ? y_turned : y},
                                    {f64({2, 2})},
                                    {flag("transpose_x", tx), flag("transpose_y", ty)},
                                    {},
                                    {}}),
                         product));
        }
    }
    QVERIFY(near(values_of({"matmul",
                            {reals({2, 1, 2}, {1, 2, 3, 4}), reals({2, 2, 1}, {1, 1, 2, 3})},
                            {f64({2, 1, 1})},
                            {},
                            {},
                            {}}),
                 {3, 18}));
    QVERIFY(near(values_of({"linear", {x, y, reals({2}, {10, 20})}, {f64({2, 2})}, {}, {}, {}}),
                 {17, 19, 26, 19}));
    QVERIFY(near(values_of({"embedding", {y, whole({2}, {2, 0})}, {f64({2, 2})}, {}, {}, {}}),
                 {2, -1, 1, 0}));
}

void ReferenceKernels::narrow_results_are_f64_results_rounded_once() {
    // Half a unit of 8 and of 11 bits of mantissa.
    for (const auto& [dtype, half] : {std::pair(WEFT_BF16, 0x1.01p-8), {WEFT_F16, 0x1.01p-11}}) {
        const Tensor x = noise(dtype, {64}, 1, -4, 4);
        Tensor wide(type_of(WEFT_F64, {64}));
        for (std::int64_t i = 0; i < 64; ++i) {
            wide.set(i, x.get(i));
        }
        const auto brief = values_of({"silu", {x}, {type_of(dtype, {64})}, {}, {}, {}});
        const auto exact = values_of({"silu", {wide}, {f64({64})}, {}, {}, {}});
        for (std::size_t i = 0; i < 64; ++i) {
            QVERIFY(std::fabs(brief.at(i) - exact.at(i)) <= std::fabs(exact.at(i)) * half);
        }
    }
}

void ReferenceKernels::padding_is_finite_in_f16() {
    const auto padded = [](double value) {
        return values_of({"mask",
                          {tensor(WEFT_F16, {2}, {1.0, 2.0}), integers({1}, {0})},
                          {type_of(WEFT_F16, {2})},
                          {integer("dim", 0), integer("extent", 1), real("value", value)},
                          {},
                          {}});
    };
    QVERIFY(near(padded(-1e30), {1.0, -65504.0}, 0.0)); // IEEE 754: (2 - 2^-10) 2^15
    QVERIFY(near(padded(-0.5), {1.0, -0.5}, 0.0));
    QVERIFY(std::isinf(padded(-HUGE_VAL).at(1)));
}

WEFT_TEST(ReferenceKernels)
#include "reference_test.moc"
