// SPDX-License-Identifier: Apache-2.0
#include "core/train/self_test/choose_devices.h"

#include "core/base/check.h"
#include "core/train/compute.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace weft::train {
namespace {

std::string device_name(int number) {
    return "cuda:" + std::to_string(number);
}

/// For mesh.devices: this GPU and no other.
std::string devices_of(int number) {
    return number == 0 ? "cuda" : device_name(number) + ",";
}

compile::RunConfig on_gpu(const compile::RunConfig& config, int number) {
    auto changed = compile::with_overrides(config, {"mesh.devices=\"" + devices_of(number) + "\""});
    WEFT_CHECK(changed.has_value(), "what runs on one device runs on any");
    return *std::move(changed);
}

bool holds(const compile::RunConfig& config, int number, const data::DataOutline& data,
           const PlanTarget& target, const std::stop_token& stop) {
    return plan_run(on_gpu(config, number), data, target, stop, compile::Scope::step).fits();
}

/// Of those that have not failed the first whose free memory holds the plan. Where no later one has
/// more, a plan need not be made to know which it is. None: all have failed.
std::optional<int> first_that_holds(const compile::RunConfig& config, const data::DataOutline& data,
                                    const PlanTarget& target, const std::stop_token& stop) {
    const std::vector<FoundGpu>& gpus = *target.gpus;
    const auto may_run = [](const FoundGpu& gpu) { return gpu.passed.value_or(true); };
    for (std::size_t i = 0; i < gpus.size(); ++i) {
        if (!may_run(gpus[i])) {
            continue;
        }
        const auto number = static_cast<int>(i);
        const bool later_has_more =
            std::any_of(gpus.begin() + static_cast<std::ptrdiff_t>(i) + 1, gpus.end(),
                        [&](const FoundGpu& later) {
                            return may_run(later) && later.free_bytes > gpus[i].free_bytes;
                        });
        if (!later_has_more || holds(config, number, data, target, stop)) {
            return number;
        }
    }
    return std::nullopt;
}

ChosenDevices on_cpu(const std::string& why) {
    return {"cpu", "computes on the CPU: " + why};
}

} // namespace

bool leaves_devices_open(const compile::RunConfig& config) {
    return config.section("mesh").at("devices") == "auto";
}

std::vector<FoundGpu> gpus_here() {
    std::vector<FoundGpu> out;
    if (!missing_gpus().empty()) {
        return out;
    }
    for (const int number : all_gpus().devices) {
        FoundGpu& gpu = out.emplace_back(found_gpu(number));
        gpu.passed = passed_before(number);
    }
    return out;
}

ChosenDevices choose_devices(const compile::RunConfig& config, const PlanTarget& given,
                             const OnTest& on_test) {
    if (const std::string missing = missing_gpus(); !missing.empty()) {
        return on_cpu(missing);
    }
    PlanTarget target = given;
    target.gpus = gpus_here();
    for (FoundGpu& gpu : *target.gpus) {
        gpu.passed.reset(); // a verdict that was kept is told as a new one is
    }
    const data::DataOutline data = outline_run_data(config, target);
    std::string failed;
    while (const auto number = first_that_holds(config, data, target, {})) {
        FoundGpu& gpu = (*target.gpus)[static_cast<std::size_t>(*number)];
        exec::Compute compute = all_gpus();
        compute.devices = {*number};
        const GpuVerdict verdict = gpu_verdicts(compute, TestWhen::unknown, on_test).front();
        if (verdict.result.passed) {
            return {devices_of(*number), "computes on " + device_name(*number) + ", " + gpu.name +
                                             ": it is here and passed its self-test" + failed};
        }
        gpu.passed = false;
        failed += "; " + verdict.of + " failed its self-test: " + verdict.result.failure;
    }
    return on_cpu(failed.substr(2));
}

compile::RunConfig on_planned_devices(const compile::RunConfig& config,
                                      const data::DataOutline& data, PlanTarget& target,
                                      const std::stop_token& stop) {
    if (target.hardware != nullptr || !leaves_devices_open(config) || !target.gpus) {
        return config;
    }
    const auto number = first_that_holds(config, data, target, stop);
    if (!number) {
        return config;
    }
    const FoundGpu& gpu = (*target.gpus)[static_cast<std::size_t>(*number)];
    target.devices_note = "planned for " + device_name(*number) + ", " + gpu.name +
                          ", which a run takes " +
                          (gpu.passed ? "now" : "if it passes its self-test");
    return on_gpu(config, *number);
}

} // namespace weft::train
