// SPDX-License-Identifier: Apache-2.0
#include "core/launch/rank_place.h"

#include "core/base/error.h"
#include "core/base/fnv1a.h"
#include "core/base/text.h"
#include "core/launch/slurm_text.h"

#include <charconv>
#include <cstdint>
#include <limits>

namespace weft::launch {
namespace {

constexpr int kNoLimit = std::numeric_limits<int>::max();

// Those that one program sets; null where it sets no such variable.
struct PlaceNames {
    const char* rank;
    const char* size;
    const char* local_rank;
    const char* local_size;
};
constexpr PlaceNames kTorchrun{"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"};
constexpr PlaceNames kOpenMpi{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                              "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"};
constexpr PlaceNames kPmi{"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"};

[[noreturn]] void refuse(const std::string& where, const std::string& text,
                         const std::string& hint) {
    throw Error(ErrorKind::usage, where, text, hint);
}

class Variables {
public:
    explicit Variables(const VariableOf& variable) : variable_(variable) {}

    std::string text(const char* name) const {
        const char* value = variable_(name);
        return value == nullptr ? std::string() : std::string(value);
    }
    bool has(const char* name) const { return !text(name).empty(); }
    std::string shown_as(const char* name) const {
        return std::string(name) + "=" + shown(text(name));
    }
    // nullopt: not set.
    std::optional<int> number(const char* name, int least, int most) const {
        const std::string value = text(name);
        if (value.empty()) {
            return std::nullopt;
        }
        int out = 0;
        const auto read = std::from_chars(value.data(), value.data() + value.size(), out);
        if (read.ec != std::errc() || read.ptr != value.data() + value.size()) {
            refuse(shown_as(name), "this is not a whole number", "Set it to one, or unset it.");
        }
        if (out < least || out > most) {
            refuse(shown_as(name),
                   most == kNoLimit
                       ? "it must be at least " + std::to_string(least)
                       : "it must be from " + std::to_string(least) + " to " + std::to_string(most),
                   "Correct it, or start the run with `weft launch`.");
        }
        return out;
    }

private:
    const VariableOf& variable_;
};

// What is known of the host's ranks without its variables.
struct LocalPlace {
    std::optional<int> rank, size;
};

void read_local(RankPlace& place, const Variables& variables, const PlaceNames& names,
                const LocalPlace& known) {
    const std::optional<int> size =
        known.size ? known.size : variables.number(names.local_size, 1, place.size);
    const std::optional<int> rank =
        known.rank ? known.rank : variables.number(names.local_rank, 0, place.rank);
    if (size && *size > 1 && !rank) {
        refuse(std::string(names.local_size) + "=" + std::to_string(*size),
               std::string(names.local_rank) + " is not set",
               "Set it to the number of this rank among those of its host.");
    }
    if (rank && *rank >= size.value_or(1)) {
        refuse(std::string(names.local_rank) + "=" + std::to_string(*rank),
               size ? "the ranks of this host are numbered from 0 to " + std::to_string(*size - 1) +
                          " (" + names.local_size + " - 1)"
                    : std::string(names.local_size) + " is not set",
               std::string("Set ") + names.local_size + " to the number of ranks of this host.");
    }
    place.local_rank = rank.value_or(0);
    place.local_size = size.value_or(1);
}

// nullopt: one process alone.
std::optional<RankPlace> read_numbers(const Variables& variables, const PlaceNames& names,
                                      const LocalPlace& known = {}) {
    const std::optional<int> size = variables.number(names.size, 1, kNoLimit);
    const std::optional<int> rank = variables.number(names.rank, 0, kNoLimit);
    if (rank && !size) {
        refuse(variables.shown_as(names.rank), std::string(names.size) + " is not set",
               std::string("Set ") + names.size + " to the number of ranks, or unset " +
                   names.rank + ".");
    }
    if (size && *size > 1 && !rank) {
        refuse(variables.shown_as(names.size), std::string(names.rank) + " is not set",
               "Start the ranks with `weft launch`, torchrun, mpirun or srun, or unset " +
                   std::string(names.size) + " for one process.");
    }
    if (rank && *rank >= *size) {
        refuse(variables.shown_as(names.rank),
               "ranks are numbered from 0 to " + std::to_string(*size - 1) + " (" + names.size +
                   " - 1)",
               "Correct one of the two.");
    }
    if (!size || *size == 1) {
        return std::nullopt;
    }
    RankPlace place;
    place.rank = *rank;
    place.size = *size;
    read_local(place, variables, names, known);
    return place;
}

// Ranks of this host, by what a job step says; nullopt: nothing does.
std::optional<int> slurm_local_size(const Variables& variables, int size) {
    const std::optional<int> node = variables.number("SLURM_NODEID", 0, kNoLimit);
    if (node && variables.has("SLURM_STEP_TASKS_PER_NODE")) {
        return slurm_tasks_of(variables.text("SLURM_STEP_TASKS_PER_NODE"), *node);
    }
    if (const auto nodes = variables.number("SLURM_NNODES", 1, kNoLimit); nodes && *nodes == 1) {
        return size;
    }
    return std::nullopt;
}

// In a batch script SLURM_PROCID is 0 and SLURM_NTASKS that of the job, but nothing started the
// other tasks: only what srun starts has a step with a number. Steps of Slurm itself (batch,
// interactive) have the highest ones.
bool in_slurm_step(const Variables& variables) {
    const std::string step = variables.text("SLURM_STEP_ID");
    std::uint32_t number = 0;
    const auto read = std::from_chars(step.data(), step.data() + step.size(), number);
    return !step.empty() && read.ec == std::errc() && number < 0xfffffff0U;
}

std::optional<RankPlace> read_slurm(const Variables& variables) {
    if (!in_slurm_step(variables)) {
        return std::nullopt;
    }
    const bool step_says = variables.has("SLURM_STEP_NUM_TASKS");
    const PlaceNames names{"SLURM_PROCID", step_says ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS",
                           "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"};
    const std::optional<int> size = variables.number(names.size, 1, kNoLimit);
    if (!size) {
        return std::nullopt;
    }
    // SLURM_NTASKS_PER_NODE may be the job's, and of a larger step.
    return read_numbers(variables, names, {std::nullopt, slurm_local_size(variables, *size)});
}

struct Starter {
    std::optional<RankPlace> place;
    std::string job; // what is the same for all ranks, and differs between jobs; may be empty
};

Starter read_other_starters(const Variables& variables) {
    if (auto place = read_numbers(variables, kOpenMpi)) {
        place->started_by = "mpirun";
        place->mpi = true;
        return {place, variables.has("PMIX_NAMESPACE") ? variables.text("PMIX_NAMESPACE")
                                                       : variables.text("OMPI_MCA_orte_hnp_uri")};
    }
    if (variables.has(kOpenMpi.size)) {
        return {}; // mpirun -n 1, maybe as a step of Slurm, whose variables are its own
    }
    if (auto place = read_slurm(variables)) {
        place->started_by = "srun";
        place->mpi = variables.text("PMIX_RANK") == std::to_string(place->rank);
        return {place, variables.text("SLURM_JOB_ID") + "." + variables.text("SLURM_STEP_ID")};
    }
    if (auto place = read_numbers(variables, kPmi)) {
        place->started_by = "mpirun"; // MPICH's; OpenMPI does not find ranks by its protocol
        return {place, variables.text("PMI_ID")};
    }
    return {};
}

Starter read_torchrun(const Variables& variables) {
    LocalPlace known;
    Starter others;
    // A script under mpirun or srun may set RANK and WORLD_SIZE from theirs, and no more.
    if (!variables.has(kTorchrun.local_rank) || !variables.has(kTorchrun.local_size)) {
        others = read_other_starters(variables);
        const bool same = others.place &&
                          variables.text(kTorchrun.rank) == std::to_string(others.place->rank) &&
                          variables.text(kTorchrun.size) == std::to_string(others.place->size);
        others.place = same ? others.place : std::nullopt;
    }
    if (others.place && !variables.has(kTorchrun.local_rank)) {
        known.rank = others.place->local_rank;
    }
    if (others.place && !variables.has(kTorchrun.local_size)) {
        known.size = others.place->local_size;
    }
    std::optional<RankPlace> place = read_numbers(variables, kTorchrun, known);
    if (place) {
        place->started_by = others.place ? others.place->started_by : "torchrun";
        place->mpi = others.place && others.place->mpi;
    }
    return {place, others.place ? others.job : std::string()};
}

// Of all of the text, into ports that are rarely taken.
int port_of_job(std::string_view job) {
    Fnv1a hash;
    hash.add(std::as_bytes(std::span(job)));
    return 20000 + static_cast<int>(hash.value() % 40000);
}

// torchrun itself listens at MASTER_PORT then, for PyTorch's ranks.
int port_beside(int taken, const std::string& run_id) {
    const int port = port_of_job("torchrun." + run_id + "." + std::to_string(taken));
    return port == taken ? port + 1 : port;
}

std::string first_host_of_slurm(const Variables& variables) {
    for (const char* list : {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"}) {
        if (const auto host = first_slurm_host(variables.text(list))) {
            return *host;
        }
    }
    return variables.text("SLURM_LAUNCH_NODE_IPADDR");
}

void find_master(RankPlace& place, const std::string& job, const Variables& variables) {
    const std::string ranks = "rank " + std::to_string(place.rank) + " of " +
                              std::to_string(place.size) + ", started by " + place.started_by;
    place.master_addr = variables.text("MASTER_ADDR");
    if (place.master_addr.find_first_of(" \t\n/") != std::string::npos) {
        refuse(variables.shown_as("MASTER_ADDR"), "this is not the name or address of a host",
               "Set it to the host of rank 0.");
    }
    if (place.master_addr.empty() && place.started_by == "srun" && place.local_size < place.size) {
        place.master_addr = first_host_of_slurm(variables);
    }
    if (place.master_addr.empty()) {
        if (place.local_size < place.size) {
            refuse(ranks, "MASTER_ADDR is not set, and the ranks are on several hosts",
                   "Set MASTER_ADDR to the host of rank 0 and MASTER_PORT to a free port of it, "
                   "the same for all ranks, or start the run with `weft launch`.");
        }
        place.master_addr = "127.0.0.1";
    }
    std::optional<int> port = variables.number("MASTER_PORT", 1024, 65535);
    if (!port && job.empty()) {
        refuse(ranks, "MASTER_PORT is not set",
               "Set MASTER_PORT to a free port (1024 to 65535) of the host of rank 0, the same for "
               "all "
               "ranks, or start the run with `weft launch`.");
    }
    if (port && variables.text("TORCHELASTIC_USE_AGENT_STORE") == "True") {
        port = port_beside(*port, variables.text("TORCHELASTIC_RUN_ID"));
    }
    place.master_port = port ? *port : port_of_job(job);
}

} // namespace

std::optional<RankPlace> read_rank_place(const VariableOf& variable) {
    const Variables variables(variable);
    const bool torchrun = variables.has(kTorchrun.rank) ||
                          variables.number(kTorchrun.size, 1, kNoLimit).value_or(1) > 1;
    Starter starter = torchrun ? read_torchrun(variables) : read_other_starters(variables);
    if (starter.place) {
        find_master(*starter.place, starter.job, variables);
        starter.place->secret = variables.text("WEFT_RUN_SECRET");
    }
    return starter.place;
}

} // namespace weft::launch
