// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/mesh/mesh_run.h"

#include "core/base/check.h"
#include "core/data/loader.h"
#include "core/exec/reference_mode.h"

#include <cmath>

namespace weft::test {

const char* const kMlp = R"({
  "data": {"train": {"type": "synthetic", "kind": "classification", "features": 20, "classes": 6,
                     "samples": 4000}},
  "model": {"type": "mlp", "hidden": [24, 16], "dropout": 0.2},
  "optimizer": {"type": "adamw", "learning_rate": 0.001, "weight_decay": 0.05},
  "lr_schedule": {"type": "constant"},
  "training": {"global_batch_size": 48, "precision": "f32", "length": {"steps": 100}}
})";

const char* const kCnn = R"({
  "data": {"train": {"type": "synthetic", "kind": "images", "shape": [8, 8, 2], "classes": 6,
                     "samples": 2000}},
  "model": {"type": "sequential", "layers": [
    {"type": "conv2d", "channels": 8, "kernel": 3}, {"type": "batch_norm"}, {"type": "relu"},
    {"type": "conv2d", "channels": 12, "kernel": 3}, {"type": "batch_norm"}, {"type": "relu"},
    {"type": "max_pool"}, {"type": "dropout", "rate": 0.2}, {"type": "flatten"},
    {"type": "linear"}]},
  "optimizer": {"type": "adamw", "learning_rate": 0.001},
  "lr_schedule": {"type": "constant"},
  "training": {"global_batch_size": 24, "precision": "f32", "length": {"steps": 100}}
})";

const char* const kVae = R"({
  "data": {"train": {"type": "synthetic", "kind": "images", "shape": [6, 6, 2], "classes": 6,
                     "samples": 2000}},
  "model": {"type": "vae", "channels": [8], "hidden": [16], "latent": 6},
  "loss": {"type": "elbo", "likelihood": "gaussian"},
  "optimizer": {"type": "adamw", "learning_rate": 0.001},
  "lr_schedule": {"type": "constant"},
  "training": {"global_batch_size": 24, "precision": "f32", "length": {"steps": 100}}
})";

const char* const kGan = R"({
  "data": {"train": {"type": "synthetic", "kind": "images", "shape": [6, 6, 2], "classes": 6,
                     "samples": 2000}},
  "model": {"type": "gan", "channels": [8, 12], "latent": 6, "output": "none",
            "gradient_penalty": 10},
  "loss": {"type": "adversarial", "kind": "hinge"},
  "optimizer": {"type": "adamw", "learning_rate": 0.001,
                "groups": [{"match": "discriminator.*", "type": "sgd", "learning_rate": 0.01}]},
  "lr_schedule": {"type": "constant"},
  "training": {"global_batch_size": 24, "precision": "f32", "length": {"steps": 100}}
})";

const char* const kFlow = R"({
  "data": {"train": {"type": "synthetic", "kind": "images", "shape": [6, 6, 2], "classes": 6,
                     "samples": 2000}},
  "model": {"type": "flow", "couplings": 4, "hidden": [16], "levels": null},
  "loss": {"type": "negative_log_likelihood"},
  "optimizer": {"type": "adamw", "learning_rate": 0.001},
  "lr_schedule": {"type": "constant"},
  "training": {"global_batch_size": 24, "precision": "f32", "length": {"steps": 100}}
})";

const char* const kImageLayers = R"({
  "data": {"train": {"type": "synthetic", "kind": "images", "shape": [6, 6, 2], "classes": 6,
                     "samples": 2000}},
  "model": {"type": "sequential", "layers": [
    {"type": "conv2d", "channels": 8, "groups": 2, "stride": 2},
    {"type": "conv2d", "channels": 12, "groups": 4, "dilation": 2, "weight_norm": "weight"},
    {"type": "relu"},
    {"type": "conv2d", "channels": 8, "weight_norm": "spectral"},
    {"type": "flatten"},
    {"type": "linear", "weight_norm": "spectral"}]},
  "optimizer": {"type": "adamw", "learning_rate": 0.001},
  "lr_schedule": {"type": "constant"},
  "training": {"global_batch_size": 24, "precision": "f32", "length": {"steps": 100}}
})";

const char* const kSequenceLayers = R"({
  "data": {"train": {"type": "synthetic", "kind": "tokens", "vocab": 40, "length": 12,
                     "samples": 2000}},
  "model": {"type": "sequential", "layers": [
    {"type": "embedding", "width": 16},
    {"type": "lstm", "units": 16},
    {"type": "multi_head_attention", "heads": 4, "causal": true},
    {"type": "gru", "units": 12},
    {"type": "linear"}]},
  "metrics": [],
  "optimizer": {"type": "adamw", "learning_rate": 0.001},
  "lr_schedule": {"type": "constant"},
  "training": {"global_batch_size": 16, "precision": "f32", "length": {"steps": 100}}
})";

const char* const kGpt = R"({
  "data": {"train": {"type": "synthetic", "kind": "tokens", "vocab": 40, "samples": 2000}},
  "model": {"type": "gpt2", "layers": 2, "width": 24, "heads": 4, "context": 12, "vocab": 40,
            "dropout": 0.1},
  "metrics": [],
  "optimizer": {"type": "adamw", "learning_rate": 0.001},
  "lr_schedule": {"type": "constant"},
  "training": {"global_batch_size": 16, "precision": "f32", "length": {"steps": 100}}
})";

