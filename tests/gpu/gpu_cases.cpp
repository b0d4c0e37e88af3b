// SPDX-License-Identifier: Apache-2.0
// gpu_cases MODULE [FROM [EVERY [SECONDS]]]: the case table on GPU 0 of a module, against the
// reference. Begins with case FROM, takes each EVERYth and no new one after SECONDS. A line for
// each:
//
//   number <tab> name <tab> kernel <tab> ok, or what is wrong
//
// Exit code 0: the end of the table; 75: the time was up; 3: the device failed, and a new process
// may go on with the next case; 2: it could not begin.
#include "kernels/weft_module.h"
#include "tests/kernels/cases/cases.h"
#include "tests/kernels/cases/device_call.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <stdexcept>

using namespace weft::test;

namespace {

constexpr int kTimeIsUp = 75;
constexpr int kDeviceFailed = 3;
constexpr int kCannotBegin = 2;

struct Wanted {
    std::size_t from = 0;
    std::size_t every = 1;
    double seconds = std::numeric_limits<double>::infinity();
};

int run_cases(const weft_module& module, const Wanted& wanted) {
    const auto start = std::chrono::steady_clock::now();
    const auto& cases = kernel_cases();
    DeviceForCalls device(*module.platform, 0);
    for (std::size_t i = wanted.from; i < cases.size(); i += wanted.every) {
        const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - start;
        if (gone.count() > wanted.seconds) {
            return kTimeIsUp;
        }
        const Case& one = cases[i];
        std::printf("%zu\t%s\t", i, one.name.c_str()); // stands there when the process dies
        std::fflush(stdout);
        const Result result = device.run(*module.backend, one.call);
        const std::string wrong =
            difference(result, run(weft_reference_backend(), one.call), one.tolerance);
        std::printf("%s\t%s\n", result.kernel.c_str(), wrong.empty() ? "ok" : wrong.c_str());
        if (result.status != WEFT_OK && !device.usable()) {
            return kDeviceFailed;
        }
    }
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 2 || argc > 5) {
        std::fprintf(stderr, "gpu_cases MODULE [FROM [EVERY [SECONDS]]]\n");
        return kCannotBegin;
    }
    Wanted wanted;
    wanted.from = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : wanted.from;
    wanted.every = argc > 3 ? std::max(1ULL, std::strtoull(argv[3], nullptr, 10)) : wanted.every;
    wanted.seconds = argc > 4 ? std::strtod(argv[4], nullptr) : wanted.seconds;
    const weft_module* module = nullptr;
    if (weft_load_module(argv[1], &module) != WEFT_OK) {
        std::fprintf(stderr, "%s: %s\n", argv[1], weft_last_error());
        return kCannotBegin;
    }
    try {
        return run_cases(*module, wanted);
    } catch (const std::runtime_error& fault) {
        std::fprintf(stderr, "%s\n", fault.what());
        return kCannotBegin;
    }
}
