// SPDX-License-Identifier: Apache-2.0
#include "core/train/compute.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/compile/mesh/mesh_config.h"
#include "kernels/weft_module.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <numeric>
#include <optional>

namespace weft::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCudaModule = "weft-backend-cuda.so";

struct Modules {
    std::mutex mutex;
    ModulePlaces places;
    const weft_module* cuda = nullptr;
    std::string build;        // of the module
    std::string problem;      // of the last try
    std::string code_problem; // with the folder for generated kernels
    std::optional<int> local_rank; // of a process with one GPU
};

Modules& modules() {
    static Modules one;
    return one;
}

/// Size and time of a file, which a build changes.
std::string build_of(const fs::path& file) {
    std::error_code ignored;
    const auto changed = fs::last_write_time(file, ignored).time_since_epoch();
    return std::to_string(fs::file_size(file, ignored)) + "-" +
           std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(changed).count());
}

/// Why the folder cannot hold generated kernels; "" where it does from now on.
std::string choose_code_folder(const weft_module& cuda, const fs::path& folder) {
    if (folder.empty()) {
        return {};
    }
    std::error_code problem;
    fs::create_directories(folder, problem);
    if (problem) {
        return folder.string() + ": " + problem.message();
    }
    return cuda.set_cache_folder(folder.c_str()) == WEFT_OK
               ? std::string()
               : folder.string() + ": " + cuda.backend->last_error();
}

/// Null with `problem` set where it cannot be loaded; tried again by the next who asks.
const weft_module* cuda_module() {
    Modules& all = modules();
    const std::lock_guard lock(all.mutex);
    if (all.cuda != nullptr) {
        return all.cuda;
    }
    all.problem = "this program came without its CUDA module (" + std::string(kCudaModule) +
                  "): it was built without the CUDA toolkit";
    for (const fs::path& folder : all.places.folders) {
        const fs::path file = folder / kCudaModule;
        std::error_code ignored;
        if (!fs::exists(file, ignored)) {
            continue;
        }
        if (weft_load_module(file.c_str(), &all.cuda) == WEFT_OK) {
            all.build = build_of(file);
            all.code_problem = choose_code_folder(*all.cuda, all.places.code_folder);
            all.problem.clear();
            return all.cuda;
        }
        all.problem = "the CUDA module cannot be loaded: " + std::string(weft_last_error());
        break;
    }
    return nullptr;
}

/// The GPUs of this machine; 0 with what is missing.
std::int32_t count_gpus(const weft_module*& cuda, std::string& missing) {
    cuda = cuda_module();
    std::int32_t count = 0;
    if (cuda == nullptr) {
        const std::lock_guard lock(modules().mutex);
        missing = modules().problem;
    } else if (cuda->platform->count(&count) != WEFT_OK) {
        missing = cuda->platform->last_error();
        count = 0;
    } else if (count == 0) {
        missing = "no NVIDIA GPU was found";
    }
    return count;
}

std::string named_devices(const compile::RunConfig& config) {
    return config.section("mesh").at("devices").get<std::string>();
}

[[noreturn]] void no_gpus(const std::string& devices, const std::string& text) {
    throw Error(ErrorKind::usage, "mesh.devices " + devices, text,
                "run on the CPU with --devices cpu; `weft doctor` says what this machine offers");
}

/// Which of the GPUs that a run names is this process's, where it has one alone.
void keep_own(std::vector<int>& numbers, std::int32_t count) {
    std::optional<int> local_rank;
    {
        const std::lock_guard lock(modules().mutex);
        local_rank = modules().local_rank;
    }
    if (local_rank) {
        const auto at = static_cast<std::size_t>(*local_rank) % numbers.size();
        std::fill(numbers.begin(), numbers.end(), count == 1 ? 0 : numbers[at]);
    }
}

/// Matrix units that round operands are a GPU's.
void refuse_precision_of_gpus(const compile::RunConfig& config) {
    if (config.operands() != ir::Operands::as_stored) {
        throw Error(ErrorKind::usage, "training.precision",
                    "'" + config.precision + "' is a precision of GPUs, and this run computes on " +
                        named_devices(config),
                    "use '" + std::string(ir::dtype_name(config.compute_dtype())) +
                        "', or run on a GPU with --devices cuda");
    }
}

} // namespace

