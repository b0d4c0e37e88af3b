// SPDX-License-Identifier: Apache-2.0
// Recompute of real models: the same numbers bit for bit, on the interpreter and on planned memory;
// less memory; nothing computed again in vain; "auto" meets its budget with no more than it needs.
#include "core/advise/alternatives.h"
#include "core/base/error.h"
#include "core/exec/executor.h"
#include "core/ops/verify.h"
#include "core/passes/apply_precision.h"
#include "core/passes/fuse_elementwise.h"
#include "core/passes/shorten_lifetimes.h"
#include "core/passes/simplify.h"
#include "tests/support/run_programs.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <cstring>

using namespace weft;
using namespace weft::test;
using passes::Recompute;
using passes::RecomputeOptions;

namespace {

const std::vector<const weft_backend*> kBackends{weft_cpu_backend(), weft_reference_backend()};

struct Case {
    const char* name;
    compile::RunConfig config;
    data::SampleInfo sample;
};

std::string document(const std::string& model, const std::string& type) {
    return R"({"data": {"train": )" + type + R"(}, "seed": 3, "model": )" + model +
           R"(, "optimizer": {"type": "sgd", "momentum": 0.9, "learning_rate": 0.1},
            "training": {"global_batch_size": 16, "micro_batch_size": 8, "precision": "f32"}})";
}

const std::string kFeatures = R"({"type": "synthetic", "kind": "classification"})";
const std::string kText = R"({"type": "text", "path": "unused"})";
const std::string kImages = R"({"type": "idx", "path": "unused"})";

const std::string kDeepMlp = R"({"type": "mlp", "hidden": [24, 24, 24], "dropout": 0.3})";
const std::string kDeepGpt = R"({"type": "gpt2", "layers": 3, "width": 16, "heads": 2, "context": 8,
                             "dropout": 0.2})";
const std::string kCnn = R"({"type": "sequential", "layers": [
    {"type": "conv2d", "channels": 8}, {"type": "batch_norm"}, {"type": "relu"},
    {"type": "conv2d", "channels": 8}, {"type": "batch_norm"}, {"type": "relu"},
    {"type": "max_pool"}, {"type": "dropout", "rate": 0.2},
    {"type": "residual", "layers": [{"type": "conv2d", "channels": 8}, {"type": "batch_norm"},
                                    {"type": "silu"}]},
    {"type": "flatten"}, {"type": "linear", "units": 5}]})";

std::vector<Case> cases() {
    const auto images = sample_of({ir::DType::f32, {8, 8, 1}}, {ir::DType::i32, {}}, 5);
    std::vector<Case> out;
    for (const char* precision : {"f32", "bf16"}) {
        // Two microsteps are a loop; one is the program's body itself.
        for (const int microsteps : {2, 1}) {
            const auto config = [&](const std::string& text, int batch) {
                return checked_config(
                    text, {std::string("training.precision=") + precision,
                           "training.global_batch_size=" + std::to_string(batch),
                           "training.micro_batch_size=" + std::to_string(batch / microsteps)});
            };
            // So many samples that activations count for more than weights.
            out.push_back(
                {"mlp", config(document(kDeepMlp, kFeatures), 128), features_sample(20, 5)});
            out.push_back({"cnn", config(document(kCnn, kImages), 16), images});
            out.push_back({"gpt", config(document(kDeepGpt, kText), 16), text_sample(8, 11)});
        }
    }
    return out;
}

/// For plans: so many samples that activations count for more than anything else.
Case gpt() {
    return {"gpt",
            checked_config(document(kDeepGpt, kText),
                           {"training.global_batch_size=128", "training.micro_batch_size=64"}),
            text_sample(8, 11)};
}

/// What the host writes into an argument of the training step.
exec::Tensor batch_argument(const ir::Port& port, const ir::Type& type, std::int64_t classes) {
    const std::int64_t count = type.shape.elements();
    if (port.name == "random") {
        return i64({3}, {3, 1, 16});
    }
    if (type.dtype == ir::DType::i64) {
        return i64(type.shape, {1});
    }
    if (type.dtype == ir::DType::i32) {
        std::vector<std::int32_t> numbers;
        for (std::int64_t i = 0; i < count; ++i) {
            numbers.push_back(static_cast<std::int32_t>(i * 7 % classes));
        }
        return i32(type.shape, numbers);
    }
    const float scalar = port.name == "learning_rate" ? 0.1F : 1.0F / 16;
    const std::vector<float> same(static_cast<std::size_t>(count),
                                  port.name == "weights" ? 1.0F : scalar);
    return f32(type.shape, port.name == "inputs" ? wave(count, 0.3) : same);
}

