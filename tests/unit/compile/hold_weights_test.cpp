// SPDX-License-Identifier: Apache-2.0
// Weights that are held in the compute type for generation: the same logits bit for bit as those of
// a run that casts them for each token.
#include "core/exec/executor.h"
#include "tests/support/run_programs.h"
#include "tests/support/weft_test.h"

#include <cstring>

using namespace weft;
using namespace weft::test;

namespace {

const std::vector<const weft_backend*> kHolders{weft_cpu_backend(), weft_reference_backend()};

compile::RunConfig decoding_config(const std::string& model, const std::string& precision) {
    return checked_config(
        R"({"data": {"train": {"type": "text", "path": "unused"}}, "seed": 3, "model": )" + model +
        R"(, "training": {"global_batch_size": 4, "precision": ")" + precision + "\"}}");
}

const std::string kHeldGpt =
    R"({"type": "gpt2", "layers": 2, "width": 32, "heads": 2, "context": 16})";
const std::string kHeldLlama =
    R"({"type": "llama", "layers": 2, "width": 32, "heads": 2, "context": 16})";
const std::string kHeldMixture = R"({"type": "gpt2", "layers": 2, "width": 32, "heads": 2,
                                 "context": 16, "experts": 4})";

class DecodingModel {
public:
    DecodingModel(const compile::RunConfig& config, compile::Scope scope)
        : plan_(std::make_shared<const plan::ExecutionPlan>(
              compile::compile_run(config, text_sample(16, 53), options(), scope))),
          executor_(plan_, kHolders, {.threads = 1}) {
        const std::int64_t random[3] = {3, 0, 0};
        std::memcpy(executor_.argument("init", "random").data(), random, sizeof random);
        executor_.run("init");
    }

    void take_weights(DecodingModel& from) {
        for (const plan::StateSlot& slot : plan_->state_slots) {
            if (from.plan_->find_slot(slot.name) != nullptr) {
                executor_.write_slot(slot.name, from.executor_.read_slot(slot.name));
            }
        }
    }

    /// Logits after each of some tokens.
    std::vector<std::byte> logits() {
        std::vector<std::byte> out;
        for (std::int64_t position = 0; position < 5; ++position) {
            const auto token = static_cast<std::int32_t>(position * 11 % 53);
            std::memcpy(executor_.argument("decode", "tokens").data(), &token, sizeof token);
            std::memcpy(executor_.argument("decode", "position").data(), &position,
                        sizeof position);
            executor_.run("decode");
            const auto bytes = executor_.read("decode", "logits");
            out.insert(out.end(), bytes.begin(), bytes.end());
        }
        return out;
    }

    void hold() { executor_.run(compile::kHoldProgram); }
    const plan::ExecutionPlan& plan() const { return *plan_; }

private:
    static compile::PipelineOptions options() {
        compile::PipelineOptions out;
        out.backends = kHolders;
        out.threads = 1;
        return out;
    }

    std::shared_ptr<const plan::ExecutionPlan> plan_;
    exec::Executor executor_;
};

} // namespace

class HoldWeightsTest : public QObject {
    Q_OBJECT

private slots:
    void logits_are_those_of_weights_that_are_cast_each_time_data() {
        QTest::addColumn<QString>("model");
        QTest::newRow("gpt") << QString::fromStdString(kHeldGpt);
        QTest::newRow("llama") << QString::fromStdString(kHeldLlama);
        QTest::newRow("mixture of experts") << QString::fromStdString(kHeldMixture);
    }
    void logits_are_those_of_weights_that_are_cast_each_time() {
        QFETCH(QString, model);
        const auto config = decoding_config(model.toStdString(), "bf16");
        DecodingModel trained(config, compile::Scope::run);
        DecodingModel used(config, compile::Scope::use);
        used.take_weights(trained);
        used.hold();
        QVERIFY(used.logits() == trained.logits());
    }

    // Of the table only the rows of tokens are read in f32, and of positions.
    void decode_reads_no_other_matrix_in_f32() {
        const DecodingModel used(decoding_config(kHeldGpt, "bf16"), compile::Scope::use);
        QStringList wide;
        int narrow = 0;
        for (const plan::PlannedPort& port : used.plan().find("decode")->arguments) {
            if (port.role == ir::Role::state && port.whole.shape.rank() >= 2) {
                const bool brief = port.whole.dtype == ir::DType::bf16;
                narrow += brief ? 1 : 0;
                wide += brief ? QStringList() : QStringList(QString::fromStdString(port.name));
            }
        }
        QCOMPARE(wide, QStringList({"wte.weight", "wpe.weight"}));
        QCOMPARE(narrow, 2 * (4 + 2) + 1); // weights and caches of each block, and the head
    }

    void runs_and_f32_hold_nothing_twice() {
        QVERIFY(DecodingModel(decoding_config(kHeldGpt, "f32"), compile::Scope::use)
                    .plan()
                    .find(compile::kHoldProgram) == nullptr);
        QVERIFY(DecodingModel(decoding_config(kHeldGpt, "bf16"), compile::Scope::run)
                    .plan()
                    .find(compile::kHoldProgram) == nullptr);
    }
};

WEFT_TEST(HoldWeightsTest)
#include "hold_weights_test.moc"
