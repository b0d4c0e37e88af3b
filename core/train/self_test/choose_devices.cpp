// SPDX-License-Identifier: Apache-2.0
#include "core/train/self_test/choose_devices.h"

#include "core/train/compute.h"

namespace weft::train {
namespace {

ChosenDevices on_cpu(const std::string& why) {
    return {"cpu", "computes on the CPU: " + why};
}

ChosenDevices on_gpu(int number, const std::string& failed) {
    weft_device_health gpu{};
    const bool known = gpu_health()->look(number, &gpu) == WEFT_OK;
    const std::string name = std::to_string(number);
    return {number == 0 ? "cuda" : "cuda:" + name + ",",
            "computes on cuda:" + name + (known ? std::string(", ") + gpu.name : "") +
                ": it is here and passed its self-test" + (failed.empty() ? "" : "; " + failed)};
}

} // namespace

bool leaves_devices_open(const compile::RunConfig& config) {
    return config.section("mesh").at("devices") == "auto";
}

ChosenDevices choose_devices(const OnTest& on_test) {
    if (const std::string missing = missing_gpus(); !missing.empty()) {
        return on_cpu(missing);
    }
    exec::Compute gpu = all_gpus();
    std::string failed;
    for (const int number : std::vector<int>(gpu.devices)) {
        gpu.devices = {number};
        const GpuVerdict verdict = gpu_verdicts(gpu, TestWhen::unknown, on_test).front();
        if (verdict.result.passed) {
            return on_gpu(number, failed);
        }
        failed += (failed.empty() ? "" : "; ") + verdict.of +
                  " failed its self-test: " + verdict.result.failure;
    }
    return on_cpu(failed);
}

} // namespace weft::train