/// The training step as the pipeline hands it to recompute.
ir::Program prepared(const Case& made) {
    auto set = compile::build_programs(made.config, made.sample, compile::Scope::step);
    ir::Program program = std::move(set.programs.front());
    passes::simplify(program);
    passes::apply_precision(program, made.config.compute_dtype());
    passes::simplify(program);
    return program;
}

std::vector<RecomputeOptions> every_choice(const ir::Program& program) {
    std::vector<RecomputeOptions> out = {{Recompute::blocks, 0}};
    const auto thresholds = passes::recompute_thresholds(program);
    for (const std::size_t part : {1U, 2U, 4U}) {
        out.push_back({Recompute::selective, thresholds[(thresholds.size() - 1) * part / 4]});
    }
    return out;
}

int count_ops(const ir::Block& block, std::string_view kind) {
    int count = 0;
    for (const ir::Op& op : block.ops) {
        count += kind.empty() || op.kind == kind ? 1 : 0;
        for (const ir::Block& body : op.body) {
            count += count_ops(body, kind);
        }
    }
    return count;
}

int count_ops(const ir::Program& program, std::string_view kind = {}) {
    return count_ops(program.body, kind);
}

int products(const ir::Program& program) {
    return count_ops(program, "matmul") + count_ops(program, "linear");
}

std::vector<exec::Tensor> interpreted(const ir::Program& program, const Arrays& state,
                                      std::int64_t classes) {
    std::vector<exec::Tensor> arguments;
    for (const ir::Port& port : program.arguments) {
        arguments.push_back(port.role == ir::Role::state
                                ? state.at(port.name)
                                : batch_argument(port, program.type(port.value), classes));
    }
    return exec::interpret(program, arguments);
}

plan::ExecutionPlan planned(const Case& made, std::optional<std::int64_t> limit = {}) {
    compile::PipelineOptions options;
    options.backends = kBackends;
    options.threads = 1;
    return compile::compile_run(made.config, made.sample, options, compile::Scope::run, limit);
}

Case with_recompute(Case made, const char* mode, std::optional<std::int64_t> budget = {}) {
    made.config.recompute = mode;
    made.config.memory_budget = budget;
    return made;
}

/// Every state slot after two updates on planned memory.
std::vector<std::byte> trained(const Case& made) {
    auto plan = std::make_shared<const plan::ExecutionPlan>(planned(made));
    exec::Executor executor(plan, kBackends, {.threads = 1});
    const std::int64_t random[3] = {3, 0, 0};
    std::memcpy(executor.argument("init", "random").data(), random, sizeof random);
    executor.run("init");
    for (int step = 0; step < 2; ++step) {
        for (const plan::PlannedPort& port : plan->find("train_step")->arguments) {
            if (port.role != ir::Role::state) {
                const exec::Tensor value = batch_argument({{}, port.role, port.name},
                                                          port.operand.type, made.sample.classes);
                std::memcpy(executor.argument("train_step", port.name).data(), value.data.data(),
                            value.data.size());
            }
        }
        executor.run("train_step");
    }
    std::vector<std::byte> out;
    for (const plan::StateSlot& slot : plan->state_slots) {
        const std::span<const std::byte> bytes = executor.slot(slot.name);
        out.insert(out.end(), bytes.begin(), bytes.end());
    }
    return out;
}

std::int64_t activations(const plan::ExecutionPlan& plan) {
    return plan::bytes_by_category(
        plan, *plan.find("train_step"))[static_cast<std::size_t>(plan::Category::activations)];
}

} // namespace

