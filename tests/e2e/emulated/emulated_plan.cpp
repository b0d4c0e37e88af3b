// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/emulated/emulated_plan.h"

#include "core/base/check.h"
#include "core/compile/pipeline.h"
#include "core/compile/programs/programs.h"
#include "core/train/engine.h"

namespace weft::test {

compile::RunConfig config_of(const EmulatedModel& model) {
    compile::CheckedRun checked =
        compile::read_run_config(std::string_view(model.document), "/", model.overrides);
    const std::string wrong =
        checked.diagnostics.empty() ? "" : config::to_text(checked.diagnostics.front());
    WEFT_CHECK(checked.ok(), wrong);
    return std::move(checked.config);
}

std::shared_ptr<const plan::ExecutionPlan> plan_for(const compile::RunConfig& config,
                                                    std::vector<const weft_backend*> backends) {
    compile::PipelineOptions options;
    options.backends = std::move(backends);
    options.threads = 1;
    const data::DataSet data = train::open_run_data(config);
    return std::make_shared<const plan::ExecutionPlan>(
        compile::compile_run(config, data.train->info(), options));
}

} // namespace weft::test
