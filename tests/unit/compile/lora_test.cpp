// SPDX-License-Identifier: Apache-2.0
// Low-rank adapters: what they add, what they leave alone, and what is refused.
#include "core/base/error.h"
#include "core/nn/layers/lora.h"
#include "kernels/numbers.h"
#include "tests/support/run_programs.h"
#include "tests/support/weft_test.h"

using namespace weft;
using namespace weft::test;

namespace {

constexpr std::int64_t kPositions = 6;
constexpr std::int64_t kVocab = 11;
constexpr std::int64_t kSamples = 4;

const std::string kAdaptedGpt =
    R"({"type": "gpt2", "layers": 2, "width": 8, "heads": 2, "context": 6})";
const std::string kAdaptedLlama =
    R"({"type": "llama", "layers": 2, "width": 8, "heads": 2, "kv_heads": 1, "ffn": 12,
        "context": 6})";

/// Plain gradient descent with rate 1 on what is trained: new = old - gradient.
compile::RunConfig run_of(const std::string& model,
                          const std::vector<std::string>& overrides = {}) {
    return checked_config(R"({"data": {"train": {"type": "text", "path": "unused"}}, "model": )" +
                              model + R"(,
            "optimizer": {"type": "sgd", "momentum": 0, "learning_rate": 1, "groups": []},
            "training": {"global_batch_size": 4, "max_grad_norm": null, "precision": "f32"}})",
                          overrides);
}

std::string lora(const std::string& settings) {
    return "init.lora={" + settings + "}";
}

data::SampleInfo sample() {
    return text_sample(kPositions, kVocab);
}

Arrays evaluation_batch() {
    return batch_of(sample(), {kSamples});
}

Arrays training_batch() {
    return with_scalars(batch_of(sample(), {1, kSamples}), kSamples * kPositions);
}

double loss_of(Run& run) {
    return evaluated_loss(run, evaluation_batch());
}

std::vector<plan::StateSlot> parameters_of(const Run& run) {
    std::vector<plan::StateSlot> out;
    for (const plan::StateSlot& slot : run.set().state_slots) {
        if (slot.category == plan::Category::parameters) {
            out.push_back(slot);
        }
    }
    return out;
}

/// What is refused when the programs are built.
Error refusal(const std::string& model, const std::string& override) {
    try {
        compile::build_programs(run_of(model, {override}), sample());
    } catch (const Error& error) {
        return error;
    }
    throw std::runtime_error("it was built");
}

} // namespace

class LoraTest : public QObject {
    Q_OBJECT
private slots:
    void names_lead_there_and_back() {
        QCOMPARE(nn::lora_name("blocks.0.mlp.up.weight", nn::kLoraA),
                 std::string("blocks.0.mlp.up.lora.a"));
        QCOMPARE(*nn::adapted_by("blocks.0.mlp.up.lora.b"), std::string("blocks.0.mlp.up.weight"));
        QVERIFY(!nn::adapted_by("blocks.0.mlp.up.weight"));
        QVERIFY(!nn::adapted_by("blocks.0.explora.b"));
    }

    void a_fresh_adapter_changes_nothing() {
        for (const std::string& model : {kAdaptedGpt, kAdaptedLlama}) {
            Run plain(run_of(model), sample());
            Run adapted(run_of(model, {lora(R"("rank": 2)")}), sample());
            for (const plan::StateSlot& slot : parameters_of(plain)) {
                QCOMPARE(distance(plain.state.at(slot.name), adapted.state.at(slot.name)), 0.0);
            }
            QCOMPARE(loss_of(plain), loss_of(adapted));
        }
    }

    void the_first_factor_starts_within_one_over_the_root_of_its_inputs() {
        const Run run(run_of(kAdaptedGpt, {lora(R"("rank": 4)")}), sample());
        const auto a = run.state.at("blocks.0.mlp.down.lora.a").span<float>(); // [32, 4]
        float most = 0;
        for (const float value : a) {
            most = std::max(most, std::abs(value));
        }
        const float bound = 1.0F / std::sqrt(32.0F);
        QVERIFY(most <= bound && most > 0.9F * bound); // 128 uniform draws
        for (const float value : run.state.at("blocks.0.mlp.down.lora.b").span<float>()) {
            QCOMPARE(value, 0.0F);
        }
    }

