// SPDX-License-Identifier: Apache-2.0
// What a look inside the network costs: updates of presets with and without one, in turns in one
// run; and as a share of the time where every 50th has one.
//
//   bench_inside [rounds] [preset.json ...]
#include "core/train/compute.h"
#include "core/train/engine.h"
#include "core/train/inside/inside_file.h"
#include "core/train/planning.h"
#include "core/train/program_io.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using namespace weft;

constexpr int kEvery = 50;

double middle_of(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
    return values[values.size() / 2];
}

/// A batch of zeros: what kernels take does not depend on it.
void fill_arguments(exec::Executor& executor) {
    for (const plan::PlannedPort& port : executor.plan().find("train_step")->arguments) {
        if (port.role != ir::Role::state) {
            const std::vector<std::byte> none(static_cast<std::size_t>(port.whole.bytes()));
            executor.write("train_step", port.name, none);
        }
    }
}

double timed_ms(const auto& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
}

void bench(const std::string& preset, int rounds) {
    const compile::CheckedRun checked = compile::read_run_config_file(preset, {});
    if (!checked.ok()) {
        std::fprintf(stderr, "%s\n", config::to_text(checked.diagnostics.front()).c_str());
        std::exit(2);
    }
    const auto plan = train::shared_plan(checked.config, train::this_machine(0, nullptr));
    exec::Executor executor(plan, train::compute_of(checked.config));
    train::initialise(executor, checked.config);
    train::LayerWatch watch(executor);
    const auto folder =
        std::filesystem::temp_directory_path() / ("bench_inside." + std::to_string(rounds) + "." +
                                                  std::filesystem::path(preset).stem().string());
    train::InsideWriter writer(folder, watch.watched());
    std::vector<double> plain, looking;
    for (int i = 0; i < rounds + 10; ++i) { // the first ten warm up
        fill_arguments(executor);
        const double step_ms = timed_ms([&] { executor.run("train_step"); });
        fill_arguments(executor);
        const double look_ms = timed_ms([&] {
            watch.begin();
            executor.run("train_step");
            writer.add(watch.end(i + 1, 1, 0));
        });
        if (i >= 10) {
            plain.push_back(step_ms);
            looking.push_back(look_ms);
        }
    }
    std::filesystem::remove_all(folder);
    const double step = middle_of(plain);
    const double look = middle_of(looking);
    std::printf("%-28s %9.2f %9.2f %8.2f %9.2f %%\n",
                std::filesystem::path(preset).stem().string().c_str(), step, look, look / step,
                100 * (look - step) / (kEvery * step));
}

} // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 50;
    std::vector<std::string> presets(argv + std::min(argc, 2), argv + argc);
    if (presets.empty()) {
        for (const char* name : {"fashion-mlp", "fashion-cnn", "tiny-gpt"}) {
            presets.push_back(std::string(WEFT_SOURCE_DIR) + "/resources/presets/" + name +
                              ".json");
        }
    }
    std::printf("%-28s %9s %9s %8s %11s\n", "preset", "step ms", "look ms", "ratio", "every 50");
    for (const std::string& preset : presets) {
        bench(preset, rounds);
    }
    return 0;
}
