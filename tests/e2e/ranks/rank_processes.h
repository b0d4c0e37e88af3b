// SPDX-License-Identifier: Apache-2.0
// The processes of one run: `weft train` started once for each rank, as torchrun or mpirun does.
#pragma once

#include "tests/e2e/weft_process.h"

#include <memory>

namespace weft::test {

struct RankOptions {
    int ranks = 2;
    QString secret = "0123456789abcdef";
    QStringList environment; // on top of that of ranks
    QString address = "127.0.0.1"; // of rank 0
    int ranks_of_a_host = 0;       // 0: all of them
    /// What starts the program of a rank: {"ip", "netns", "exec", "name"}; null: nothing else does.
    std::function<QStringList(int rank)> through{};
};

class RankProcesses {
public:
    /// `weft` with these arguments on every rank.
    RankProcesses(const QStringList& arguments, RankOptions options);
    ~RankProcesses();

    std::int64_t pid(int rank) const;
    void signal(int rank, int number);
    /// Waits until rank 0 has printed an event that fulfils `wanted` (--events).
    std::optional<train::Event> wait_for(const std::function<bool(const train::Event&)>& wanted);
    std::optional<train::Event> wait_for_step(std::int64_t step);
    /// Exit codes by rank; -1 for one that a signal ended or that did not end in time.
    std::vector<int> finish();
    std::string error_output(int rank);

private:
    std::vector<std::unique_ptr<QProcess>> processes_;
};

/// A port that nobody listens at now.
int free_port();

/// Through mpirun.
Finished run_mpi(int ranks, const QStringList& arguments);
bool has_mpirun();

/// Files of arrays in the newest checkpoint of a run, by name.
std::map<std::string, std::string> saved_arrays(const std::filesystem::path& run);
std::vector<double> losses_of(const std::filesystem::path& run);

} // namespace weft::test