const char* const kMoe = R"({
  "data": {"train": {"type": "synthetic", "kind": "tokens", "vocab": 40, "samples": 2000}},
  "model": {"type": "gpt2", "layers": 2, "width": 24, "heads": 4, "context": 12, "vocab": 40,
            "dropout": 0.1, "experts": 4, "expert_capacity": 0.75},
  "metrics": [],
  "optimizer": {"type": "adamw", "learning_rate": 0.001},
  "lr_schedule": {"type": "constant"},
  "training": {"global_batch_size": 16, "precision": "f32", "length": {"steps": 100}}
})";

const std::vector<Variant>& variants() {
    static const std::vector<Variant> list = {
        {"replicated on 2", {"mesh.devices=cpu:2", "mesh.strategy=replicated"}},
        {"data parallel on 2", {"mesh.devices=cpu:2"}},
        {"data parallel on 8", {"mesh.devices=cpu:8"}},
        {"ZeRO 1 on 4", {"mesh.devices=cpu:4", "mesh.zero_stage=1"}},
        {"ZeRO 2 on 4", {"mesh.devices=cpu:4", "mesh.zero_stage=2"}},
        {"fsdp on 4", {"mesh.devices=cpu:4", "mesh.strategy=fsdp"}},
        {"fsdp on 3, padded", {"mesh.devices=cpu:3", "mesh.strategy=fsdp"}},
        {"hybrid on 2 x 2", {"mesh.devices=cpu:4", "mesh.strategy=hybrid_fsdp"}},
        {"tensor parallel on 2", {"mesh.devices=cpu:2", "mesh.strategy=tensor_parallel"}},
        {"tensor parallel on 4", {"mesh.devices=cpu:4", "mesh.strategy=tensor_parallel"}},
        {"2d on 2 x 2", {"mesh.devices=cpu:4", "mesh.strategy=2d"}},
        {"2d on 4 x 2 with ZeRO 3",
         {"mesh.devices=cpu:8", "mesh.strategy=2d", "mesh.zero_stage=3"}},
        {"context parallel on 2", {"mesh.devices=cpu:2", "mesh.strategy=context_parallel"}},
        {"pipeline on 2", {"mesh.devices=cpu:2", "mesh.strategy=pipeline"}},
        {"3d on 2 x 2 x 2", {"mesh.devices=cpu:8", "mesh.strategy=3d"}},
        {"expert parallel on 2", {"mesh.devices=cpu:2", "mesh.strategy=expert_parallel"}},
        {"experts on 2 x 2",
         {"mesh.devices=cpu:4", "mesh.strategy=expert_parallel",
          "mesh.axes=[[\"data\",2],[\"expert\",2]]"}},
        {"axes in the other order",
         {"mesh.devices=cpu:4", "mesh.strategy=2d", "mesh.axes=[[\"model\",2],[\"data\",2]]"}},
    };
    return list;
}

compile::RunConfig mesh_config(const std::string& document,
                               const std::vector<std::string>& overrides) {
    compile::CheckedRun checked =
        compile::read_run_config(std::string_view(document), "/", overrides);
    const std::string wrong =
        checked.diagnostics.empty() ? "" : config::to_text(checked.diagnostics.front());
    WEFT_CHECK(checked.ok(), wrong);
    return std::move(checked.config);
}

double losses_apart(const std::vector<double>& a, const std::vector<double>& b) {
    double out = a.size() == b.size() && !a.empty() ? 0.0 : 1.0;
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
        out = std::max(out, std::isfinite(b[i]) ? std::abs(a[i] - b[i]) / std::abs(a[i]) : 1.0);
    }
    return out;
}

WideRun wide_run(const std::string& document, const Overrides& overrides) {
    WideRun out{mesh_config(document, overrides), {}, {}};
    out.data = train::open_run_data(out.config);
    out.step = train::mesh_step(out.config, out.data.train->info());
    exec::widen(out.step.whole);
    exec::widen(out.step.local.program);
    return out;
}

std::shared_ptr<const plan::ExecutionPlan> mesh_plan(const compile::RunConfig& config) {
    return train::shared_plan(config, {.threads = 1});
}

MeshRun run_mesh(const compile::RunConfig& config, const MeshRunOptions& options) {
    MeshRun out;
    out.plan = mesh_plan(config);
    exec::Executor executor(out.plan, train::backends(),
                            {.threads = 1, .instrument = options.instrument});
    train::initialise(executor, config);
    const data::DataSet data = train::open_run_data(config);
    data::LoaderOptions loading;
    loading.batch_size = config.global_batch_size;
    data::Loader loader(data.train, data::Sampler(data.train->samples(), true, config.seed),
                        loading, {});
    train::Update update(executor, config, 100);
    for (int step = 0; step < options.steps; ++step) {
        update.start(*loader.next(), step, 1.0, {});
        const train::UpdateNumbers numbers = update.numbers();
        out.losses.push_back(numbers.loss);
        out.skipped.push_back(numbers.skipped);
    }
    const exec::ArenaReport report = executor.arena_report();
    out.violations = report.violations;
    out.touched_bytes = report.highest_touched_byte;
    for (const plan::StateSlot& slot : out.plan->state_slots) {
        if (options.keep_slots) {
            const auto bytes = executor.read_slot(slot.name);
            out.state[slot.name].assign(bytes.begin(), bytes.end());
        }
    }
    return out;
}

} // namespace weft::test
