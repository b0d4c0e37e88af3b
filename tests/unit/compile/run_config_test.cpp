// SPDX-License-Identifier: Apache-2.0
// Defaults, typed members and the comparison of configurations.
#include "core/compile/programs/programs.h"
#include "core/optim/schedule.h"
#include "tests/support/run_programs.h"
#include "tests/support/weft_test.h"

#include <map>

using namespace weft;
using namespace weft::test;
using config::Json;

namespace {

constexpr auto kMinimal = R"({"model": {"type": "mlp"}})";

std::map<std::string, compile::ChangeEffect> changes(const std::vector<std::string>& overrides) {
    std::map<std::string, compile::ChangeEffect> out;
    for (const auto& change :
         compile::compare(checked_config(kMinimal), checked_config(kMinimal, overrides))) {
        out[change.path] = change.effect;
    }
    return out;
}

} // namespace

class RunConfigTest : public QObject {
    Q_OBJECT
private slots:
    // The values of INTERFACES.md, "Run configuration".
    void defaults_are_those_of_the_published_interface() {
        const Json document = checked_config(kMinimal).document;
        const Json expected = config::json_of(R"({
          "/seed": 0, "/notes": "", "/tags": [], "/schema_version": 1,
          "/data/validation": {"split": 0.1}, "/data/test": null, "/data/transforms": [],
          "/data/tokenizer": null, "/data/shuffle": true, "/data/drop_last": false,
          "/data/cache": "auto", "/data/num_workers": 1, "/data/prefetch": 2,
          "/model/hidden": [512, 512], "/model/activation": "relu", "/model/dropout": 0.1,
          "/init": {"from": null, "strict": true, "trainable": null, "lora": null},
          "/loss": {"type": "cross_entropy", "label_smoothing": 0.0,
                    "z_loss": 0.0, "class_weights": null, "balance_classes": false},
          "/metrics": ["accuracy"],
          "/optimizer/type": "adamw", "/optimizer/learning_rate": 0.001,
          "/optimizer/betas": [0.9, 0.999], "/optimizer/eps": 1e-8, "/optimizer/weight_decay": 0.01,
          "/optimizer/weight_decay_on": "matrices", "/optimizer/groups": [],
          "/lr_schedule/type": "warmup_cosine", "/lr_schedule/warmup_steps": null,
          "/lr_schedule/start_factor": 0.0, "/lr_schedule/end_factor": 0.0,
          "/training/length": {"epochs": 5.0}, "/training/global_batch_size": 256,
          "/training/micro_batch_size": null, "/training/max_grad_norm": 1.0,
          "/training/ema_decay": null, "/training/precision": "bf16",
          "/training/loss_scale": {"initial": 65536.0, "growth_interval": 2000, "hysteresis": 2,
                                   "growth": 2.0, "backoff": 0.5, "minimum": 1.0,
                                   "maximum": 16777216.0},
          "/training/recompute": "none", "/training/memory_budget": null,
          "/training/deterministic": true, "/training/on_nonfinite": "stop",
          "/training/most_rewinds": 3, "/training/pass_over": [], "/training/freezable": false,
          "/training/early_stopping": null, "/training/log_every": 1,
          "/evaluation": {"every": {"epochs": 1.0}, "at_start": true, "max_batches": null,
                          "use_ema": true, "samples": 16},
          "/mesh": {"devices": "auto", "axes": [["data", -1]], "strategy": "data_parallel",
                    "zero_stage": 0, "rules": [], "specs": {},
                    "pipeline": {"schedule": "1f1b", "stages": null, "file": null},
                    "backend": "auto", "exchange_timeout": 600.0},
          "/checkpoint": {"every": {"steps": 500}, "on_improvement": true, "keep_latest": 2,
                          "keep_best": 3, "keep_every": null, "metric": "validation/loss",
                          "mode": "min", "async": true, "mirror": null},
          "/log": {"tensorboard": true, "wandb": null, "inside_every": 0}
        })");
        for (const auto& [pointer, value] : expected.items()) {
            const Json::json_pointer at(pointer);
            QVERIFY2(document.contains(at), pointer.c_str());
            QVERIFY2(document.at(at) == value,
                     (pointer + " is " + document.at(at).dump()).c_str());
        }
    }

    void typed_members_repeat_the_document() {
        const auto config = checked_config(kMinimal, {"training.length={\"minutes\":2.5}", "seed=7",
                                                      "training.micro_batch_size=64",
                                                      "training.ema_decay=0.99",
                                                      "checkpoint.every=null",
                                                      "training.precision=fp32"});
        QCOMPARE(config.length.unit, compile::Cadence::Unit::minutes);
        QCOMPARE(config.length.amount, 2.5);
        QCOMPARE(config.seed, std::uint64_t{7});
        QCOMPARE(config.precision, std::string("f32"));
        QCOMPARE(*config.ema_decay, 0.99);
        QVERIFY(!config.checkpoint_every.has_value());
        const compile::BatchPlan batch = compile::plan_batch(config);
        QCOMPARE(batch.accumulation_steps, std::int64_t{4});
        QCOMPARE(config.context(), std::int64_t{0});
    }

    void a_normalised_document_reads_as_itself() {
        const Json document = checked_config(kMinimal).document;
        const compile::CheckedRun again = compile::read_run_config(document, {});
        QVERIFY(again.ok());
        QVERIFY(again.config.document == document);
    }

    void a_default_warm_up_fits_a_short_run() {
        // At most a tenth of whatever the length comes to; an explicit one stays.
        const auto config = checked_config(kMinimal);
        const Json& schedule = config.section("lr_schedule");
        QCOMPARE(weft::optim::warmup_steps(schedule, 50), 5);
        QCOMPARE(weft::optim::warmup_steps(schedule, 5), 0);
        QCOMPARE(weft::optim::warmup_steps(schedule, 100'000), 100);
        QCOMPARE(weft::optim::schedule_factor(schedule, 5, 50), 1.0);
        const auto given = checked_config(kMinimal, {"lr_schedule.warmup_steps=30"});
        QCOMPARE(weft::optim::warmup_steps(given.section("lr_schedule"), 50), 30);
    }

    void metrics_follow_the_loss() {
        const auto regression = checked_config(
            R"({"data": {"train": {"type": "synthetic", "kind": "regression"}},
                "model": {"type": "mlp"}, "loss": {"type": "mse"}})");
        QVERIFY(regression.section("metrics").empty());
    }

    void changes_that_touch_no_number_are_allowed() {
        const auto found = changes({"name=other", "training.length={\"epochs\":9}",
                                    "checkpoint.keep_best=1", "evaluation.samples=3"});
        QCOMPARE(found.size(), std::size_t{4});
        for (const auto& [path, effect] : found) {
            QVERIFY2(effect == compile::ChangeEffect::allowed, path.c_str());
        }
    }

    void changes_of_the_mathematics_are_forks_and_of_shapes_are_blocked() {
        const auto found = changes({"seed=1", "model.dropout=0.5", "model.hidden=[8]",
                                    "optimizer.type=adamw", "optimizer.learning_rate=0.1"});
        QCOMPARE(found.at("seed"), compile::ChangeEffect::fork);
        QCOMPARE(found.at("model.dropout"), compile::ChangeEffect::fork);
        QCOMPARE(found.at("optimizer.learning_rate"), compile::ChangeEffect::fork);
        QCOMPARE(found.at("model.hidden"), compile::ChangeEffect::blocked);
        QCOMPARE(found.size(), std::size_t{4});
    }

    void perplexity_and_bits_follow_from_the_loss() {
        const auto config = checked_config(
            R"({"data": {"train": {"type": "text", "path": "unused"}}, "model": {"type": "gpt2"},
                "metrics": ["perplexity", "accuracy", "bits_per_byte"]})");
        const auto found = compile::metrics_from_loss(config, std::log(8.0));
        QCOMPARE(found.size(), std::size_t{2});
        QCOMPARE(found[0].first, std::string("perplexity"));
        QVERIFY(std::abs(found[0].second - 8.0) < 1e-12);
        QCOMPARE(found[1].first, std::string("bits_per_byte"));
        QVERIFY(std::abs(found[1].second - 3.0) < 1e-12);
    }
};

WEFT_TEST(RunConfigTest)
#include "run_config_test.moc"
