// SPDX-License-Identifier: Apache-2.0
#include "core/launch/check_hosts.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/launch/local_members.h"
#include "core/launch/shell_text.h"

namespace weft::launch {
namespace {

constexpr int kNoProgram = 127;

std::vector<std::string> remote_words(const std::string& host,
                                      const std::vector<std::string>& words) {
    std::vector<std::string> out = ssh_words(host);
    out.push_back(shell_line(words));
    return out;
}

// What is wrong with a host; empty: nothing.
std::string version_problem(const Answer& answer, const std::string& program,
                            const std::string& version) {
    if (answer.code == -1) {
        return "does not answer";
    }
    if (answer.code == kSshFailed) {
        return "cannot be reached: " + shown(last_line(answer.error), 200);
    }
    if (answer.code == kNoProgram || answer.code == kNoProgram - 1) {
        return "has no " + program + " that can be run";
    }
    const std::string said = last_line(answer.out);
    if (answer.code != 0) {
        return "cannot run " + program + " --version: " + shown(last_line(answer.error), 200);
    }
    return said == version ? "" : "has " + shown(said);
}

} // namespace

void check_versions(const LaunchRequest& request, const std::string& version,
                    const std::string& own_name, const AskHosts& ask) {
    std::vector<std::string> hosts;
    std::vector<std::vector<std::string>> commands;
    for (const HostRanks& host : request.hosts) {
        if (!is_this_machine(host.name, own_name)) {
            hosts.push_back(host.name);
            commands.push_back(remote_words(host.name, {request.program, "--version"}));
        }
    }
    const std::vector<Answer> answers = ask(commands);
    std::string problems;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        const std::string problem = version_problem(answers.at(i), request.program, version);
        if (!problem.empty()) {
            problems += (problems.empty() ? "" : "; ") + hosts[i] + " " + problem;
        }
    }
    if (!problems.empty()) {
        throw Error(ErrorKind::usage, "--hosts", problems,
                    "This is " + version +
                        ". Every host needs the same, at the same path or at that of --program, "
                        "and must take your ssh key without a question.");
    }
}

std::vector<std::string> silent_hosts(const std::vector<HostRanks>& hosts,
                                      const std::string& own_name, const AskHosts& ask) {
    std::vector<std::string> names;
    std::vector<std::vector<std::string>> commands;
    for (const HostRanks& host : hosts) {
        if (!is_this_machine(host.name, own_name)) {
            names.push_back(host.name);
            commands.push_back(remote_words(host.name, {"true"}));
        }
    }
    const std::vector<Answer> answers = ask(commands);
    std::vector<std::string> out;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (answers.at(i).code != 0) {
            out.push_back(names[i]);
        }
    }
    return out;
}

std::string ask_interface_address(const std::string& host, const std::string& interface,
                                  const AskHosts& ask) {
    const Answer answer =
        ask({remote_words(host, {"ip", "-o", "-4", "addr", "show", "dev", interface})}).front();
    // "2: eth0    inet 10.0.0.2/24 brd ..."
    const std::size_t found = answer.out.find(" inet ");
    if (answer.code != 0 || found == std::string::npos) {
        throw Error(ErrorKind::usage, "--interface " + shown(interface),
                    host + " has no such interface with an IPv4 address: " +
                        shown(last_line(answer.error), 200),
                    "See `ip -4 addr` there.");
    }
    const std::size_t begin = found + 6;
    return answer.out.substr(begin, answer.out.find_first_of("/ ", begin) - begin);
}

std::string ask_real_name(const std::string& host, const AskHosts& ask) {
    const Answer answer = ask({{"ssh", "-G", "--", host}}).front();
    for (const std::string& line : split(answer.code == 0 ? answer.out : "", '\n')) {
        if (line.starts_with("hostname ")) {
            return std::string(trim(line.substr(9)));
        }
    }
    return host.substr(host.rfind('@') + 1);
}

} // namespace weft::launch
