// SPDX-License-Identifier: Apache-2.0
#include "core/train/ranks/rank_team.h"

#include "core/base/error.h"
#include "core/base/machine.h"
#include "core/compile/mesh/mesh_config.h"
#include "core/exec/ranks/serve_device.h"
#include "core/exec/ranks/type_words.h"
#include "core/plan/plan_digest.h"
#include "core/train/compute.h"
#include "core/train/planning.h"
#include "core/train/ranks/load_transport.h"
#include "core/train/ranks/rank_looks.h"
#include "core/train/ranks/rank_rows.h"
#include "core/train/ranks/rank_shards.h"
#include "core/train/record/host_info.h"
#include "core/train/self_test/gpu_verdict.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <sched.h>
#include <unistd.h>
#include <utility>

namespace weft::train {
namespace {

using config::Json;

constexpr const char* kGpuBackend = "nccl";

std::string devices_text(const compile::RunConfig& config) {
    return config.section("mesh").at("devices").get<std::string>();
}

/// For the kernels of one rank.
int rank_threads(const RankTeamOptions& options) {
    if (options.threads > 0) {
        return options.threads;
    }
    const int usable = read_machine().usable_cores;
    cpu_set_t own;
    const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
    const bool shared_out = ::sched_getaffinity(0, sizeof(own), &own) == 0 &&
                            static_cast<long>(CPU_COUNT(&own)) * options.local_size <= online;
    return std::max(1, shared_out ? usable : usable / options.local_size);
}

exec::RankIdentity own_identity(const RankTeamOptions& options) {
    exec::RankIdentity out;
    out.version = options.version;
    out.instructions = weft_cpu_instruction_set();
    out.host = host_json().at("name").get<std::string>();
    out.process = ::getpid();
    out.threads = rank_threads(options);
    out.memory_free_bytes = read_machine().memory_free_bytes;
    return out;
}

/// `address` is one of this machine that the others reach, where no interface was named.
std::unique_ptr<exec::comm::Transport>
own_transport(const std::string& name, const RankTeamOptions& options, const std::string& address) {
    const std::string& interface = options.interface.empty() ? address : options.interface;
    return load_transport(name, {options.rank, options.size, interface.c_str()});
}

/// Whoever reaches the port would be a rank.
void require_secret(const RankTeamOptions& options) {
    if (options.secret.empty() && !exec::is_loopback(options.address)) {
        throw Error(ErrorKind::usage, "WEFT_RUN_SECRET",
                    "is not set, and rank 0 would listen at " + options.address +
                        " for anybody to take part in the run",
                    "set it to the same random text for all ranks; `weft launch` does so");
    }
}

/// On many systems a machine's own name means the machine for itself alone.
void require_reachable(const RankTeamOptions& options) {
    if (options.local_size < options.size && exec::is_loopback(options.address)) {
        throw Error(ErrorKind::usage, "MASTER_ADDR " + options.address,
                    "is this machine for itself alone, and ranks run on other hosts",
                    "name the address by which other hosts reach it");
    }
}

Json json_of(const plan::PlanDigest& digest) {
    Json out = Json::array();
    for (const auto& [part, text] : digest) {
        out.push_back({part, text});
    }
    return out;
}

/// What plans want to know of data, which ranks have not opened then.
Json json_of(const data::DataOutline& data) {
    return {{"input", exec::to_json(data.sample.input)},
            {"target", exec::to_json(data.sample.target)},
            {"classes", data.sample.classes},
            {"samples", data.samples},
            {"identifiers", data.sample.identifiers},
            {"has_validation", data.has_validation},
            {"has_test", data.has_test},
            {"cache_bytes", data.cache_bytes},
            {"test_cache_bytes", data.test_cache_bytes},
            {"largest_block", data.largest_block}};
}

data::DataOutline outline_of(const Json& document) {
    data::DataOutline out;
    out.sample.input = exec::type_of(document.at("input"));
    out.sample.target = exec::type_of(document.at("target"));
    out.sample.classes = document.at("classes").get<std::int64_t>();
    out.sample.identifiers = document.at("identifiers").get<std::int64_t>();
    out.samples = document.at("samples").get<std::int64_t>();
    out.has_validation = document.at("has_validation").get<bool>();
    out.has_test = document.at("has_test").get<bool>();
    out.cache_bytes = document.at("cache_bytes").get<std::int64_t>();
    out.test_cache_bytes = document.at("test_cache_bytes").get<std::int64_t>();
    out.largest_block = document.at("largest_block").get<std::int64_t>();
    return out;
}

compile::RunConfig config_of(const Json& setup) {
    compile::CheckedRun checked =
        compile::read_run_config(setup.at("config"), setup.at("base_dir").get<std::string>(), {});
    if (!checked.ok()) {
        throw Error(ErrorKind::usage, "the configuration of rank 0",
                    "is not valid here: " + config::to_text(checked.diagnostics.front()));
    }
    return std::move(checked.config);
}

/// The plan of the hub, made here.
std::shared_ptr<const plan::ExecutionPlan> same_plan(const compile::RunConfig& config,
                                                     const Json& setup) {
    PlanTarget target;
    target.limit_is_of_gpus = names_gpus(config);
    target.threads = setup.at("threads").get<int>();
    target.device_threads = setup.at("device_threads").get<int>();
    target.processes = setup.at("processes").get<int>();
    if (!setup.at("limit_bytes").is_null()) {
        target.limit_bytes = setup.at("limit_bytes").get<std::int64_t>();
    }
    auto plan = std::make_shared<const plan::ExecutionPlan>(
        plan_run(config, outline_of(setup.at("data")), target, {}));
    plan::PlanDigest wanted;
    for (const Json& part : setup.at("plan")) {
        wanted.emplace_back(part.at(0).get<std::string>(), part.at(1).get<std::string>());
    }
    if (const std::string part = plan::first_difference(wanted, plan::digest_of(*plan));
        !part.empty()) {
        throw Error(ErrorKind::device, part,
                    "was planned here in another way than on rank 0: the kernels of this host are "
                    "others",
                    "use the same version on all hosts");
    }
    return plan;
}

/// The only GPU of this process, once it has passed.
Json own_gpu(const std::string& devices) {
    const exec::Compute own = compute_on(devices);
    require_passed(own, {});
    const FoundGpu gpu = found_gpu(own.devices.front());
    return {{"name", gpu.name}, {"free_bytes", gpu.free_bytes.value_or(0)}};
}

/// The GPU with the least free memory sets the limit of all.
PlanTarget limited_by_gpus(const std::string& devices, exec::RankHub& hub, PlanTarget out) {
    std::vector<exec::Frame> told = hub.ask_all({{"do", "gpu"}, {"devices", devices}});
    told.front().head = own_gpu(devices);
    out.limit_is_of_gpus = true;
    out.limit_bytes.reset();
    for (int rank = 0; rank < hub.size(); ++rank) {
        const Json& gpu = told[static_cast<std::size_t>(rank)].head;
        const auto free_bytes = gpu.at("free_bytes").get<std::int64_t>();
        if (!out.limit_bytes || free_bytes < *out.limit_bytes) {
            out.limit_bytes = free_bytes;
            out.limit_basis = "the free memory of the GPU of rank " + std::to_string(rank) +
                              " on " + hub.identity(rank).host + ", " +
                              gpu.at("name").get<std::string>();
        }
    }
    return out;
}

} // namespace

void check_ranks(const compile::RunConfig& config, int ranks) {
    const auto devices = devices_text(config);
    const std::string kind = names_gpus(config) ? "cuda:" : "cpu:";
    const std::int64_t count = compile::devices_named(devices).value_or(1);
    if (count != ranks) {
        throw Error(ErrorKind::usage, "mesh.devices",
                    "'" + devices + "' is " + std::to_string(count) + " devices, and " +
                        std::to_string(ranks) + " ranks were started: each rank is one device",
                    "start " + std::to_string(count) + " ranks, set mesh.devices to " + kind +
                        std::to_string(ranks) + ", or resume with --elastic");
    }
    const auto backend = config.section("mesh").at("backend").get<std::string>();
    if (backend == "in_process") {
        throw Error(ErrorKind::usage, "mesh.backend",
                    "'in_process' is for devices of one process, and " + std::to_string(ranks) +
                        " ranks were started",
                    "use auto, or start it once");
    }
    if (backend != "auto" && names_gpus(config) != (backend == kGpuBackend)) {
        throw Error(ErrorKind::usage, "mesh.backend",
                    "'" + backend + "' does not move what " +
                        (names_gpus(config) ? "GPUs hold" : "the host holds"),
                    names_gpus(config) ? "use auto or nccl" : "use auto, mpi or gloo");
    }
}

struct RankTeam::State {
    explicit State(RankTeamOptions given) : options(std::move(given)) {}