    // W + (alpha / rank) A B in place of W, in a model without adapters.
    void an_adapter_is_a_product_added_to_the_weight() {
        for (const std::string& model : {kAdaptedGpt, kAdaptedLlama}) {
            Run adapted(run_of(model, {lora(R"("rank": 2, "alpha": 6)")}), sample());
            make_curved(adapted);
            Run merged(run_of(model), sample());
            for (const plan::StateSlot& slot : parameters_of(merged)) {
                merged.state[slot.name] = adapted.state.at(slot.name);
                const auto a =
                    adapted.state.find(slot.name.substr(0, slot.name.rfind('.')) + ".lora.a");
                if (a == adapted.state.end() || !slot.name.ends_with(".weight")) {
                    continue;
                }
                const exec::Tensor& b =
                    adapted.state.at(slot.name.substr(0, slot.name.rfind('.')) + ".lora.b");
                const std::int64_t columns = slot.type.shape[1];
                const auto to = merged.state[slot.name].span<float>();
                for (std::int64_t i = 0; i < slot.type.shape.elements(); ++i) {
                    for (std::int64_t r = 0; r < 2; ++r) {
                        to[static_cast<std::size_t>(i)] +=
                            3.0F *
                            a->second.span<float>()[static_cast<std::size_t>(i / columns * 2 + r)] *
                            b.span<float>()[static_cast<std::size_t>(r * columns + i % columns)];
                    }
                }
            }
            const double difference = std::abs(loss_of(merged) - loss_of(adapted));
            QVERIFY2(difference < 2e-5, std::to_string(difference).c_str()); // f32, other order
        }
    }

    void gradients_match_finite_differences() {
        for (const std::string& model : {kAdaptedGpt, kAdaptedLlama}) {
            Run run(run_of(model, {lora(R"("rank": 2, "alpha": 3)")}), sample());
            make_curved(run);
            const Arrays start = run.state;
            run.run("train_step", training_batch());
            const Arrays after = run.state;
            for (const plan::StateSlot& slot : parameters_of(run)) {
                if (!slot.trainable) {
                    continue;
                }
                for (std::size_t i = 0; i < 4; ++i) {
                    const float value = start.at(slot.name).span<float>()[i];
                    const double gradient =
                        static_cast<double>(value - after.at(slot.name).span<float>()[i]);
                    const float nudge = 0.002F;
                    run.state = start;
                    run.state[slot.name].span<float>()[i] = value + nudge;
                    const double high = loss_of(run);
                    run.state[slot.name].span<float>()[i] = value - nudge;
                    const double low = loss_of(run);
                    const double slope = (high - low) / (2.0 * static_cast<double>(nudge));
                    // f32 losses of about 2 are good to 5e-7, over a step of 0.004; curvature gives
                    // the rest.
                    QVERIFY2(std::abs(slope - gradient) < 2e-4 + 5e-3 * std::abs(slope),
                             (slot.name + ": " + std::to_string(gradient) + " against " +
                              std::to_string(slope))
                                 .c_str());
                }
            }
        }
    }

    void the_base_stays_bitwise_and_has_no_optimizer_state() {
        Run run(run_of(kAdaptedGpt, {lora(R"("rank": 2, "dropout": 0.5)"),
                                     "optimizer={\"type\":\"adamw\"}", "training.ema_decay=0.9"}),
                sample());
        const Arrays start = run.state;
        run.run("train_step", training_batch());
        int factors = 0;
        for (const plan::StateSlot& slot : parameters_of(run)) {
            const bool factor = nn::adapted_by(slot.name).has_value();
            QCOMPARE(slot.trainable, factor);
            QCOMPARE(start.contains("optimizer.m/" + slot.name), factor);
            QCOMPARE(start.contains("ema/" + slot.name), factor);
            if (!factor) {
                QVERIFY2(start.at(slot.name).data == run.state.at(slot.name).data,
                         slot.name.c_str());
            }
            factors += factor ? 1 : 0;
        }
        QCOMPARE(factors, 2 * 4 * 2); // of two blocks' four linear layers
    }

