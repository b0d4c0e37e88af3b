// SPDX-License-Identifier: Apache-2.0
// Text is what the model says of all tokens so far, however the prompt was read.
#include "core/compile/config/run_config.h"
#include "core/train/compute.h"
#include "core/train/engine.h"
#include "core/train/generate.h"
#include "core/train/planning.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <cstring>

namespace {

using namespace weft;

constexpr std::int64_t kContext = 64;
constexpr const char* kRun = R"({"schema_version": 1, "name": "text",
  "data": {"train": {"type": "synthetic", "kind": "tokens", "vocab": 61, "samples": 8}, "validation": null},
  "model": {"type": "gpt2", "layers": 2, "width": 32, "heads": 2, "context": 64, "dropout": 0.0, "tied": false},
  "loss": {"type": "cross_entropy"}, "optimizer": {"type": "sgd", "learning_rate": 0.1},
  "training": {"length": {"steps": 1}, "global_batch_size": 1}})";

/// The most probable token after `tokens`, by the whole context at once.
std::int32_t greedy(exec::Executor& executor, const std::vector<std::int32_t>& tokens) {
    std::vector<std::int32_t> padded(kContext, 0);
    std::copy(tokens.begin(), tokens.end(), padded.begin());
    const std::int64_t position = 0;
    executor.write("prefill", "tokens", std::as_bytes(std::span(padded)));
    executor.write("prefill", "position", std::as_bytes(std::span(&position, 1)));
    executor.run("prefill");
    const std::span<const std::byte> bytes = executor.read("prefill", "logits");
    std::vector<float> logits(bytes.size() / sizeof(float));
    std::memcpy(logits.data(), bytes.data(), bytes.size());
    const auto width = static_cast<std::ptrdiff_t>(logits.size()) / kContext;
    const auto row = logits.begin() + (static_cast<std::ptrdiff_t>(tokens.size()) - 1) * width;
    return static_cast<std::int32_t>(std::max_element(row, row + width) - row);
}

/// Start values are so small that each position says nearly the same whatever stands before it.
void enlarge_weights(exec::Executor& executor) {
    for (const plan::StateSlot& slot : executor.plan().state_slots) {
        if (slot.category == plan::Category::parameters) {
            const std::vector<std::byte> bytes = executor.read_slot(slot.name);
            std::vector<float> values(bytes.size() / sizeof(float));
            std::memcpy(values.data(), bytes.data(), bytes.size());
            for (float& value : values) {
                value *= 10;
            }
            executor.write_slot(slot.name, std::as_bytes(std::span(values)));
        }
    }
}

class GenerateTest : public QObject {
    Q_OBJECT
private slots:
    // Two tokens are read one by one, five at once.
    void prompts_of_any_length_go_on_as_the_model_says_data() {
        QTest::addColumn<int>("length");
        for (const int length : {1, 2, 5, 60}) {
            QTest::addRow("%d tokens", length) << length;
        }
    }
    void prompts_of_any_length_go_on_as_the_model_says() {
        QFETCH(int, length);
        const compile::CheckedRun checked = compile::read_run_config(config::json_of(kRun), ".");
        QVERIFY(checked.ok());
        const auto plan = train::shared_plan(checked.config, {});
        // Two, since a prefill would leave a cache that is right already.
        exec::Executor whole(plan, train::compute_of(checked.config));
        exec::Executor writer(plan, train::compute_of(checked.config));
        for (exec::Executor* executor : {&whole, &writer}) {
            train::initialise(*executor, checked.config);
            enlarge_weights(*executor);
        }
        for (int first = 0; first < 61; ++first) {
            std::vector<std::int32_t> tokens{first};
            while (static_cast<int>(tokens.size()) < length) {
                tokens.push_back((7 * tokens.back() + 3) % 61);
            }
            const std::vector<std::int32_t> prompt = tokens;
            std::vector<std::int32_t> wanted;
            for (int i = 0; i < 4; ++i) {
                wanted.push_back(greedy(whole, tokens));
                tokens.push_back(wanted.back());
            }
            std::vector<std::int32_t> got;
            train::GenerateOptions options;
            options.tokens = 4;
            options.temperature = 0;
            train::generate(writer, prompt, options, [&](std::int32_t token) {
                got.push_back(token);
                return true;
            });
            QCOMPARE(got, wanted);
        }
    }
};

} // namespace

WEFT_TEST(GenerateTest)
#include "generate_test.moc"