    const RankTeamOptions options;
    std::string transport_name;
    std::unique_ptr<exec::RankHub> hub;
    std::optional<RankSaves> saves;
    std::optional<RankRows> rows;
    std::mutex mutex;
    std::function<void(const exec::RankNews&)> news;
};

RankTeam::RankTeam(RankTeamOptions options) : state_(std::make_unique<State>(std::move(options))) {
    State& state = *state_;
    require_secret(state.options);
    require_reachable(state.options);
    exec::RankHubOptions hub;
    hub.size = state.options.size;
    hub.address = state.options.address;
    hub.port = state.options.port;
    hub.secret = state.options.secret;
    hub.identity = own_identity(state.options);
    hub.join_timeout_s = state.options.join_timeout_s;
    hub.news = [&state](const exec::RankNews& news) {
        const std::lock_guard lock(state.mutex);
        if (state.news) {
            state.news(news);
        }
    };
    state.hub = std::make_unique<exec::RankHub>(std::move(hub));
}

RankTeam::~RankTeam() = default;

// The host with the least memory for each of its ranks sets the limit of all; the rank with the
// fewest threads those of all, so that every kernel is the same everywhere.
PlanTarget RankTeam::target(const compile::RunConfig& config, PlanTarget out) const {
    out.processes = state_->hub->size();
    if (names_gpus(config)) {
        return limited_by_gpus(devices_text(config), *state_->hub, std::move(out));
    }
    const exec::RankHub& hub = *state_->hub;
    std::map<std::string, int> ranks_of;
    out.device_threads = hub.identity(0).threads;
    for (int rank = 0; rank < hub.size(); ++rank) {
        ++ranks_of[hub.identity(rank).host];
        out.device_threads = std::min(out.device_threads, hub.identity(rank).threads);
    }
    for (int rank = 0; rank < hub.size(); ++rank) {
        const exec::RankIdentity& who = hub.identity(rank);
        const std::int64_t limit = who.memory_free_bytes / ranks_of[who.host] * hub.size();
        if (rank == 0 || limit < *out.limit_bytes) {
            out.limit_bytes = limit;
            out.limit_basis = "the free memory of host " + who.host + " for " +
                              std::to_string(ranks_of[who.host]) + " of " +
                              std::to_string(hub.size()) + " ranks";
        }
    }
    return out;
}

void RankTeam::on_news(std::function<void(const exec::RankNews&)> news) {
    const std::lock_guard lock(state_->mutex);
    state_->news = std::move(news);
}

void RankTeam::gather(const std::stop_token& stop) {
    state_->hub->gather(stop);
}

void RankTeam::set_up(const TeamPlan& team_plan) {
    State& state = *state_;
    if (names_gpus(team_plan.config)) {
        state.transport_name = kGpuBackend; // they meet when they are opened
    } else {
        const auto backend = team_plan.config.section("mesh").at("backend").get<std::string>();
        state.transport_name = chosen_transport(backend, state.options.started_by_mpi);
        state.hub->ask_all({{"do", "transport"}, {"name", state.transport_name}});
        state.hub->connect(
            own_transport(state.transport_name, state.options, state.options.address),
            team_plan.timeout_s,
            team_plan.config.section("training").at("deterministic").get<bool>()
                ? exec::comm::Sums::in_rank_order
                : exec::comm::Sums::by_host);
    }
    Json setup{{"do", "set up"},
               {"config", team_plan.config.document},
               {"base_dir", std::filesystem::absolute(team_plan.config.base_dir).string()},
               {"threads", team_plan.threads},
               {"device_threads", team_plan.device_threads},
               {"processes", state.hub->size()},
               {"data", json_of(team_plan.data)},
               {"timeout_s", team_plan.timeout_s},
               {"plan", json_of(plan::digest_of(*team_plan.plan))}};
    setup["limit_bytes"] = team_plan.limit_bytes ? Json(*team_plan.limit_bytes) : Json(nullptr);
    state.hub->ask_all(setup);
    state.saves.emplace(*state.hub, team_plan.run_folder);
    state.rows.emplace(*state.hub, team_plan.plan);
}

RankSaves& RankTeam::saves() {
    return *state_->saves;
}

RankRows& RankTeam::rows() {
    return *state_->rows;
}

exec::RankHub& RankTeam::hub() {
    return *state_->hub;
}

const std::string& RankTeam::transport() const {
    return state_->transport_name;
}

Served serve_rank(const RankTeamOptions& options, const std::function<void()>& joined) {
    exec::RankMemberOptions member_options;
    member_options.rank = options.rank;
    member_options.size = options.size;
    member_options.address = options.address;
    member_options.port = options.port;
    member_options.secret = options.secret;
    member_options.identity = own_identity(options);
    member_options.join_timeout_s = options.join_timeout_s;
    std::unique_ptr<exec::comm::Transport> transport; // goes after the member
    exec::RankMember member(std::move(member_options));
    joined();
    for (;;) {
        exec::Frame command;
        exec::RankMember::Next next = member.next(command);
        if (next == exec::RankMember::Next::command) {
            try {
                const auto wanted = command.head.at("do").get<std::string>();
                if (wanted == "transport") {
                    transport = own_transport(command.head.at("name").get<std::string>(), options,
                                              member.own_address());
                    member.answer();
                } else if (wanted == "gpu") {
                    member.answer(own_gpu(command.head.at("devices").get<std::string>()));
                } else if (wanted == "set up") {
                    const compile::RunConfig config = config_of(command.head);
                    auto plan = same_plan(config, command.head);
                    exec::ExecutorOptions run;
                    run.threads = command.head.at("device_threads").get<int>();
                    run.exchange_timeout_s = command.head.at("timeout_s").get<double>();
                    RankShards shards(member, plan);
                    RankLooks looks(member, plan);
                    RankLoaders loaders(member, config, plan);
                    next = exec::serve_device(member, std::move(plan), compute_of(config), run,
                                              [&](const exec::Frame& other, exec::Device& device) {
                                                  return loaders.act(other, device) ||
                                                         shards.act(other, device) ||
                                                         looks.act(other, device);
                                              });
                } else {
                    WEFT_CHECK(transport != nullptr && member.connect(command, *transport),
                               "the hub sets ranks up in order: " + wanted);
                }
            } catch (const Error& fault) {
                member.answer(fault); // the hub ends the run
            } catch (const std::exception& fault) {
                member.answer(Error(ErrorKind::device, "", fault.what()));
            }
        }
        if (next != exec::RankMember::Next::command) {
            return next == exec::RankMember::Next::end ? Served::well : Served::failed;
        }
    }
}

} // namespace weft::train
