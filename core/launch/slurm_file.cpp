// SPDX-License-Identifier: Apache-2.0
#include "core/launch/slurm_file.h"

#include "core/base/error.h"
#include "core/launch/shell_text.h"
#include "core/launch/slurm_text.h"

#include <algorithm>

namespace weft::launch {
namespace {

constexpr int kSecondsToSave = 120;

// sbatch reads the rest of the line, up to a blank outside of quotes.
std::string directive(const std::string& option, const std::string& value) {
    if (value.find_first_of("\"\n\\") != std::string::npos) {
        throw Error(ErrorKind::usage, option, "a batch file cannot hold '" + value + "'",
                    "Choose one without quotes, backslashes and line breaks.");
    }
    const bool blank = value.find_first_of(" \t#") != std::string::npos;
    return "#SBATCH " + option + "=" + (blank ? "\"" + value + "\"" : value) + "\n";
}

std::string node_list(const LaunchRequest& request) {
    std::string out;
    for (const HostRanks& host : request.hosts) {
        out += (out.empty() || host.name.empty() ? "" : ",") + host.name;
    }
    return out;
}

void check_time(const std::string& limit) {
    if (limit.empty() || limit == "UNLIMITED" || limit == "INFINITE") {
        return;
    }
    const auto seconds = slurm_seconds(limit);
    if (!seconds) {
        throw Error(ErrorKind::usage, "--time", "'" + limit + "' is no time limit of Slurm's",
                    "Write minutes (90), hours (1:30:00) or days (2-12:00:00).");
    }
    if (*seconds <= kSecondsToSave) {
        throw Error(ErrorKind::usage, "--time",
                    "'" + limit + "' leaves no time to train: saving begins " +
                        std::to_string(kSecondsToSave / 60) + " minutes before the end",
                    "Give more than that; '" + limit + "' is " + std::to_string(*seconds) +
                        " seconds to Slurm.");
    }
}

std::string directives(const LaunchRequest& request) {
    const bool even = std::all_of(request.hosts.begin(), request.hosts.end(), [&](auto& host) {
        return host.ranks == request.hosts.front().ranks;
    });
    if (!even) {
        throw Error(ErrorKind::usage, "--hosts", "Slurm gives all nodes of a job as many tasks",
                    "Give all hosts the same number of ranks.");
    }
    check_time(request.slurm.time);
    std::string out;
    out += directive("--job-name", request.name);
    out += directive("--nodes", std::to_string(request.hosts.size()));
    out += directive("--ntasks-per-node", std::to_string(request.hosts.front().ranks));
    if (request.gpus) { // all of a host's, of which each rank takes its own
        out += directive("--gpus-per-node", std::to_string(request.hosts.front().ranks));
    }
    if (const std::string nodes = node_list(request); !nodes.empty()) {
        out += directive("--nodelist", nodes);
    }
    for (const auto& [option, value] : {std::pair{"--time", request.slurm.time},
                                        {"--partition", request.slurm.partition},
                                        {"--account", request.slurm.account}}) {
        if (!value.empty()) {
            out += directive(option, value);
        }
    }
    out += directive("--output", request.run_folder + "/logs/slurm-%j.out");
    out += directive("--open-mode", "append");
    out += "#SBATCH --requeue\n";
    out += directive("--signal", "B:USR1@" + std::to_string(kSecondsToSave));
    return out;
}

std::string arguments_line(const LaunchRequest& request, bool begun) {
    std::vector<std::string> words{request.program};
    const std::vector<std::string>& arguments = begun ? request.go_on : request.begin;
    words.insert(words.end(), arguments.begin(), arguments.end());
    return "set -- " + shell_line(words);
}

} // namespace

std::string slurm_file(const LaunchRequest& request) {
    std::string out = "#!/bin/bash\n" + directives(request) + "\n";
    out += "run=" + shell_quoted(request.run_folder) + "\n";
    out += "restarts=" + std::to_string(request.restarts) + "\n";
    out += "WEFT_RUN_SECRET=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')\n"
           "export WEFT_RUN_SECRET\n";
    if (request.master_port != 0) {
        out += "export MASTER_PORT=" + std::to_string(request.master_port) + "\n";
    }
    if (!request.interface.empty()) {
        out += "export WEFT_INTERFACE=" + shell_quoted(request.interface) + "\n";
    }
    out += R"(
# Before the time limit rank 0 saves and stops; the other ranks take no notice of the signal.
queue_again=no
waiting=no
save() {
    queue_again=yes
    waiting=yes
    scancel --signal=TERM "$SLURM_JOB_ID"
}
trap save USR1
trap 'waiting=yes' TERM

while :; do
    if [ -e "$run/run.json" ]; then
        )" +
           arguments_line(request, true) +
           R"(
    else
        )" +
           arguments_line(request, false) +
           R"(
    fi
    srun --kill-on-bad-exit=0 --wait=30 "$@" &
    step=$!
    wait "$step"
    code=$?
    while [ "$waiting" = yes ]; do # a signal ended the wait, not the step
        waiting=no
        wait "$step"
        code=$?
    done
    if [ "$code" = 75 ] && [ "$queue_again" = yes ]; then
        scontrol requeue "$SLURM_JOB_ID"
        exit 75
    fi
    case $code in
        0 | 2 | 5 | 75) exit "$code" ;;
    esac
    if [ "$restarts" -le 0 ] || [ "$queue_again" = yes ]; then
        exit "$code"
    fi
    restarts=$((restarts - 1))
    echo "weft: the ranks ended with $code and are started again, $restarts more times at most" >&2
done
)";
    return out;
}

} // namespace weft::launch
