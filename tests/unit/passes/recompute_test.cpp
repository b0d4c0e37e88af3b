// SPDX-License-Identifier: Apache-2.0
// What recompute keeps and what it clones, on programs in text. Results of real models:
// tests/unit/compile/recompute_test.cpp.
#include "core/exec/interpreter.h"
#include "core/ir/text.h"
#include "core/ops/verify.h"
#include "core/passes/model_blocks.h"
#include "core/passes/recompute.h"
#include "core/passes/shorten_lifetimes.h"
#include "core/passes/simplify.h"
#include "tests/support/random_program.h"
#include "tests/support/weft_test.h"

#include <algorithm>

using namespace weft;
using passes::Recompute;

namespace {

// Two layers of 128 and more elements with dropout, a reshape on the way to the backward phase, and
// a statistic that the update reads. Layer 1 has no weights: it belongs to layer 0. Layer 2's wide
// result makes the end of the program its peak, so that the first layers' values are worth freeing.
constexpr auto kTraining = R"(program p {
  in %0 batch "x" : f32[16,8]
  in %1 state "layers.0.weight" : f32[8,32]
  in %2 state "layers.2.weight" : f32[32,64]
  in %3 scalar "random" : i64[3]
  in %4 state "running" : f32[32,32]
  %5 = matmul(%0, %1) {transpose_x=false, transpose_y=false} : f32[16,32] @ "layers.0" forward
  %6 = gelu(%5) : f32[16,32] @ "layers.1" forward
  %7 = reshape(%6) {shape=[2,8,32]} : f32[2,8,32] @ "layers.1" forward
  %8 = dropout(%7, %3) {rate=0.5, stream="layers.1"} : f32[2,8,32] @ "layers.1" forward
  %9 = reshape(%8) {shape=[16,32]} : f32[16,32] @ "layers.1" forward
  %10 = matmul(%5, %5) {transpose_x=true, transpose_y=false} : f32[32,32] @ "layers.1" forward
  %11 = matmul(%9, %2) {transpose_x=false, transpose_y=false} : f32[16,64] @ "layers.2" forward
  %12 = exp(%11) : f32[16,64] @ "layers.2" forward
  %13 = mul(%12, %11) : f32[16,64] @ "layers.2" backward
  %14 = mul(%13, %12) : f32[16,64] @ "layers.2" backward
  %15 = matmul(%14, %2) {transpose_x=false, transpose_y=true} : f32[16,32] @ "layers.2" backward
  %16 = matmul(%9, %14) {transpose_x=true, transpose_y=false} : f32[32,64] @ "layers.2" backward
  %17 = reshape(%7) {shape=[16,32]} : f32[16,32] @ "layers.1" backward
  %18 = mul(%15, %17) : f32[16,32] @ "layers.1" backward
  %19 = gelu_grad(%5, %18) : f32[16,32] @ "layers.1" backward
  %20 = matmul(%0, %19) {transpose_x=true, transpose_y=false} : f32[8,32] @ "layers.0" backward
  %21 = add(%4, %10) : f32[32,32] @ "update" update
  out %16 output "dw2"
  out %20 output "dw0"
  out %21 state "running"
}
)";

