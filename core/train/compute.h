// SPDX-License-Identifier: Apache-2.0
// Which devices of this machine a run computes on: the host, or GPUs, whose back end lies in a
// module that is loaded when a run names them.
#pragma once

#include "core/compile/config/run_config.h"
#include "core/exec/compute.h"
#include "kernels/weft_health.h"

#include <filesystem>
#include <string>
#include <vector>

namespace weft::train {

/// The back ends of the host, best first.
std::vector<const weft_backend*> backends();

/// Where modules are, and where is kept what they need in the next process.
struct ModulePlaces {
    std::vector<std::filesystem::path> folders; // the first that has one counts
    std::filesystem::path code_folder;          // generated kernels; empty: made anew each time
    std::filesystem::path verdict_folder;       // of self-tests; empty: each process tests
    bool by_hand = false; // somebody named the first folder: there may be GPUs without a driver
};
/// Once, before anything is planned; a process that does not call it loads none.
void look_for_modules(ModulePlaces places);
bool loads_modules();
std::vector<std::filesystem::path> module_folders();
/// Which module is loaded, other with every build; "" before.
std::string module_build();
std::filesystem::path verdict_folder();
/// Why generated kernels are not kept, although a folder was named; "": they are.
std::string code_folder_problem();

/// Whether the configuration names GPUs.
bool names_gpus(const compile::RunConfig& config);
/// What its devices compute with. Throws weft::Error{usage} that says what is missing, or at
/// training.precision that the host does not compute so.
exec::Compute compute_of(const compile::RunConfig& config);
/// Of mesh.devices that names GPUs.
exec::Compute compute_on(const std::string& devices);
/// This process is one of several that have a GPU each, of its host the one of this number: from
/// now on that stands for the device of every place, of which the others are of other processes.
/// Where the process sees one GPU alone, as many who start processes have it, it is that one.
void take_one_gpu(int local_rank);

/// Why there is no GPU to use, in one sentence; "" where there is one. Quick where no driver is
/// loaded and no module was named by hand.
std::string missing_gpus();
/// Those that are there.
exec::Compute all_gpus();

/// How GPUs are asked how they are; null until a module is loaded.
const weft_health* gpu_health();

struct Gpus {
    struct Link {
        int one = 0;
        int other = 0;
        weft_device_link link{};
    };
    std::vector<weft_device_health> devices;
    std::vector<Link> links; // of all pairs, as far as they are known
    std::vector<weft_library> libraries;
    std::string missing; // why there are no devices, in one sentence
};
/// Those of this machine, none of which is opened.
Gpus find_gpus();

} // namespace weft::train
