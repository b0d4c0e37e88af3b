// SPDX-License-Identifier: Apache-2.0
// Which rank of how many a process is, by the environment that those who start processes leave:
// torchrun, mpirun, srun. Pure: variables are looked up by the caller.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace weft::launch {

/// A process among those of a run, as whoever started it says.
struct RankPlace {
    int rank = 0;
    int size = 1;
    int local_rank = 0; // among those of its host
    int local_size = 1;
    std::string master_addr; // where rank 0 listens
    int master_port = 0;
    std::string secret;     // of the run: the same for all ranks; may be empty
    std::string started_by; // "torchrun", "mpirun", "srun"
    bool mpi = false;       // OpenMPI or PMIx started it: MPI_Init will find the others
};

/// The value of a variable; null: it is not set. An empty value counts as not set.
using VariableOf = std::function<const char*(const char*)>;

/// Of torchrun's variables, else mpirun's, else srun's, else PMI's. nullopt: one process alone.
/// MASTER_ADDR and MASTER_PORT hold for all of them; where they are missing and all ranks are on
/// one host it is 127.0.0.1, on several hosts of Slurm the first, and a port made from the job's
/// id. Where torchrun listens at MASTER_PORT itself it is another one, made from it. Throws
/// weft::Error{usage} for variables that contradict each other, or cannot be.
std::optional<RankPlace> read_rank_place(const VariableOf& variable);

} // namespace weft::launch
