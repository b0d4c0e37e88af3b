// SPDX-License-Identifier: Apache-2.0
// Heads in pieces, of real models: the numbers of the whole but for the order of sums, in less
// memory. What the pass writes stands in tests/golden/chunk_head.txt.
#include "core/exec/executor.h"
#include "core/ops/verify.h"
#include "core/passes/chunk_head.h"
#include "core/passes/simplify.h"
#include "tests/support/run_programs.h"
#include "tests/support/weft_test.h"

#include <cmath>
#include <cstring>

using namespace weft;
using namespace weft::test;

namespace {

const std::vector<const weft_backend*> kHeadBackends{weft_cpu_backend(), weft_reference_backend()};
constexpr passes::ChunkOptions kFourRows{.bytes = 0, .rows = 4};
constexpr passes::ChunkOptions kWhole{.bytes = std::int64_t{1} << 60, .rows = 1};

struct HeadCase {
    const char* name;
    compile::RunConfig config;
    data::SampleInfo sample;
};

std::string head_document(const std::string& model, const std::string& data,
                          const std::string& loss) {
    return R"({"data": {"train": )" + data + R"(}, "seed": 3, "model": )" + model +
           R"(, "loss": )" + loss + R"(, "metrics": ["accuracy"],
            "optimizer": {"type": "sgd", "momentum": 0.9, "learning_rate": 0.1},
            "training": {"global_batch_size": 16, "micro_batch_size": 8, "precision": "f32"}})";
}

const std::string kNumbers = R"({"type": "synthetic", "kind": "classification"})";
const std::string kWords = R"({"type": "text", "path": "unused"})";
const std::string kUnsmoothed = R"({"type": "cross_entropy"})";
const std::string kSmoothed = R"({"type": "cross_entropy", "label_smoothing": 0.1})";

// With the bias of an mlp, the table that a gpt's head shares with its embedding, and a head of a
// llama's own; two microsteps and one.
std::vector<HeadCase> models_with_heads() {
    std::vector<HeadCase> out;
    for (const int batch : {16, 8}) {
        const std::string size = "training.global_batch_size=" + std::to_string(batch);
        const auto config = [&](const std::string& text) { return checked_config(text, {size}); };
        out.push_back({"mlp",
                       config(head_document(R"({"type": "mlp", "hidden": [24], "dropout": 0.0})",
                                            kNumbers, kSmoothed)),
                       features_sample(20, 5)});
        out.push_back(
            {"gpt",
             config(head_document(R"({"type": "gpt2", "layers": 2, "width": 16, "heads": 2,
                                           "context": 8, "dropout": 0.0})",
                                  kWords, kUnsmoothed)),
             text_sample(8, 11)});
        out.push_back(
            {"llama",
             config(head_document(R"({"type": "llama", "layers": 2, "width": 16, "heads": 2,
                                           "context": 8})",
                                  kWords, kSmoothed)),
             text_sample(8, 11)});
    }
    return out;
}

plan::ExecutionPlan planned_head(const HeadCase& made, const passes::ChunkOptions& chunks) {
    compile::PipelineOptions options;
    options.backends = kHeadBackends;
    options.threads = 1;
    options.chunks = chunks;
    return compile::compile_run(made.config, made.sample, options, compile::Scope::run, {});
}

void write_port(exec::Executor& executor, std::string_view program, const plan::PlannedPort& port,
                std::int64_t classes) {
    const std::span<std::byte> to = executor.argument(program, port.name);
    const auto put = [&](const auto& numbers) {
        WEFT_CHECK(numbers.size() * sizeof numbers[0] == to.size(), "numbers of the port's size");
        std::memcpy(to.data(), numbers.data(), to.size());
    };
    const std::int64_t count = port.operand.type.shape.elements();
    if (port.name == "random") {
        put(std::vector<std::int64_t>{3, 1, 0});
    } else if (port.operand.type.dtype == ir::DType::i64) {
        put(std::vector<std::int64_t>(static_cast<std::size_t>(count), 1));
    } else if (port.operand.type.dtype == ir::DType::i32) {
        std::vector<std::int32_t> numbers;
        for (std::int64_t i = 0; i < count; ++i) { // every ninth target is ignored
            numbers.push_back(port.name == "targets" && i % 9 == 8
                                  ? -1
                                  : static_cast<std::int32_t>(i * 7 % classes));
        }
        put(numbers);
    } else if (port.name == "inputs") {
        put(wave(count, 0.3));
    } else {
        const float value = port.name == "learning_rate" ? 0.1F
                            : port.name == "weights"     ? 1.0F
                                                         : 1.0F / 16;
        put(std::vector<float>(static_cast<std::size_t>(count), value));
    }
}

std::vector<float> floats_in(std::span<const std::byte> bytes) {
    std::vector<float> out(bytes.size() / sizeof(float));
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
}

