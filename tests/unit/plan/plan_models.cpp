// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/plan/plan_models.h"

#include "core/base/check.h"

#include <algorithm>

namespace weft::test {
namespace {

constexpr const char* kMlp = R"({
    "data": {"train": {"type": "synthetic", "kind": "classification", "features": 24,
                       "classes": 4, "samples": 200}},
    "model": {"type": "mlp", "hidden": [24, 24], "dropout": 0.1},
    "training": {"length": {"steps": 4}, "global_batch_size": 16, "precision": "f32"}
})";

constexpr const char* kCnn = R"({
    "data": {"train": {"type": "synthetic", "kind": "images", "shape": [6, 6, 1], "classes": 4,
                       "samples": 200}},
    "model": {"type": "sequential", "layers": [
        {"type": "conv2d", "channels": 4, "kernel": 3}, {"type": "relu"}, {"type": "max_pool"},
        {"type": "conv2d", "channels": 6, "kernel": 3}, {"type": "relu"}, {"type": "flatten"},
        {"type": "linear"}]},
    "training": {"length": {"steps": 4}, "global_batch_size": 16, "precision": "f32"}
})";

constexpr const char* kGpt = R"({
    "data": {"train": {"type": "synthetic", "kind": "tokens", "vocab": 32, "samples": 200}},
    "model": {"type": "gpt2", "layers": 3, "width": 16, "heads": 2, "context": 8, "vocab": 32,
              "dropout": 0.1},
    "training": {"length": {"steps": 4}, "global_batch_size": 16, "precision": "f32"}
})";

} // namespace

compile::RunConfig model_run(const std::string& model, const std::vector<std::string>& overrides) {
    const char* text = model == "mlp" ? kMlp : model == "cnn" ? kCnn : kGpt;
    compile::CheckedRun checked = compile::read_run_config(std::string_view(text), "/", overrides);
    WEFT_CHECK(checked.ok(), config::to_text(checked.diagnostics.front()));
    return std::move(checked.config);
}

train::PlanTarget target_of(std::int64_t limit_bytes) {
    train::PlanTarget target;
    target.threads = 1;
    target.limit_bytes = limit_bytes;
    target.limit_basis = "a test";
    return target;
}

const sharding::Finding* finding_of(const plan::ExecutionPlan& plan, const std::string& array) {
    const auto found = std::find_if(plan.findings.begin(), plan.findings.end(),
                                    [&](const auto& one) { return one.array == array; });
    return found == plan.findings.end() ? nullptr : &*found;
}

} // namespace weft::test
