// SPDX-License-Identifier: Apache-2.0
// FLOPs, products and bytes of ops against closed forms.
#include "core/ir/text.h"
#include "core/ops/op_def.h"
#include "tests/ops/op_case.h"
#include "tests/support/weft_test.h"

using namespace weft;
using namespace weft::test;

namespace {

using List = std::vector<std::int64_t>;

ops::OpCost cost_of(const char* kind, const std::vector<std::string>& operands,
                    const ir::Attributes& attributes = {}) {
    const ir::Program program = one_op_program({.kind = kind}, types_of(operands), attributes);
    return ops::cost_of({program, program.body.ops.back()});
}

} // namespace

class OpCostTest : public QObject {
    Q_OBJECT
private slots:
    void costs_of_products_are_the_textbook_ones() {
        const auto products = [](const char* kind, const std::vector<std::string>& operands,
                                 const ir::Attributes& attributes) {
            return cost_of(kind, operands, attributes).products;
        };
        QCOMPARE(products("matmul", {"f32[3,5]", "f32[5,7]"}, {}), 2.0 * 3 * 5 * 7);
        QCOMPARE(products("matmul", {"f32[2,5,3]", "f32[2,7,5]"},
                          {{"transpose_x", true}, {"transpose_y", true}}),
                 2.0 * 2 * 3 * 5 * 7);
        QCOMPARE(products("linear", {"f32[4,6,5]", "f32[5,7]"}, {}), 2.0 * 4 * 6 * 5 * 7);
        const ir::Attributes conv = {{"stride", List{2, 1}}, {"padding", List{1, 1, 1, 1}}};
        const double window_products =
            2.0 * (2 * 4 * 8 * 16) * (9 * 3); // dy elements, 3x3x3 window
        QCOMPARE(products("conv2d", {"f32[2,8,8,3]", "f32[3,3,3,16]"}, conv), window_products);
        ir::Attributes to_input = conv;
        to_input.set("shape", List{2, 8, 8, 3});
        QCOMPARE(products("conv2d_input_grad", {"f32[2,4,8,16]", "f32[3,3,3,16]"}, to_input),
                 window_products);
        ir::Attributes to_weight = conv;
        to_weight.set("kernel", List{3, 3});
        QCOMPARE(products("conv2d_weight_grad", {"f32[2,8,8,3]", "f32[2,4,8,16]"}, to_weight),
                 window_products);
    }

    // Scores and values: 2 products of 2 N H T S D, half of it under the causal mask; backward 5 of
    // them. Two query heads share a key head: that changes bytes, not products.
    void attention_costs_its_products_a_softmax_and_what_dropout_draws() {
        const std::vector<std::string> operands = {"f32[2,8,4,16]", "f32[2,8,2,16]",
                                                   "f32[2,8,2,16]"};
        const double scores = 2.0 * 4 * 8 * 8;
        const ops::OpCost whole =
            cost_of("attention", operands, {{"causal", false}, {"scale", 0.25}});
        const ops::OpCost causal =
            cost_of("attention", operands, {{"causal", true}, {"scale", 0.25}});
        QCOMPARE(whole.products, 2 * 2 * scores * 16);
        QCOMPARE(causal.products, whole.products / 2);
        QCOMPARE(causal.flops - causal.products, (whole.flops - whole.products) / 2);
        // q, out; k, v of half as many heads; logsumexp: f32 each.
        QCOMPARE(whole.bytes, 4.0 * (2 * 1024 + 2 * 512 + 2 * 4 * 8));
        std::vector<std::string> with_random = operands;
        with_random.emplace_back("i64[3]");
        const ops::OpCost dropped = cost_of(
            "attention", with_random,
            {{"causal", false}, {"scale", 0.25}, {"rate", 0.1}, {"stream", std::string("s")}});
        QCOMPARE(dropped.products, whole.products);
        QCOMPARE(dropped.flops - whole.flops, 16 * scores);
        const ops::OpCost backward = cost_of("attention_grad",
                                             {"f32[2,8,4,16]", "f32[2,8,2,16]", "f32[2,8,2,16]",
                                              "f32[2,8,4,16]", "f32[2,4,8]", "f32[2,8,4,16]"},
                                             {{"causal", false}, {"scale", 0.25}});
        QCOMPARE(backward.products, 2.5 * whole.products);
    }