class RecomputeTest : public QObject {
    Q_OBJECT

private slots:
    void no_choice_changes_a_bit_of_the_results() {
        for (const Case& made : cases()) {
            const Run run(made.config, made.sample);
            const ir::Program kept = prepared(made);
            const auto expected = interpreted(kept, run.state, made.sample.classes);
            for (const RecomputeOptions& options : every_choice(kept)) {
                ir::Program program = kept;
                passes::recompute(program, options);
                QVERIFY2(count_ops(program) > count_ops(kept) || options.mode != Recompute::blocks,
                         made.name);
                passes::fuse_elementwise(program);
                passes::shorten_lifetimes(program);
                const auto faults = ops::verify(program);
                QVERIFY2(faults.empty(), faults.empty() ? "" : faults.front().c_str());
                const auto results = interpreted(program, run.state, made.sample.classes);
                QCOMPARE(results.size(), expected.size());
                for (std::size_t i = 0; i < results.size(); ++i) {
                    QVERIFY2(results[i].data == expected[i].data,
                             (made.name + (" " + kept.results[i].name)).c_str());
                }
            }
        }
    }

    void planned_memory_gives_the_same_weights_bit_for_bit() {
        for (const Case& made : cases()) {
            const auto expected = trained(made);
            const std::int64_t least = activations(planned(with_recompute(made, "blocks")));
            const std::int64_t most = activations(planned(made));
            QVERIFY2(trained(with_recompute(made, "blocks")) == expected, made.name);
            QVERIFY2(least < most, made.name);
        }
    }

    void nothing_is_computed_again_that_nobody_reads() {
        for (const Case& made : cases()) {
            const ir::Program kept = prepared(made);
            for (const RecomputeOptions& options : every_choice(kept)) {
                ir::Program program = kept;
                passes::recompute(program, options);
                QVERIFY2(!passes::remove_dead_code(program), made.name);
            }
        }
    }

    // In each block before the last: qkv, attention output and up again. The product of down is not
    // needed, since the block's result is kept; the last block's values are kept.
    void blocks_of_gpt_can_run_all_but_their_last_product_again() {
        const ir::Program kept = prepared(gpt());
        ir::Program program = kept;
        passes::recompute(program,
                          {Recompute::selective, passes::recompute_thresholds(kept).back()});
        QCOMPARE(products(program) - products(kept), 3 * 2);
        QCOMPARE(count_ops(program, "attention") - count_ops(kept, "attention"), 2);
        QCOMPARE(count_ops(program, "embedding"), count_ops(kept, "embedding"));
    }

    // A batch norm runs again with its convolution, but not what moves the running statistics.
    void statistics_move_once() {
        const Case made = {"cnn", checked_config(document(kCnn, kImages)),
                           sample_of({ir::DType::f32, {8, 8, 1}}, {ir::DType::i32, {}}, 5)};
        const ir::Program kept = prepared(made);
        ir::Program program = kept;
        passes::recompute(program,
                          {Recompute::selective, passes::recompute_thresholds(kept).back()});
        QVERIFY(count_ops(program, "batch_norm") > count_ops(kept, "batch_norm"));
        QCOMPARE(count_ops(program, "div"), count_ops(kept, "div")); // the unbiased estimate
    }

    void the_last_threshold_keeps_no_more_than_blocks_and_the_first_everything() {
        for (const Case& made : cases()) {
            const ir::Program kept = prepared(made);
            const auto thresholds = passes::recompute_thresholds(kept);
            QVERIFY(std::is_sorted(thresholds.begin(), thresholds.end()));
            ir::Program first = kept;
            passes::recompute(first, {Recompute::selective, thresholds.front()});
            QCOMPARE(count_ops(first), count_ops(kept));
            ir::Program last = kept;
            passes::recompute(last, {Recompute::selective, thresholds.back()});
            ir::Program blocks = kept;
            passes::recompute(blocks, {Recompute::blocks, 0});
            QVERIFY2(count_ops(last) >= count_ops(blocks), made.name);
            QVERIFY2(count_ops(blocks) > count_ops(kept), made.name);
        }
    }

