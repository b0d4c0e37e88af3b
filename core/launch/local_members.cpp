// SPDX-License-Identifier: Apache-2.0
#include "core/launch/local_members.h"

#include "core/launch/shell_text.h"

namespace weft::launch {
namespace {

std::vector<std::string> program_words(const LaunchRequest& request, bool begun) {
    std::vector<std::string> out{request.program};
    const std::vector<std::string>& arguments = begun ? request.go_on : request.begin;
    out.insert(out.end(), arguments.begin(), arguments.end());
    return out;
}

Member direct_member(const LaunchRequest& request, const RankSeat& seat, bool begun) {
    Member out;
    out.rank = seat.rank;
    out.host = seat.host->name;
    out.words = program_words(request, begun);
    out.variables = rank_variables(request, seat);
    out.variables.emplace_back(kSecretVariable, request.secret);
    return out;
}

// What the shell of a host runs. It becomes the rank, so that $$ is its process; beside it a loop
// sends it the signals that come in. The loop keeps no output open, else ssh would wait for it.
std::string remote_script(const LaunchRequest& request, const RankSeat& seat, bool begun) {
    std::vector<std::string> words{"exec", "env"};
    for (const auto& [name, value] : rank_variables(request, seat)) {
        words.push_back(name + "=" + value);
    }
    for (const std::string& word : program_words(request, begun)) {
        words.push_back(word);
    }
    const std::string at_the_end = seat.rank == 0 ? " kill -s TERM $$;" : "";
    return "IFS= read -r WEFT_RUN_SECRET; export WEFT_RUN_SECRET; exec 3<&0; "
           "(while IFS= read -r s; do kill -s \"$s\" $$; done;" +
           at_the_end + ") <&3 3<&- >/dev/null 2>&1 & exec 3<&-; " + shell_line(words) +
           " </dev/null";
}

} // namespace

std::string member_line(const Member& member) {
    std::string out;
    for (const auto& [name, value] : member.variables) {
        out += name + "=" + shell_quoted(value) + " ";
    }
    return out + shell_line(member.words);
}

std::vector<Member> process_members(const LaunchRequest& request, bool begun) {
    std::vector<Member> out;
    for (const RankSeat& seat : seats_of(request)) {
        out.push_back(direct_member(request, seat, begun));
    }
    return out;
}

std::vector<std::string> ssh_words(const std::string& host) {
    // A host that does not answer for 15 s is lost, be it at the start or later.
    return {"ssh", "-T",
            "-o",  "BatchMode=yes",
            "-o",  "ConnectTimeout=15",
            "-o",  "ServerAliveInterval=5",
            "-o",  "ServerAliveCountMax=3",
            "--",  host};
}

std::vector<Member> ssh_members(const LaunchRequest& request, bool begun,
                                const std::string& own_name) {
    std::vector<Member> out;
    for (const RankSeat& seat : seats_of(request)) {
        if (is_this_machine(seat.host->name, own_name)) {
            out.push_back(direct_member(request, seat, begun));
            continue;
        }
        Member member;
        member.rank = seat.rank;
        member.host = seat.host->name;
        member.words = ssh_words(seat.host->name);
        // Whatever shell the user has there, sh reads the script.
        member.words.push_back("exec sh -c " + shell_quoted(remote_script(request, seat, begun)));
        member.reads_signals = true;
        member.reads_secret = true;
        out.push_back(std::move(member));
    }
    return out;
}

} // namespace weft::launch
