// SPDX-License-Identifier: Apache-2.0
#include "core/launch/choose_way.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text.h"

#include <algorithm>
#include <unistd.h>

namespace weft::launch {
namespace {

struct NeededProgram {
    Way way;
    const char* name;
    const char* package; // Debian's
};
constexpr NeededProgram kNeeded[] = {{Way::ssh, "ssh", "openssh-client"},
                                     {Way::mpirun, "mpirun", "openmpi-bin"},
                                     {Way::slurm, "sbatch", "slurm-client"},
                                     {Way::slurm, "srun", "slurm-client"},
                                     {Way::kubernetes, "kubectl", "kubernetes-client"}};

bool elsewhere(const LaunchRequest& request, const std::string& own_name) {
    return std::any_of(request.hosts.begin(), request.hosts.end(), [&](const HostRanks& host) {
        return !is_this_machine(host.name, own_name);
    });
}

} // namespace

const std::vector<std::string>& way_names() {
    static const std::vector<std::string> kNames = {"processes", "ssh",      "mpirun",
                                                    "slurm",     "torchrun", "kubernetes"};
    return kNames;
}

std::string way_name(Way way) {
    return way_names().at(static_cast<std::size_t>(way));
}

Way way_of(const std::string& name) {
    const auto& names = way_names();
    const auto found = std::find(names.begin(), names.end(), name);
    WEFT_CHECK(found != names.end(), "an unknown way of starting ranks: " + name);
    return static_cast<Way>(found - names.begin());
}

WayChoice choose_way(const LaunchRequest& request, const std::string& backend,
                     const std::string& own_name) {
    const SlurmOptions& slurm = request.slurm;
    if (!slurm.time.empty() || !slurm.partition.empty() || !slurm.account.empty()) {
        return {Way::slurm, "options of Slurm are given"};
    }
    if (!request.kubernetes.image.empty()) {
        return {Way::kubernetes, "an image is given"};
    }
    if (backend == "mpi") {
        return {Way::mpirun, "the ranks are to talk over MPI"};
    }
    if (elsewhere(request, own_name)) {
        return {Way::ssh, "hosts other than this machine are named"};
    }
    return {Way::processes, "all ranks are on this machine"};
}

void require_programs(Way way, const LaunchRequest& request, const std::string& own_name,
                      const std::function<bool(const std::string&)>& installed) {
    const bool needed = way != Way::ssh || elsewhere(request, own_name);
    for (const NeededProgram& program : kNeeded) {
        if (needed && program.way == way && !installed(program.name)) {
            throw Error(ErrorKind::usage, "--with " + way_name(way),
                        std::string(program.name) + " is not installed on this machine",
                        std::string("Install it (on Debian: apt install ") + program.package +
                            "), choose another way, or look with --dry-run.");
        }
    }
}

bool is_installed(const std::string& program, const std::string& path) {
    const std::vector<std::string> folders = split(path, ':');
    return std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) {
        return ::access(((folder.empty() ? "." : folder) + "/" + program).c_str(), X_OK) == 0;
    });
}

} // namespace weft::launch
