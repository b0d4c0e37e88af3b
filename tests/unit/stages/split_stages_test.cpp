// SPDX-License-Identifier: Apache-2.0
// Programs of stages, from a training step small enough to follow by eye: two linear layers, one
// weight each, with the first weight read by the second layer too.
#include "core/ir/text.h"
#include "core/ops/verify.h"
#include "core/stages/separate_sums.h"
#include "core/stages/split_stages.h"
#include "tests/support/weft_test.h"

using namespace weft;
using namespace weft::stages;
using pipeline::Schedule;

namespace {

// x [4 microbatches, 2, 3]; y = relu(x a) b + (x a) a; the gradient is not the true one, but flows
// like it.
const char* const kStep = R"(program train_step {
  in %0 state "layers.0.a" : f32[3,3]
  in %1 state "layers.1.b" : f32[3,3]
  in %2 batch "inputs" : f32[4,2,3]
  %3 = constant() {dtype="f32", shape=[3,3], value=0.0} : f32[3,3] @ "layers.0" forward
  %4 = constant() {dtype="f32", shape=[3,3], value=0.0} : f32[3,3] @ "layers.1" forward
  %5, %6 = repeat(%3, %4, %2) {carried=2, count=4, reverse=false} : f32[3,3] name("gradient/layers.0.a"), f32[3,3] name("gradient/layers.1.b") @ "microstep" forward {
    in %7 : f32[3,3]
    in %8 : f32[3,3]
    in %9 : f32[2,3]
    %10 = matmul(%9, %0) : f32[2,3] @ "layers.0" forward
    %11 = matmul(%10, %1) : f32[2,3] @ "layers.1" forward
    %12 = matmul(%11, %0) : f32[2,3] @ "layers.1" forward
    %13 = matmul(%11, %12) {transpose_x=true} : f32[3,3] @ "layers.1" backward
    %14 = matmul(%12, %1) {transpose_y=true} : f32[2,3] @ "layers.1" backward
    %15 = matmul(%10, %14) {transpose_x=true} : f32[3,3] @ "layers.1" backward
    %16 = matmul(%9, %14) {transpose_x=true} : f32[3,3] @ "layers.0" backward
    %17 = add(%16, %13) : f32[3,3] @ "layers.0" backward
    %18 = add(%7, %17) : f32[3,3] @ "layers.0" backward
    %19 = add(%8, %15) : f32[3,3] @ "layers.1" backward
    yield %18, %19
  }
  %20 = sub(%0, %5) : f32[3,3] @ "layers.0" update
  %21 = sub(%1, %6) : f32[3,3] @ "layers.1" update
  out %20 state "layers.0.a"
  out %21 state "layers.1.b"
})";

std::vector<ir::Program> split(const Schedule& schedule) {
    ir::Program program = ir::parse(kStep);
    const StageMap map(list_layers(program), {1, 1});
    separate_sums(program, map);
    return split_stages(program, map, schedule, {"pipeline", 2});
}

int count(const ir::Program& program, std::string_view kind, std::string_view cause = "") {
    int out = 0;
    for (const ir::Op& op : program.body.ops) {
        out += op.kind == kind && (cause.empty() ||
                                   op.attributes.text("cause").find(cause) != std::string::npos)
                   ? 1
                   : 0;
    }
    return out;
}

/// Most messages that a stage has posted and not got back, at any time.
int most_under_way(const ir::Program& program) {
    int now = 0;
    int most = 0;
    for (const ir::Op& op : program.body.ops) {
        now += op.kind == "send" ? 1 : op.kind == "sent" ? -1 : 0;
        most = std::max(most, now);
    }
    return most;
}

std::vector<std::string> actions_of(const ir::Program& program) {
    std::vector<std::string> out;
    for (const ir::Op& op : program.body.ops) {
        if (!op.action.empty() && (out.empty() || out.back() != op.action)) {
            out.push_back(op.action);
        }
    }
    return out;
}

} // namespace

class SplitStagesTest : public QObject {
    Q_OBJECT
private slots:
    void a_stage_runs_its_actions_in_the_order_of_the_schedule() {
        for (const Schedule& schedule :
             {pipeline::gpipe(2, 4), pipeline::one_f_one_b(2, 4), pipeline::zero_bubble_h1(2, 4)}) {
            const auto stages = split(schedule);
            QCOMPARE(stages.size(), std::size_t(2));
            for (std::size_t stage = 0; stage < 2; ++stage) {
                const auto violations = ops::verify(stages[stage]);
                QVERIFY2(violations.empty(), violations.empty() ? "" : violations[0].c_str());
                std::vector<std::string> expected;
                for (const pipeline::Action& action : schedule.stage_actions[stage]) {
                    expected.push_back(to_text(action, 1));
                }
                // The first stage sends no gradient on: all its backward is of weights.
                if (stage == 0) {
                    std::erase_if(expected, [](const auto& text) { return text[0] == 'I'; });
                }
                QCOMPARE(actions_of(stages[stage]), expected);
            }
        }
    }

    void every_slot_lies_on_the_stage_of_its_layer() {
        const auto stages = split(pipeline::one_f_one_b(2, 4));
        for (int stage = 0; stage < 2; ++stage) {
            const ir::Program& own = stages[static_cast<std::size_t>(stage)];
            for (const auto* ports : {&own.arguments, &own.results}) {
                for (const ir::Port& port : *ports) {
                    QVERIFY(port.role != ir::Role::state ||
                            port.name == (stage == 0 ? "layers.0.a" : "layers.1.b"));
                }
            }
        }
    }

    void a_weight_that_two_stages_read_travels_once_and_its_gradient_comes_back_once() {
        const auto stages = split(pipeline::one_f_one_b(2, 4));
        QCOMPARE(count(stages[0], "send", "layers.0.a"), 1);
        // One activation per microbatch there, one gradient per microbatch and one sum back.
        QCOMPARE(count(stages[0], "send"), 4 + 1);
        QCOMPARE(count(stages[1], "send"), 4 + 1);
        for (int stage = 0; stage < 2; ++stage) {
            const auto own = static_cast<std::size_t>(stage);
            QCOMPARE(count(stages[own], "receive"), count(stages[1 - own], "send"));
            QCOMPARE(count(stages[own], "sent"), count(stages[own], "send"));
        }
    }

    // Of GPipe no activation's buffer is known to be free before the first gradient comes back; of
    // 1F1B, the gradients bring the news all the time.
    void buffers_of_messages_are_free_as_soon_as_it_is_known() {
        const int microbatches = 4;
        QVERIFY(most_under_way(split(pipeline::gpipe(2, microbatches))[0]) >= microbatches);
        QVERIFY(most_under_way(split(pipeline::one_f_one_b(2, microbatches))[0]) <= 3);
        QVERIFY(most_under_way(split(pipeline::one_f_one_b(2, microbatches))[1]) <= 4);
    }

    void messages_have_a_cause_that_names_op_and_microbatch() {
        const auto stages = split(pipeline::one_f_one_b(2, 4));
        QCOMPARE(count(stages[0], "send", "matmul at layers.0, microbatch 3, for stage 1"), 1);
        QCOMPARE(count(stages[1], "send", "gradient: matmul at layers.1, microbatch 0"), 1);
    }
};

WEFT_TEST(SplitStagesTest)
#include "split_stages_test.moc"
