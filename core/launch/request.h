// SPDX-License-Identifier: Apache-2.0
// What is to be started: the same request for every way of starting it. Each way is a pure function
// from it to text or arguments, in a file of its own.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::launch {

/// A host and how many ranks it gets.
struct HostRanks {
    std::string name; // as ssh takes it: "node1", "user@node1"
    int ranks = 1;
    int places = 1; // ranks that it is meant for; more of them share its cores
};

struct SlurmOptions {
    std::string time; // as sbatch --time takes it; may be empty, as the others
    std::string partition;
    std::string account;
};

struct KubernetesOptions {
    std::string kind = "JobSet"; // or "MPIJob"
    std::string image;
    std::string name_space;
    std::string claim; // a PersistentVolumeClaim
    std::string mount; // and where it appears in each pod
};

struct LaunchRequest {
    std::string name;               // of the run
    std::string program;            // weft, as the hosts find it
    std::vector<std::string> begin; // its arguments: train CONFIG --run-dir RUN ...
    std::vector<std::string> go_on; // where the folder holds a run already: resume RUN ...
    std::string run_folder;         // absolute
    std::vector<HostRanks> hosts;   // in the order of their ranks
    std::string master_addr;        // where rank 0 listens
    int master_port = 0;
    std::string secret;    // of the run, hexadecimal
    std::string interface; // of the network, "eth0"; may be empty
    int restarts = 0;      // so many at most
    bool gpus = false;     // each rank has one
    bool as_root = false;  // the user is root
    SlurmOptions slurm;
    KubernetesOptions kubernetes;
};

/// "a,b" or "a:4,b:2"; a host without a number gets `per_host` ranks, and with `per_host` above 0
/// all do. An IPv6 address with a number is written in brackets. Throws weft::Error{usage}.
std::vector<HostRanks> parse_hosts(std::string_view text, int per_host);

int rank_count(const LaunchRequest& request);
int rank_count(const std::vector<HostRanks>& hosts);
/// The hosts with `ranks` in all, at most as many as they have: the last ones lose theirs.
std::vector<HostRanks> with_ranks(std::vector<HostRanks> hosts, int ranks);

/// One rank of the request.
struct RankSeat {
    int rank = 0;
    int local_rank = 0;
    const HostRanks* host = nullptr;
};
/// In the order of their ranks. Seats point into the request.
std::vector<RankSeat> seats_of(const LaunchRequest& request);

using Variable = std::pair<std::string, std::string>;
/// torchrun's variables of a rank; not the secret, which no command line may show.
std::vector<Variable> rank_variables(const LaunchRequest& request, const RankSeat& seat);

/// This very machine: "localhost", "127.0.0.1", "::1" or `own_name`.
bool is_this_machine(const std::string& host, const std::string& own_name);

inline constexpr const char* kSecretVariable = "WEFT_RUN_SECRET";
inline constexpr const char* kInterfaceVariable = "WEFT_INTERFACE"; // over which ranks exchange

} // namespace weft::launch
