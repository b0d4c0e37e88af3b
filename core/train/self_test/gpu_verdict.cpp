// SPDX-License-Identifier: Apache-2.0
#include "core/train/self_test/gpu_verdict.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/train/compute.h"
#include "core/train/self_test/cases.h"
#include "core/train/self_test/verdicts.h"

#include <algorithm>

namespace weft::train {
namespace {

/// What a verdict hangs on beside the GPUs.
std::string surroundings(const weft_health& health) {
    std::string out = "build " + module_build() + ", cases " + std::to_string(self_test_edition());
    weft_library libraries[WEFT_MOST_LIBRARIES];
    std::int32_t count = 0;
    if (health.libraries(libraries, &count) == WEFT_OK) {
        for (std::int32_t i = 0; i < count; ++i) {
            out += std::string(", ") + libraries[i].name + " " + libraries[i].version;
        }
    }
    return out;
}

/// Empty where the GPU does not tell who it is: its verdicts are not kept.
std::string id_of(const weft_health& health, int number) {
    weft_device_health gpu{};
    return health.look(number, &gpu) == WEFT_OK ? std::string(gpu.id) : std::string();
}

class Tester {
public:
    Tester(const exec::Compute& compute, TestWhen when, const OnTest& on_test)
        : when_(when), on_test_(on_test), verdicts_(verdict_folder()),
          surroundings_(surroundings(*gpu_health())) {
        for (const int number : compute.devices) {
            ids_.push_back(id_of(*gpu_health(), number));
        }
    }

    std::optional<SelfTestResult> kept(const std::string& ids) const {
        return ids.empty() ? std::nullopt : verdicts_.find(key(ids));
    }

    const std::string& id(std::size_t place) const { return ids_[place]; }
    std::string all_ids() const {
        std::string out;
        for (const std::string& id : ids_) {
            if (id.empty()) {
                return {};
            }
            out += (out.empty() ? "" : "+") + id;
        }
        return out;
    }

    GpuVerdict verdict(const std::string& of, const std::string& ids,
                       const std::function<SelfTestResult()>& test) const {
        GpuVerdict out{of, {}, false};
        if (auto known = when_ == TestWhen::unknown ? kept(ids) : std::nullopt) {
            out.result = std::move(*known);
            out.kept = true;
            return out;
        }
        if (on_test_) {
            on_test_(of);
        }
        try {
            out.result = test();
        } catch (const Error& fault) {
            out.result.failure = fault.where() + ": " + fault.text();
            return out;
        }
        if (!ids.empty()) {
            verdicts_.keep(key(ids), out.result);
        }
        return out;
    }

private:
    std::string key(const std::string& ids) const { return ids + ", " + surroundings_; }

    const TestWhen when_;
    const OnTest& on_test_;
    const Verdicts verdicts_;
    const std::string surroundings_;
    std::vector<std::string> ids_; // by place
};

} // namespace

std::vector<GpuVerdict> gpu_verdicts(const exec::Compute& compute, TestWhen when,
                                     const OnTest& on_test) {
    const Tester tester(compute, when, on_test);
    std::vector<GpuVerdict> out;
    std::vector<std::string> names;
    for (std::size_t place = 0; place < compute.devices.size(); ++place) {
        names.push_back("cuda:" + std::to_string(compute.devices[place]));
        out.push_back(tester.verdict(names.back(), tester.id(place),
                                     [&] { return test_ops(compute, static_cast<int>(place)); }));
        if (!out.back().result.passed) {
            return out;
        }
    }
    if (names.size() > 1) {
        out.push_back(tester.verdict("exchanges of " + join(names, ", "), tester.all_ids(),
                                     [&] { return test_exchanges(compute); }));
    }
    return out;
}

std::optional<bool> passed_before(int number) {
    exec::Compute compute = all_gpus();
    compute.devices = {number};
    const OnTest nobody;
    const Tester tester(compute, TestWhen::unknown, nobody);
    const auto kept = tester.kept(tester.id(0));
    return kept ? std::optional(kept->passed) : std::nullopt;
}

void require_passed(const exec::Compute& compute, const OnTest& on_test) {
    if (compute.on_host()) {
        return;
    }
    exec::Compute tested = compute;
    tested.devices.clear();
    for (const int number : compute.devices) {
        if (std::ranges::find(tested.devices, number) == tested.devices.end()) {
            tested.devices.push_back(number);
        }
    }
    for (const GpuVerdict& one : gpu_verdicts(tested, TestWhen::unknown, on_test)) {
        if (!one.result.passed) {
            throw Error(
                ErrorKind::usage, one.of,
                std::string(one.kept ? "failed its self-test before: " : "fails its self-test: ") +
                    one.result.failure,
                "run on the CPU with --devices cpu; `weft doctor --self-test` tests again, "
                "after a change of driver or libraries");
        }
    }
}

} // namespace weft::train