    // The size of a first language model: what `blocks` promises of memory. Its speed is in the
    // README of core/passes.
    void blocks_of_a_gpt_of_six_layers_keep_a_third_of_the_activations() {
        const auto activations_of = [](const char* recompute, const char* precision) {
            const Case made = {
                "gpt-6x384",
                checked_config(document(R"({"type": "gpt2", "layers": 6, "width": 384, "heads": 6,
                                            "context": 256, "dropout": 0.2})",
                                        kText),
                               {"training.global_batch_size=64", "training.micro_batch_size=16",
                                std::string("training.recompute=") + recompute,
                                std::string("training.precision=") + precision}),
                text_sample(256, 256)};
            return static_cast<double>(activations(planned(made)));
        };
        const double none = activations_of("none", "f32");
        QVERIFY(activations_of("blocks", "f32") <= 0.35 * none);
        QVERIFY(activations_of("blocks", "bf16") <= 0.20 * none);
    }

    void activations_fall() {
        const plan::ExecutionPlan none = planned(gpt());
        const plan::ExecutionPlan blocks = planned(with_recompute(gpt(), "blocks"));
        // Of three blocks two keep only what they hand on.
        QVERIFY(activations(blocks) < activations(none) * 2 / 3);
        QVERIFY(blocks.flops_per_step > none.flops_per_step);
        QVERIFY(blocks.flops_per_step < none.flops_per_step * 4 / 3); // a replay of forward
        QCOMPARE(blocks.model_flops_per_step, none.model_flops_per_step);
    }

    void auto_meets_any_budget_between_the_ends_with_less_work_than_blocks() {
        const plan::ExecutionPlan none = planned(gpt());
        const plan::ExecutionPlan blocks = planned(with_recompute(gpt(), "blocks"));
        const std::int64_t least = blocks.device_bytes();
        const std::int64_t most = none.device_bytes();
        for (int part = 0; part <= 4; ++part) {
            const std::int64_t budget = least + (most - least) * part / 4;
            const plan::ExecutionPlan plan = planned(with_recompute(gpt(), "auto", budget));
            QVERIFY(plan.device_bytes() <= budget);
            QVERIFY(plan.flops_per_step < blocks.flops_per_step || part == 0);
            QCOMPARE(plan.flops_per_step == none.flops_per_step, part == 4);
            QVERIFY(!plan.assumptions.empty());
        }
    }

    void auto_without_a_budget_keeps_to_the_machine() {
        const plan::ExecutionPlan none = planned(gpt());
        const std::int64_t limit = none.device_bytes() - 1;
        QVERIFY(planned(with_recompute(gpt(), "auto"), limit).device_bytes() <= limit);
        // The lower of the two counts.
        QVERIFY(planned(with_recompute(gpt(), "auto", none.device_bytes()), limit).device_bytes() <=
                limit);
    }

    // The caller judges the plan; see tests/e2e/recompute_test.cpp for the refusal.
    void a_budget_that_cannot_be_met_gives_the_least() {
        const std::int64_t blocks = planned(with_recompute(gpt(), "blocks")).device_bytes();
        const plan::ExecutionPlan plan = planned(with_recompute(gpt(), "auto", blocks / 2));
        // Nothing is kept within a block, not even what is dear.
        QVERIFY(plan.device_bytes() < blocks);
        QVERIFY2(plan.assumptions.back().find("least") != std::string::npos,
                 plan.assumptions.back().c_str());
    }

    void the_curve_leads_from_none_to_blocks_with_less_memory_at_each_point() {
        const Case made = gpt();
        const advise::Planner planner = [&](const compile::RunConfig& config) {
            return planned({made.name, config, made.sample});
        };
        const auto curve = advise::recompute_curve(made.config, planner, {});
        QVERIFY(curve.size() > 3 && curve.size() <= 8);
        QCOMPARE(curve.front().change, std::string("recompute none"));
        QCOMPARE(curve.back().change, std::string("recompute blocks"));
        for (std::size_t i = 1; i < curve.size(); ++i) {
            QVERIFY(curve[i].peak_bytes < curve[i - 1].peak_bytes);
            // What --set makes of it is that point.
            const auto changed = compile::with_overrides(made.config, curve[i].overrides);
            QVERIFY(changed.has_value());
            QCOMPARE(planner(*changed).device_bytes(), curve[i].peak_bytes);
        }
        std::stop_source source;
        source.request_stop();
        QVERIFY_THROWS_EXCEPTION(Error,
                                 advise::recompute_curve(made.config, planner, source.get_token()));
    }
};

WEFT_TEST(RecomputeTest)
#include "recompute_test.moc"
