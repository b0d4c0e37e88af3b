// SPDX-License-Identifier: Apache-2.0
// The libraries that move bytes between the processes of a run, out of modules that are loaded when
// a run asks for one.
#pragma once

#include "core/exec/comm/transport.h"

#include <memory>
#include <string>
#include <vector>

namespace weft::train {

struct TransportChoice {
    std::string name;    // "mpi", "gloo"
    std::string library; // "Open MPI v4.1.4"; empty where it cannot be used
    std::string missing; // why it cannot
};

/// All that there are, in the order in which "auto" tries them. Loads their modules.
std::vector<TransportChoice> transports();

/// What mesh.backend comes to among ranks: "mpi" where mpirun or srun started them and this program
/// has it, else "gloo".
std::string chosen_transport(const std::string& backend, bool started_by_mpi);

/// Throws weft::Error{usage} that says what is missing, weft::Error{device} with the library's
/// words.
std::unique_ptr<exec::comm::Transport> load_transport(const std::string& name,
                                                      const exec::comm::TransportOptions& options);

} // namespace weft::train