std::vector<const weft_backend*> backends() {
    return {weft_cpu_backend(), weft_reference_backend()};
}

void look_for_modules(ModulePlaces places) {
    Modules& all = modules();
    const std::lock_guard lock(all.mutex);
    all.places = std::move(places);
}

bool loads_modules() {
    Modules& all = modules();
    const std::lock_guard lock(all.mutex);
    return !all.places.folders.empty();
}

std::vector<fs::path> module_folders() {
    Modules& all = modules();
    const std::lock_guard lock(all.mutex);
    return all.places.folders;
}

std::string module_build() {
    Modules& all = modules();
    const std::lock_guard lock(all.mutex);
    return all.build;
}

fs::path verdict_folder() {
    Modules& all = modules();
    const std::lock_guard lock(all.mutex);
    return all.places.verdict_folder;
}

std::string code_folder_problem() {
    Modules& all = modules();
    const std::lock_guard lock(all.mutex);
    return all.code_problem;
}

bool names_gpus(const compile::RunConfig& config) {
    return !compile::gpus_named(named_devices(config)).empty();
}

exec::Compute compute_of(const compile::RunConfig& config) {
    if (!names_gpus(config)) {
        refuse_precision_of_gpus(config);
        return backends();
    }
    return compute_on(named_devices(config));
}

exec::Compute compute_on(const std::string& devices) {
    std::vector<int> numbers = compile::gpus_named(devices);
    // Counted and not described, which would give the GPUs of others a context, too.
    const weft_module* cuda = nullptr;
    std::string missing;
    const std::int32_t count = count_gpus(cuda, missing);
    if (!missing.empty()) {
        no_gpus(devices, missing);
    }
    keep_own(numbers, count);
    for (const int number : numbers) {
        if (number >= count) {
            no_gpus(devices, "there is no GPU " + std::to_string(number) + ": this machine has " +
                                 std::to_string(count) + ", numbered from 0");
        }
    }
    return {{cuda->backend}, cuda->platform, cuda->collectives, numbers};
}

void take_one_gpu(int local_rank) {
    const std::lock_guard lock(modules().mutex);
    modules().local_rank = local_rank;
}

std::string missing_gpus() {
    std::error_code ignored;
    bool by_hand = false;
    {
        const std::lock_guard lock(modules().mutex);
        by_hand = modules().places.by_hand;
    }
    if (!by_hand && !fs::exists("/dev/nvidiactl", ignored) &&
        !fs::exists("/proc/driver/nvidia/version", ignored)) {
        return "no NVIDIA driver is loaded";
    }
    const weft_module* cuda = nullptr;
    std::string missing;
    count_gpus(cuda, missing);
    return missing;
}

exec::Compute all_gpus() {
    const weft_module* cuda = nullptr;
    std::string missing;
    const std::int32_t count = count_gpus(cuda, missing);
    WEFT_CHECK(missing.empty(), "somebody has looked whether there are GPUs");
    std::vector<int> numbers(static_cast<std::size_t>(count));
    std::iota(numbers.begin(), numbers.end(), 0);
    return {{cuda->backend}, cuda->platform, cuda->collectives, std::move(numbers)};
}

const weft_health* gpu_health() {
    Modules& all = modules();
    const std::lock_guard lock(all.mutex);
    return all.cuda != nullptr ? all.cuda->health : nullptr;
}

Gpus find_gpus() {
    Gpus out;
    const weft_module* cuda = nullptr;
    const std::int32_t count = count_gpus(cuda, out.missing);
    if (cuda == nullptr) {
        return out;
    }
    const weft_health& health = *cuda->health;
    for (std::int32_t i = 0; i < count; ++i) {
        if (health.look(i, &out.devices.emplace_back()) != WEFT_OK) {
            out.devices.clear();
            out.missing = health.last_error();
            break;
        }
        for (std::int32_t before = 0; before < i; ++before) {
            Gpus::Link link{before, i};
            if (health.link(before, i, &link.link) == WEFT_OK) {
                out.links.push_back(link);
            }
        }
    }
    weft_library libraries[WEFT_MOST_LIBRARIES];
    std::int32_t there = 0;
    if (health.libraries(libraries, &there) == WEFT_OK) {
        out.libraries.assign(libraries, libraries + there);
    }
    return out;
}

} // namespace weft::train
