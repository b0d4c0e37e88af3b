// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/small_gpt.h"

namespace weft::test {

config::Json small_gpt(const char* mesh, const char* precision) {
    config::Json document = config::json_of(R"({
      "schema_version": 1, "name": "small-gpt", "seed": 3,
      "data": {"train": {"type": "synthetic", "kind": "tokens", "length": 64, "vocab": 64, "samples": 512},
               "validation": {"split": 0.1}},
      "model": {"type": "gpt2", "layers": 4, "width": 32, "heads": 2, "context": 64, "vocab": 64,
                "dropout": 0.0},
      "training": {"length": {"steps": 50}, "global_batch_size": 16, "micro_batch_size": 4},
      "evaluation": {"samples": 0}
    })");
    document["training"]["precision"] = precision;
    if (mesh != nullptr) {
        document["mesh"] = config::json_of(mesh);
    }
    return document;
}

std::shared_ptr<const plan::ExecutionPlan> plan_of(const compile::RunConfig& config) {
    const train::PlanTarget target = train::this_machine(0, nullptr);
    return std::make_shared<const plan::ExecutionPlan>(
        train::plan_run(config, train::outline_run_data(config, target), target, {}));
}

std::shared_ptr<const ui::PlanDigest> digest_of(const config::Json& document, bool predicted) {
    const compile::CheckedRun checked = compile::read_run_config(document, ".");
    WEFT_CHECK(checked.ok(), config::to_text(checked.diagnostics.front()));
    const cost::Hardware& hardware = cost::hardware_catalogue().front();
    const cost::CostModel model(hardware);
    const train::PlanTarget target =
        predicted ? train::planned_hardware(hardware, &model) : train::this_machine(0, nullptr);
    return ui::digestPlan(std::make_shared<const plan::ExecutionPlan>(train::plan_run(
        checked.config, train::outline_run_data(checked.config, target), target, {})));
}

const plan::PlannedProgram& step_of(const ui::PlanDigest& digest, int stage) {
    return *digest.plan->find("train_step", stage);
}

} // namespace weft::test
