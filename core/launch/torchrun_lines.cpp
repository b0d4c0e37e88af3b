// SPDX-License-Identifier: Apache-2.0
#include "core/launch/torchrun_lines.h"

#include "core/launch/shell_text.h"

namespace weft::launch {
namespace {

std::string exec_line(const LaunchRequest& request, const std::vector<std::string>& arguments) {
    std::vector<std::string> words{"exec", request.program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return shell_line(words);
}

} // namespace

std::string begin_or_go_on(const LaunchRequest& request) {
    return "if [ -e " + shell_quoted(request.run_folder + "/run.json") + " ]; then " +
           exec_line(request, request.go_on) + "; else " + exec_line(request, request.begin) +
           "; fi";
}

std::string torchrun_lines(const LaunchRequest& request) {
    std::string out = "# The same on all hosts: ranks that do not know it are refused.\n"
                      "export " +
                      std::string(kSecretVariable) + "=" + request.secret + "\n";
    if (!request.interface.empty()) {
        out += std::string("export ") + kInterfaceVariable + "=" + shell_quoted(request.interface) +
               "\n";
    }
    for (std::size_t i = 0; i < request.hosts.size(); ++i) {
        const HostRanks& host = request.hosts[i];
        const std::vector<std::string> words = {
            "torchrun",
            "--nnodes=" + std::to_string(request.hosts.size()),
            "--nproc-per-node=" + std::to_string(host.ranks),
            "--node-rank=" + std::to_string(i),
            "--master-addr=" + request.master_addr,
            "--master-port=" + std::to_string(request.master_port),
            "--max-restarts=" + std::to_string(request.restarts),
            "--no-python",
            "sh",
            "-c",
            begin_or_go_on(request)};
        out += "# On " + host.name + ":\n" + shell_line(words) + "\n";
    }
    return out;
}

} // namespace weft::launch
