// SPDX-License-Identifier: Apache-2.0
#include "core/train/measure/machine_cost.h"

#include "core/base/error.h"
#include "core/base/machine.h"
#include "core/compile/predict.h"
#include "core/train/engine.h"

#include <algorithm>
#include <cmath>

namespace weft::train {
namespace {

constexpr std::size_t kFewestSteps = 20;

double quantile(std::span<const double> sorted, double share) {
    return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

} // namespace

cost::MachineKey machine_key(int threads) {
    return {read_machine().cpu_name, thread_count(threads),
            std::string(weft_cpu_library_version()) + ", " + weft_cpu_instruction_set()};
}

cost::CostModel machine_cost_model(const std::filesystem::path& calibration_file, int threads) {
    const cost::MachineKey machine = machine_key(threads);
    if (calibration_file.empty()) {
        return cost::CostModel(cost::Calibration{machine, {}, {}});
    }
    try {
        return cost::CostModel(cost::read_calibration(calibration_file, machine));
    } catch (const Error& fault) {
        return cost::CostModel(cost::Calibration{machine, {}, {}}, fault.message());
    }
}

std::string note_finished_run(const std::filesystem::path& calibration_file, int threads,
                              const plan::ExecutionPlan& plan, std::span<const double> step_ms) {
    const plan::PlannedProgram* program = plan.find("train_step");
    if (calibration_file.empty() || program == nullptr || plan.pipeline ||
        step_ms.size() < kFewestSteps) {
        return {};
    }
    try {
        cost::Calibration calibration =
            cost::read_calibration(calibration_file, machine_key(threads));
        const double predicted_ms =
            cost::CostModel(calibration).predict(compile::mesh_work_of(*program, plan.mesh, 0)).ms;
        if (predicted_ms <= 0) {
            return {};
        }
        std::vector<double> sorted(step_ms.begin(), step_ms.end());
        std::sort(sorted.begin(), sorted.end());
        const double median = quantile(sorted, 0.5);
        // Half the distance of the quartiles is 0.67 standard deviations of a normal distribution.
        const double spread = (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 1.35 / median;
        cost::note_run(calibration, cost::program_key(program->text), median, predicted_ms, spread,
                       static_cast<std::int64_t>(sorted.size()));
        cost::write_calibration(calibration_file, calibration);
    } catch (const Error& fault) {
        return "What this run taught about its speed was not kept: " + fault.message();
    }
    return {};
}

} // namespace weft::train