    // f32 throughout: 4 bytes for every element that has to be read or written.
    void bytes_are_those_of_what_is_touched_once() {
        const auto elements = [](const char* kind, const std::vector<std::string>& operands,
                                 const ir::Attributes& attributes = {}) {
            return cost_of(kind, operands, attributes).bytes / 4;
        };
        QCOMPARE(elements("matmul", {"f32[3,5]", "f32[5,7]"}), 15.0 + 35 + 21);
        QCOMPARE(elements("add", {"f32[6,5]", "f32[5]"}), 30.0 + 5 + 30);
        QCOMPARE(elements("embedding", {"f32[1000,8]", "i32[6]"}), 48.0 + 6 + 48); // chosen rows
        QCOMPARE(elements("read_rows", {"f32[1000,8]", "i32[6]"}), 48.0 + 6 + 48);
        QCOMPARE(elements("write_rows", {"f32[1000,8]", "i32[6]", "f32[6,8]"}), 48.0 + 48);
        QCOMPARE(elements("embedding_grad", {"i32[6]", "f32[6,8]"}, {{"rows", std::int64_t{1000}}}),
                 6.0 + 48 + 8000);
        QCOMPARE(
            elements("slice", {"f32[1000,8]"}, {{"starts", List{5, 0}}, {"sizes", List{3, 8}}}),
            24.0 + 24); // not the whole of x
        QCOMPARE(elements("softmax", {"f32[6,5]"}), 60.0);
        QCOMPARE(elements("cross_entropy", {"f32[6,5]", "i32[6]"}), 30.0 + 6 + 6 + 6);
        QCOMPARE(elements("layer_norm", {"f32[6,5]", "f32[5]", "f32[5]"}, {{"eps", 1e-5}}),
                 30.0 + 5 + 5 + 30 + 6 + 6);
        // bf16 halves what is bf16.
        QCOMPARE(cost_of("matmul", {"bf16[3,5]", "bf16[5,7]"}, {{"wide", true}}).bytes,
                 2.0 * (15 + 35) + 4.0 * 21);
    }

    void an_operand_that_is_named_twice_is_read_once() {
        ir::Program program = one_op_program({.kind = "mul"}, types_of({"f32[6]", "f32[6]"}), {});
        ir::Op& square = program.body.ops.back();
        square.inputs[1] = square.inputs[0];
        QCOMPARE(ops::cost_of({program, square}).bytes, 4.0 * 12);
    }

    // Momentum in f32: parameter and moment read and written, gradient read, a scalar: 20 bytes for
    // each of 64 parameters and 4. Four operations each.
    void a_fused_sweep_moves_its_operands_once_and_computes_its_body() {
        const ir::Program program = ir::parse(R"(program p {
  in %0 state "w" : f32[64]
  in %1 state "m" : f32[64]
  in %2 batch "g" : f32[64]
  in %3 scalar "rate" : f32[]
  %16, %17 = fused(%1, %2, %3, %0) : f32[64], f32[64] @ "w" update {
    in %8 : f32[64]
    in %9 : f32[64]
    in %10 : f32[]
    in %11 : f32[64]
    %12 = affine(%8) {scale=0.9, shift=0.0} : f32[64] @ "w" update
    %13 = add(%12, %9) : f32[64] @ "w" update
    %14 = mul(%13, %10) : f32[64] @ "w" update
    %15 = add(%11, %14) : f32[64] @ "w" update
    yield %13, %15
  }
  out %17 state "w"
  out %16 state "m"
}
)");
        const ops::OpCost cost = ops::cost_of({program, program.body.ops.back()});
        QCOMPARE(cost.bytes, 20.0 * 64 + 4);
        QCOMPARE(cost.flops, 4.0 * 64);
        QCOMPARE(cost.products, 0.0);
    }

    void functions_cost_more_than_sums_and_random_numbers_too() {
        const double sums = cost_of("add", {"f32[64]", "f32[64]"}).flops;
        QCOMPARE(sums, 64.0);
        QVERIFY(cost_of("exp", {"f32[64]"}).flops >= 10 * sums);
        QVERIFY(cost_of("gelu", {"f32[64]"}).flops > cost_of("exp", {"f32[64]"}).flops);
        QCOMPARE(
            cost_of("dropout", {"f32[64]", "i64[3]"}, {{"rate", 0.5}, {"stream", std::string("s")}})
                .flops,
            16.0 * 64);
    }
};

WEFT_TEST(OpCostTest)
#include "cost_test.moc"