// Block 0 is wide, but for one value of 1 KiB that a product over 256 makes (128 FLOPs per byte); a
// wide one is made by a product over 64 (32 FLOPs per byte), the others by a gelu. Block 1 makes
// the end of the program its peak.
constexpr auto kNarrow = R"(program p {
  in %0 batch "x" : f32[256,64]
  in %1 state "blocks.0.up.weight" : f32[64,256]
  in %2 state "blocks.0.narrow.weight" : f32[256,16]
  in %3 state "blocks.0.out.weight" : f32[16,64]
  in %4 state "blocks.1.weight" : f32[64,512]
  %5 = matmul(%0, %1) {transpose_x=false, transpose_y=false} : f32[256,256] @ "blocks.0.up" forward
  %6 = gelu(%5) : f32[256,256] @ "blocks.0.up" forward
  %7 = matmul(%6, %2) {transpose_x=false, transpose_y=false} : f32[256,16] @ "blocks.0.narrow" forward
  %8 = gelu(%7) : f32[256,16] @ "blocks.0.narrow" forward
  %9 = matmul(%8, %3) {transpose_x=false, transpose_y=false} : f32[256,64] @ "blocks.0.out" forward
  %10 = matmul(%9, %4) {transpose_x=false, transpose_y=false} : f32[256,512] @ "blocks.1" forward
  %11 = exp(%10) : f32[256,512] @ "blocks.1" forward
  %12 = mul(%11, %10) : f32[256,512] @ "blocks.1" backward
  %13 = mul(%12, %11) : f32[256,512] @ "blocks.1" backward
  %14 = matmul(%13, %4) {transpose_x=false, transpose_y=true} : f32[256,64] @ "blocks.1" backward
  %15 = matmul(%9, %13) {transpose_x=true, transpose_y=false} : f32[64,512] @ "blocks.1" backward
  %16 = matmul(%8, %14) {transpose_x=true, transpose_y=false} : f32[16,64] @ "blocks.0.out" backward
  %17 = matmul(%14, %3) {transpose_x=false, transpose_y=true} : f32[256,16] @ "blocks.0.out" backward
  %18 = gelu_grad(%7, %17) : f32[256,16] @ "blocks.0.narrow" backward
  %19 = matmul(%6, %18) {transpose_x=true, transpose_y=false} : f32[256,16] @ "blocks.0.narrow" backward
  %20 = matmul(%18, %2) {transpose_x=false, transpose_y=true} : f32[256,256] @ "blocks.0.narrow" backward
  %21 = gelu_grad(%5, %20) : f32[256,256] @ "blocks.0.up" backward
  %22 = matmul(%0, %21) {transpose_x=true, transpose_y=false} : f32[64,256] @ "blocks.0.up" backward
  out %15 output "dw1"
  out %16 output "dwo"
  out %19 output "dwn"
  out %22 output "dwu"
}
)";

ir::Program training() {
    return ir::parse(kTraining);
}

std::vector<exec::Tensor> results_of(const ir::Program& program) {
    std::vector<exec::Tensor> arguments;
    for (const ir::Port& port : program.arguments) {
        exec::Tensor& tensor = arguments.emplace_back(program.type(port.value));
        if (tensor.type.dtype == ir::DType::f32) {
            test::fill_random(tensor.span<float>(), arguments.size());
        }
    }
    return exec::interpret(program, arguments);
}

int count(const ir::Program& program, std::string_view kind, ir::Phase phase) {
    return static_cast<int>(
        std::count_if(program.body.ops.begin(), program.body.ops.end(),
                      [&](const ir::Op& op) { return op.kind == kind && op.phase == phase; }));
}

} // namespace

class RecomputePassTest : public QObject {
    Q_OBJECT

private slots:
    void a_block_is_a_path_up_to_its_first_numbers() {
        const std::pair<const char*, const char*> rows[] = {
            {"blocks.3.mlp.up", "blocks.3"},
            {"layers.4", "layers.4"},
            {"layers.12.layers.0", "layers.12"},
            {"stages.1.2.conv", "stages.1.2"},
            {"layers.2.copies.0.layers.1", "layers.2.copies.0"},
            {"layers.2.copies.0.copies.10.x", "layers.2.copies.0.copies.10"},
            {"encoder.blocks.0.norm", "encoder.blocks.0"},
            {"0", "0"},
            {"stem.norm", "stem"},
            {"loss", "loss"},
            {"", ""}};
        for (const auto& [path, block] : rows) {
            QCOMPARE(QString::fromStdString(std::string(passes::block_of_path(path))),
                     QString(block));
        }
    }

    void layers_without_weights_belong_to_the_layer_before() {
        const ir::Program program = training();
        std::vector<bool> weights(program.values.size(), false);
        for (const ir::Port& port : program.arguments) {
            weights[static_cast<std::size_t>(port.value.index)] = port.role == ir::Role::state;
        }
        const auto numbers = passes::number_blocks(program, program.body, weights);
        QCOMPARE(numbers[0], numbers[1]);  // layers.0, layers.1
        QVERIFY(numbers[1] != numbers[6]); // layers.2
    }