/// Loss and metrics of two updates and an evaluation, and the weights behind them.
std::vector<float> trained_head(const HeadCase& made, const passes::ChunkOptions& chunks) {
    auto plan = std::make_shared<const plan::ExecutionPlan>(planned_head(made, chunks));
    exec::Executor executor(plan, kHeadBackends, {.threads = 1});
    const std::int64_t random[3] = {3, 0, 0};
    std::memcpy(executor.argument("init", "random").data(), random, sizeof random);
    executor.run("init");
    std::vector<float> out;
    const auto run = [&](const char* program) {
        for (const plan::PlannedPort& port : plan->find(program)->arguments) {
            if (port.role != ir::Role::state) {
                write_port(executor, program, port, made.sample.classes);
            }
        }
        executor.run(program);
        for (const plan::PlannedPort& port : plan->find(program)->results) {
            if (port.role == ir::Role::output && port.operand.type.dtype == ir::DType::f32) {
                const auto values = floats_in(executor.read(program, port.name));
                out.insert(out.end(), values.begin(), values.end());
            }
        }
    };
    run("train_step");
    run("train_step");
    run("evaluate");
    for (const plan::StateSlot& slot : plan->state_slots) {
        if (slot.whole.dtype == ir::DType::f32) {
            const auto values = floats_in(executor.slot(slot.name));
            out.insert(out.end(), values.begin(), values.end());
        }
    }
    return out;
}

int inner_loops(const ir::Block& block) {
    int count = 0;
    ir::walk(block,
             [&](const ir::Op& op) { count += op.is_loop() && op.path != "microstep" ? 1 : 0; });
    return count;
}

std::int64_t head_activations(const plan::ExecutionPlan& plan, std::string_view program) {
    return plan::bytes_by_category(
        plan, *plan.find(program))[static_cast<std::size_t>(plan::Category::activations)];
}

} // namespace

class ChunkHeadTest : public QObject {
    Q_OBJECT

private slots:
    void training_and_evaluation_give_the_numbers_of_the_whole() {
        for (const HeadCase& made : models_with_heads()) {
            const std::vector<float> whole = trained_head(made, kWhole);
            const std::vector<float> pieces = trained_head(made, kFourRows);
            QCOMPARE(pieces.size(), whole.size());
            for (std::size_t i = 0; i < whole.size(); ++i) {
                QVERIFY2(std::abs(pieces[i] - whole[i]) <=
                             2e-6F * std::max(1.0F, std::abs(whole[i])),
                         qPrintable(QString("%1, number %2: %3 for %4")
                                        .arg(made.name)
                                        .arg(i)
                                        .arg(static_cast<double>(pieces[i]))
                                        .arg(static_cast<double>(whole[i]))));
            }
        }
    }

    void every_head_is_found_in_training_and_in_evaluation() {
        for (const HeadCase& made : models_with_heads()) {
            for (const auto scope : {"train_step", "evaluate"}) {
                auto set = compile::build_programs(made.config, made.sample, compile::Scope::run);
                for (ir::Program& program : set.programs) {
                    if (program.name == scope) {
                        passes::simplify(program);
                        const int before = inner_loops(program.body);
                        passes::chunk_head(program, kFourRows);
                        QVERIFY2(ops::verify(program).empty(), made.name);
                        QCOMPARE(inner_loops(program.body) - before, 1);
                    }
                }
            }
        }
    }

    void a_vocabulary_of_some_size_takes_the_memory_of_a_piece() {
        const HeadCase made = {
            "gpt",
            checked_config(head_document(R"({"type": "gpt2", "layers": 1, "width": 16, "heads": 2,
                                        "context": 64, "dropout": 0.0})",
                                         kWords, kUnsmoothed),
                           {"training.precision=bf16"}),
            text_sample(64, 4096)};
        const std::int64_t rows = std::int64_t{8} * 64;
        const std::int64_t logits = rows * 4096 * 2; // bf16; their gradient lies over them
        const passes::ChunkOptions eighths{.bytes = 0, .rows = rows / 8};
        const std::int64_t whole = head_activations(planned_head(made, kWhole), "train_step");
        const std::int64_t pieces = head_activations(planned_head(made, eighths), "train_step");
        QVERIFY(whole > logits && whole < logits * 3 / 2);
        QVERIFY(pieces < whole - logits * 3 / 4);
        QVERIFY(head_activations(planned_head(made, eighths), "evaluate") <
                head_activations(planned_head(made, kWhole), "evaluate") / 4);
    }

    void recompute_goes_with_it() {
        for (const HeadCase& made : models_with_heads()) {
            HeadCase again = made;
            again.config.recompute = "blocks";
            const std::vector<float> kept = trained_head(made, kFourRows);
            QVERIFY2(trained_head(again, kFourRows) == kept, made.name);
        }
    }
};

WEFT_TEST(ChunkHeadTest)
#include "chunk_head_test.moc"