    // Products read bf16 anyway: the rounding of the base at its start is the one of each step.
    void the_base_is_kept_in_bf16_where_products_read_that() {
        Run wide(run_of(kAdaptedGpt, {lora(R"("rank": 2)")}), sample());
        Run narrow(run_of(kAdaptedGpt, {lora(R"("rank": 2)"), "training.precision=bf16"}),
                   sample());
        for (const plan::StateSlot& slot : parameters_of(narrow)) {
            const bool low = !slot.trainable && slot.type.shape.rank() >= 2;
            QCOMPARE(slot.type.dtype, low ? ir::DType::bf16 : ir::DType::f32);
            const exec::Tensor& kept = narrow.state.at(slot.name);
            const exec::Tensor& exact = wide.state.at(slot.name);
            if (!low) {
                QVERIFY2(kept.data == exact.data, slot.name.c_str());
                continue;
            }
            const auto rounded = kept.span<kernels::bf16>();
            for (std::size_t i = 0; i < rounded.size(); ++i) {
                QCOMPARE(kernels::to_float(rounded[i]),
                         kernels::round_to_bf16(exact.span<float>()[i]));
            }
        }
        const Arrays start = narrow.state;
        const Arrays out = narrow.run("train_step", training_batch());
        QVERIFY(std::isfinite(scalar_of(out.at("loss"))));
        for (const plan::StateSlot& slot : parameters_of(narrow)) {
            QVERIFY2(slot.trainable || start.at(slot.name).data == narrow.state.at(slot.name).data,
                     slot.name.c_str());
        }
        // Without factors, or trained itself, a weight has all its digits.
        for (const char* other : {"seed=1", R"(init.trainable=["wte.*"])"}) {
            const Run run(run_of(kAdaptedGpt, {other, "training.precision=bf16"}), sample());
            for (const plan::StateSlot& slot : parameters_of(run)) {
                QCOMPARE(slot.type.dtype, ir::DType::f32);
            }
        }
    }

    void others_may_be_trained_beside_the_factors() {
        const Run run(run_of(kAdaptedGpt, {lora(R"("rank": 2)"), R"(init.trainable=["norm.*"])"}),
                      sample());
        for (const plan::StateSlot& slot : parameters_of(run)) {
            QCOMPARE(slot.trainable,
                     nn::adapted_by(slot.name).has_value() || slot.name.starts_with("norm."));
        }
    }

    // B is zero at the start: what the factors do not see, the layer still does.
    void dropout_is_on_the_way_to_the_factors_alone() {
        Run run(run_of(kAdaptedGpt, {lora(R"("rank": 2, "dropout": 0.5)"), "model.dropout=0"}),
                sample());
        const double expected = loss_of(run);
        Arrays out = run.run("train_step", training_batch());
        QVERIFY(std::abs(static_cast<double>(scalar_of(out.at("loss"))) - expected) < 1e-5);
        // Now that B is not, it shows in training, and only there.
        make_curved(run);
        const double whole = loss_of(run);
        QCOMPARE(loss_of(run), whole);
        out = run.run("train_step", training_batch());
        QVERIFY(std::abs(static_cast<double>(scalar_of(out.at("loss"))) - whole) > 1e-3);
    }

    void targets_choose_the_layers() {
        const Run run(run_of(kAdaptedLlama,
                             {lora(R"("rank": 2, "targets": ["*.query.*", "blocks.1.mlp.*"])")}),
                      sample());
        std::vector<std::string> adapted;
        for (const plan::StateSlot& slot : parameters_of(run)) {
            if (slot.name.ends_with(".lora.a")) {
                adapted.push_back(*nn::adapted_by(slot.name));
            }
        }
        const std::vector<std::string> expected = {
            "blocks.0.attention.query.weight", "blocks.1.attention.query.weight",
            "blocks.1.mlp.gate.weight", "blocks.1.mlp.up.weight", "blocks.1.mlp.down.weight"};
        QCOMPARE(adapted, expected);
    }

    void a_pattern_that_is_for_nothing_is_refused() {
        const Error error =
            refusal(kAdaptedLlama, lora(R"("rank": 2, "targets": ["*.query.*", "*q_proj*"])"));
        QCOMPARE(error.where(), std::string("/init/lora/targets"));
        QVERIFY2(error.text().find("'*q_proj*'") != std::string::npos, error.text().c_str());
        QVERIFY2(error.hint().find("blocks.*.attention.query.weight") != std::string::npos,
                 error.hint().c_str());
    }

    void a_rank_above_an_extent_is_refused() {
        const Error error = refusal(kAdaptedLlama, lora(R"("rank": 5, "targets": ["*.key.*"])"));
        QCOMPARE(error.where(), std::string("/init/lora/rank"));
        QVERIFY2(error.text().find("rank 5") != std::string::npos &&
                     error.text().find("blocks.0.attention.key.weight, which is 4") !=
                         std::string::npos,
                 error.text().c_str());
        QVERIFY2(error.hint().find("at most 4") != std::string::npos, error.hint().c_str());
    }
};

WEFT_TEST(LoraTest)
#include "lora_test.moc"