    void a_program_that_does_not_train_stays_as_it_is() {
        ir::Program program = training();
        std::erase_if(program.body.ops,
                      [](const ir::Op& op) { return op.phase != ir::Phase::forward; });
        program.results = {program.results[2]};
        program.results[0].value = program.body.ops.back().outputs[0];
        program.body.results = {program.results[0].value};
        const std::string before = ir::print(program);
        passes::recompute(program, {Recompute::blocks, 0});
        QCOMPARE(QString::fromStdString(ir::print(program)), QString::fromStdString(before));
        QCOMPARE(passes::recompute_thresholds(program), std::vector<double>{0.0});
    }

    void views_are_cloned_with_what_they_look_at_and_results_stay_the_same() {
        ir::Program program = training();
        const auto before = results_of(program);
        passes::recompute(program, {Recompute::blocks, 0});
        QVERIFY(ops::verify(program).empty());
        // Layers 0 and 1: the product, the gelu and the view on it; what goes to layer 2 stays.
        QCOMPARE(count(program, "gelu", ir::Phase::backward), 1);
        QCOMPARE(count(program, "reshape", ir::Phase::backward), 2);
        QCOMPARE(count(program, "dropout", ir::Phase::backward), 0);
        const auto after = results_of(program);
        for (std::size_t i = 0; i < before.size(); ++i) {
            QVERIFY(before[i].data == after[i].data);
        }
    }

    void blocks_keep_what_is_small_and_dear_to_compute() {
        const auto clones = [](const passes::RecomputeOptions& options) {
            ir::Program program = ir::parse(kNarrow);
            const auto before = results_of(program);
            passes::recompute(program, options);
            const auto after = results_of(program);
            for (std::size_t i = 0; i < before.size(); ++i) {
                WEFT_CHECK(before[i].data == after[i].data, "recompute changes no result");
            }
            QStringList found;
            for (const ir::Op& op : program.body.ops) {
                const bool forward_product = op.kind == "matmul" &&
                                             !op.attributes.flag("transpose_x") &&
                                             !op.attributes.flag("transpose_y");
                if (op.phase == ir::Phase::backward && (op.kind == "gelu" || forward_product)) {
                    found.append(QString::fromStdString(op.kind + " " + op.path));
                }
            }
            found.sort();
            return found.join(", ");
        };
        // The wide product is dear too, but takes more than a tenth of the bytes.
        QCOMPARE(clones({Recompute::blocks, 0}),
                 QString("gelu blocks.0.narrow, gelu blocks.0.up, matmul blocks.0.up"));
        QCOMPARE(clones({Recompute::selective, 1e9}),
                 QString("gelu blocks.0.narrow, gelu blocks.0.up, matmul blocks.0.narrow, "
                         "matmul blocks.0.up"));
    }

    // The statistic is read by the update: it is made once.
    void what_the_update_reads_is_not_made_again() {
        ir::Program program = training();
        passes::recompute(program, {Recompute::blocks, 0});
        const auto statistics =
            std::count_if(program.body.ops.begin(), program.body.ops.end(), [&](const ir::Op& op) {
                return op.kind == "matmul" && op.path == "layers.1";
            });
        QCOMPARE(statistics, 1);
    }

    void clones_stay_where_they_are_and_are_not_merged_back() {
        ir::Program program = training();
        passes::recompute(program, {Recompute::blocks, 0});
        const auto gelu_at = [&] {
            const auto found = std::find_if(
                program.body.ops.begin(), program.body.ops.end(), [](const ir::Op& op) {
                    return op.kind == "gelu" && op.phase == ir::Phase::backward;
                });
            return found == program.body.ops.end() ? ir::Phase::forward : std::prev(found)->phase;
        };
        QCOMPARE(gelu_at(), ir::Phase::backward);
        passes::shorten_lifetimes(program);
        QCOMPARE(gelu_at(), ir::Phase::backward);
        QCOMPARE(count(program, "gelu", ir::Phase::backward), 1);
    }
};

WEFT_TEST(RecomputePassTest)
#include "recompute_test.moc"
