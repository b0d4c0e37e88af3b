// SPDX-License-Identifier: Apache-2.0
#include "core/train/self_test/choose_devices.h"

#include "core/train/compute.h"

namespace weft::train {
namespace {

ChosenDevices on_cpu(const std::string& why) {
    return {"cpu", "computes on the CPU: " + why};
}

} // namespace

bool leaves_devices_open(const compile::RunConfig& config) {
    return config.section("mesh").at("devices") == "auto";
}

ChosenDevices choose_devices(const OnTest& on_test) {
    if (const std::string missing = missing_gpus(); !missing.empty()) {
        return on_cpu(missing);
    }
    const GpuVerdict verdict = gpu_verdicts(first_gpu(), TestWhen::unknown, on_test).front();
    if (!verdict.result.passed) {
        return on_cpu(verdict.of + " failed its self-test: " + verdict.result.failure);
    }
    weft_device_health gpu{};
    const bool known = gpu_health()->look(0, &gpu) == WEFT_OK;
    return {"cuda", "computes on cuda:0" + (known ? std::string(", ") + gpu.name : "") +
                        ": it is here and passed its self-test"};
}

} // namespace weft::train
