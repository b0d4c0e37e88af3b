// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/plan/planner.h"

#include "core/base/error.h"
#include "core/compile/mesh/mesh_config.h"
#include "core/compile/pipeline.h"
#include "core/train/find_meshes.h"
#include "core/train/measure/machine_cost.h"
#include "core/train/self_test/choose_devices.h"

#include <utility>

namespace weft::ui {
namespace {

/// The cost model must outlive the target.
train::PlanTarget targetOf(const cost::Hardware* hardware, const cost::CostModel& model,
                           const FoundGpus& gpus) {
    if (hardware != nullptr) {
        return train::planned_hardware(*hardware, &model);
    }
    train::PlanTarget target = train::this_machine(0, &model);
    target.gpus = gpus.get();
    return target;
}

cost::CostModel modelOf(const cost::Hardware* hardware, const std::filesystem::path& calibration) {
    return hardware != nullptr ? cost::CostModel(*hardware)
                               : train::machine_cost_model(calibration, 0);
}

} // namespace

const cost::Hardware* hardwareOf(const compile::RunConfig& config, const cost::Hardware* chosen) {
    const auto devices = config.section("mesh").at("devices").get<std::string>();
    return chosen == nullptr && compile::is_planned_hardware(devices)
               ? cost::parse_hardware(devices).hardware
               : chosen;
}

void FoundGpus::set(std::vector<train::FoundGpu> gpus) {
    const std::lock_guard lock(mutex_);
    gpus_ = std::move(gpus);
}

FoundGpus::Gpus FoundGpus::get() const {
    const std::lock_guard lock(mutex_);
    return gpus_;
}

Planner enginePlanner(const std::filesystem::path& calibration_file,
                      std::shared_ptr<const FoundGpus> gpus) {
    // Each call asks the machine anew: memory that is free changes, and so do measurements.
    const auto alternatives = [calibration_file, gpus](auto search) {
        return [calibration_file, gpus, search](const compile::RunConfig& config,
                                                const cost::Hardware* hardware,
                                                const std::stop_token& stop) {
            const cost::Hardware* device = hardwareOf(config, hardware);
            const cost::CostModel model = modelOf(device, calibration_file);
            train::PlanTarget target = targetOf(device, model, *gpus);
            const data::DataOutline data = train::outline_run_data(config, target);
            return search(train::on_planned_devices(config, data, target, stop), data, target,
                          stop);
        };
    };
    const auto planned = [calibration_file, gpus](compile::Scope scope) {
        return
            [calibration_file, gpus, scope](const compile::RunConfig& config,
                                            const cost::Hardware* hardware,
                                            const std::stop_token& stop) {
                const cost::Hardware* device = hardwareOf(config, hardware);
                const cost::CostModel model = modelOf(device, calibration_file);
                train::PlanTarget target = targetOf(device, model, *gpus);
                const data::DataOutline data = train::outline_run_data(config, target);
                const compile::RunConfig placed =
                    train::on_planned_devices(config, data, target, stop);
                return std::make_shared<const plan::ExecutionPlan>(
                    train::plan_run(placed, data, target, stop, scope));
            };
    };
    Planner planner;
    planner.layout = planned(compile::Scope::layout);
    planner.step = planned(compile::Scope::step);
    planner.rest = planned(compile::Scope::rest);
    planner.plan = [step = planner.step, rest = planner.rest](const compile::RunConfig& config,
                                                              const cost::Hardware* hardware,
                                                              const std::stop_token& stop) {
        const auto made = step(config, hardware, stop);
        return std::make_shared<const plan::ExecutionPlan>(
            compile::complete_plan(*made, *rest(config, hardware, stop)));
    };
    planner.fixes = alternatives(
        [](const auto& config, const auto& data, const auto& target, const auto& stop) {
            return train::find_fixes(config, data, target, stop);
        });
    planner.curve = alternatives(
        [](const auto& config, const auto& data, const auto& target, const auto& stop) {
            return advise::recompute_curve(config, train::step_planner(data, target, stop), stop);
        });
    planner.advice = alternatives(
        [](const auto& config, const auto& data, const auto& target, const auto& stop) {
            return advise::alternatives(config, train::step_planner(data, target, stop), stop);
        });
    planner.meshes =
        [calibration_file, gpus](const compile::RunConfig& config, const cost::Hardware* hardware,
                                 const plan::ExecutionPlan& plan, const std::stop_token& stop,
                                 const std::function<void()>& counted) {
            const cost::Hardware* device = hardwareOf(config, hardware);
            const cost::CostModel model = modelOf(device, calibration_file);
            const train::PlanTarget target = targetOf(device, model, *gpus);
            if (!model.available()) {
                throw Error(ErrorKind::runtime, "", "nothing is known of this machine's speed",
                            "Measure it (menu Tools), or plan for hardware.");
            }
            return train::find_meshes(config, train::outline_run_data(config, target), target,
                                      train::limit_of_device(plan), stop, counted);
        };
    return planner;
}

} // namespace weft::ui
