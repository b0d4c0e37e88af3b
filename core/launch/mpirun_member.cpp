// SPDX-License-Identifier: Apache-2.0
#include "core/launch/mpirun_member.h"

#include <algorithm>

namespace weft::launch {
namespace {

// sh becomes the rank, so that $$ is its process. Beside rank 0 a loop sends it the signals that
// come in; what other ranks print goes through sed, which says whose it is.
constexpr const char* kRankScript =
    "if [ \"$OMPI_COMM_WORLD_RANK\" = 0 ]; then exec 3<&0; "
    "(while IFS= read -r s; do kill -s \"$s\" $$; done) <&3 3<&- >/dev/null 2>&1 & exec 3<&-; "
    "exec \"$@\" </dev/null; fi; "
    "d=$(mktemp -d) && mkfifo \"$d/p\" && "
    "{ sed -u \"s/^/[rank $OMPI_COMM_WORLD_RANK $(hostname)] /\" <\"$d/p\" >&2 & "
    "exec 4>\"$d/p\"; rm -r \"$d\"; exec \"$@\" </dev/null >&4 2>&4 4>&-; }; "
    "exec \"$@\" </dev/null";

std::string host_list(const LaunchRequest& request) {
    std::string out;
    for (const HostRanks& host : request.hosts) {
        out += (out.empty() ? "" : ",") + host.name + ":" + std::to_string(host.places);
    }
    return out;
}

} // namespace

std::vector<std::string> mpirun_settings(const LaunchRequest& request) {
    std::vector<std::string> out;
    const auto add = [&](std::initializer_list<std::string> words) {
        out.insert(out.end(), words);
    };
    if (request.as_root) {
        add({"--allow-run-as-root"});
    }
    // Ranks have threads: each would get one core.
    add({"--bind-to", "none"});
    // Ranks that wait leave the core to those that compute.
    add({"--mca", "mpi_yield_when_idle", "1"});
    // When a rank has died mpirun waits so long before it sends SIGTERM, and again before SIGKILL:
    // time for rank 0 to say what happened. It waits even where no rank is left. (With
    // orte_abort_on_non_zero_status 0 it never ends, once a rank was killed and another fails.)
    add({"--mca", "odls_base_sigkill_timeout", "3"});
    if (!request.interface.empty()) {
        add({"--mca", "btl_tcp_if_include", request.interface});
        add({"--mca", "oob_tcp_if_include", request.interface});
        add({"-x", kInterfaceVariable});
    }
    if (!request.master_addr.empty()) {
        add({"-x", "MASTER_ADDR"});
    }
    if (request.master_port != 0) {
        add({"-x", "MASTER_PORT"});
    }
    add({"-x", kSecretVariable}); // the name alone: the value is in mpirun's environment
    return out;
}

Member mpirun_member(const LaunchRequest& request, bool begun) {
    Member out;
    out.host = request.hosts.front().name;
    out.words = {"mpirun", "-n", std::to_string(rank_count(request)), "--host", host_list(request)};
    const bool crowded =
        std::any_of(request.hosts.begin(), request.hosts.end(),
                    [](const HostRanks& host) { return host.ranks > host.places; });
    if (crowded) {
        // Ranks that mpirun may place as it likes, else: so many on each host.
        const auto same = std::all_of(request.hosts.begin(), request.hosts.end(), [&](auto& host) {
            return host.ranks == request.hosts.front().ranks;
        });
        out.words.emplace_back("--oversubscribe");
        if (same) {
            out.words.insert(out.words.end(),
                             {"--npernode", std::to_string(request.hosts.front().ranks)});
        }
    }
    for (const std::string& word : mpirun_settings(request)) {
        out.words.push_back(word);
    }
    out.words.insert(out.words.end(), {"sh", "-c", kRankScript, "weft-rank", request.program});
    const std::vector<std::string>& arguments = begun ? request.go_on : request.begin;
    out.words.insert(out.words.end(), arguments.begin(), arguments.end());
    if (!request.master_addr.empty()) {
        out.variables.emplace_back("MASTER_ADDR", request.master_addr);
    }
    if (request.master_port != 0) {
        out.variables.emplace_back("MASTER_PORT", std::to_string(request.master_port));
    }
    if (!request.interface.empty()) {
        out.variables.emplace_back(kInterfaceVariable, request.interface);
    }
    out.variables.emplace_back(kSecretVariable, request.secret);
    out.all_ranks = true;
    out.reads_signals = true;
    return out;
}

} // namespace weft::launch
