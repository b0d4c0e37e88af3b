// SPDX-License-Identifier: Apache-2.0
#include "app/cli/launch_request.h"

#include "app/cli/run_file.h"
#include "app/cli/store_paths.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/compile/mesh/mesh_config.h"
#include "core/launch/network.h"
#include "core/store/address.h"
#include "core/train/compute.h"
#include "core/train/record/run_folder.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <sys/random.h>
#include <unistd.h>

namespace weft::cli {
namespace {

namespace fs = std::filesystem;
using launch::HostRanks;
using launch::LaunchRequest;
using launch::Way;

constexpr int kPatienceMs = 30000;

std::string devices_of(const compile::RunConfig& config) {
    return config.section("mesh").at("devices").get<std::string>();
}

// N of "cpu:N", or as many as GPUs are named; 0: it says something else.
int named_devices(const compile::RunConfig& config) {
    const std::string text = devices_of(config);
    return text.starts_with("cpu:") || text.starts_with("cuda:")
               ? static_cast<int>(compile::devices_named(text).value_or(0))
               : 0;
}

std::vector<std::string> with_backend(const LaunchOptions& options) {
    std::vector<std::string> out = options.overrides;
    if (options.backend != "auto") {
        out.push_back("mesh.backend=\"" + options.backend + "\"");
    }
    return out;
}

// Hosts, and ranks for each: as many as are said, or as the mesh has devices.
std::vector<HostRanks> hosts_of(const LaunchOptions& options, const compile::RunConfig& config) {
    const int devices = named_devices(config);
    const bool counted = options.hosts.find(':') != std::string::npos || options.per_host > 0;
    const auto hosts = static_cast<int>(
        options.hosts.empty() ? options.nodes
                              : 1 + std::count(options.hosts.begin(), options.hosts.end(), ','));
    int per_host = options.per_host;
    if (!counted) {
        if (devices == 0 || devices % hosts != 0) {
            throw Error(ErrorKind::usage, "--per-host", "it is not said how many ranks a host gets",
                        devices == 0
                            ? "Say it, or set mesh.devices to cpu:N or cuda:N for N ranks in all."
                            : "Say it: " + std::to_string(devices) +
                                  " devices (mesh.devices) are not as many on each of " +
                                  std::to_string(hosts) + " hosts.");
        }
        per_host = devices / hosts;
    }
    if (!options.hosts.empty()) {
        return launch::parse_hosts(options.hosts, per_host);
    }
    return std::vector<HostRanks>(static_cast<std::size_t>(options.nodes),
                                  {"localhost", per_host, per_host});
}

// --set for a mesh of one device for each rank, unless it is one.
void fit_mesh(std::vector<std::string>& overrides, const compile::RunConfig& config, int ranks) {
    const std::string text = devices_of(config);
    const std::string kind = text.starts_with("cuda") ? "cuda:" : "cpu:";
    const bool fits = text.starts_with(kind) && compile::devices_named(text) == ranks;
    if (!fits) {
        overrides.push_back("mesh.devices=\"" + kind + std::to_string(ranks) + "\"");
    }
}

fs::path folder_for(const LaunchOptions& options, const fs::path& root, const std::string& name) {
    if (!options.run_dir.empty()) {
        const fs::path out = fs::absolute(options.run_dir).lexically_normal();
        if (!options.dry_run) {
            train::create_run_folder_at(out, options.target);
        }
        return out;
    }
    return options.dry_run ? train::next_run_folder(root, name)
                           : train::create_run_folder(root, name);
}

// nullopt: told.
std::optional<PreparedLaunch> read_training(const LaunchOptions& options) {
    PreparedLaunch out;
    out.overrides = with_backend(options);
    compile::CheckedRun checked = read_run_file(options.target, out.overrides, MadeUpData::refused);
    if (checked.ok()) {
        out.request.hosts = hosts_of(options, checked.config);
        fit_mesh(out.overrides, checked.config, launch::rank_count(out.request));
        checked = read_run_file(options.target, out.overrides, MadeUpData::refused);
    }
    print_diagnostics(checked.diagnostics);
    if (!checked.ok()) {
        return std::nullopt;
    }
    out.request.name = checked.config.name;
    out.request.gpus = train::names_gpus(checked.config);
    out.config = checked.config;
    return out;
}

std::optional<PreparedLaunch> read_resumption(const LaunchOptions& options,
                                              const Context& context) {
    PreparedLaunch out;
    const bool stored = store::is_address(options.target);
    out.run = fs::absolute(stored ? fetch_run(options.target, "latest", context).folder
                                  : fs::path(options.target))
                  .lexically_normal();
    out.run = out.run.has_filename() ? out.run : out.run.parent_path();
    out.overrides = with_backend(options);
    const compile::CheckedRun before = train::read_frozen_config(out.run);
    std::vector<std::string> fitting = out.overrides;
    if (before.ok()) {
        out.request.hosts = hosts_of(options, before.config);
        fit_mesh(fitting, before.config, launch::rank_count(out.request));
    }
    const compile::CheckedRun after = train::read_frozen_config(out.run, fitting);
    print_diagnostics(after.diagnostics);
    if (!before.ok() || !after.ok()) {
        return std::nullopt;
    }
    // What changes settings is a fork, as for `weft resume`.
    auto changes = compile::compare(before.config, after.config);
    std::erase_if(changes, [&](const compile::FieldChange& change) {
        return change.path == "mesh.backend" || (options.elastic && change.path == "mesh.devices");
    });
    out.fork = !options.run_dir.empty() || !changes.empty();
    if (out.fork) {
        out.overrides = std::move(fitting);
    }
    out.request.name = after.config.name;
    out.request.gpus = train::names_gpus(after.config);
    out.config = after.config;
    return out;
}

std::string random_hex() {
    std::array<unsigned char, 16> bytes{};
    if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
        throw Error(ErrorKind::runtime, "getrandom", "the system gives no random numbers");
    }
    std::string out;
    for (const unsigned char byte : bytes) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", byte);
        out += digits;
    }
    return out;
}

void split_claim(const std::string& text, launch::KubernetesOptions& kubernetes) {
    const std::size_t colon = text.find(":/");
    if (!text.empty() && (colon == std::string::npos || colon == 0)) {
        throw Error(ErrorKind::usage, "--claim", "'" + text + "' is not NAME:/PATH",
                    "Name a PersistentVolumeClaim and where pods find it, e.g. runs:/runs.");
    }
    if (!text.empty()) {
        kubernetes.claim = text.substr(0, colon);
        kubernetes.mount = text.substr(colon + 1);
    }
}

std::string remote_address(const PreparedLaunch& launch, const LaunchOptions& options) {
    const std::string& host = launch.request.hosts.front().name;
    if (options.dry_run) {
        return host.substr(host.rfind('@') + 1); // nobody is asked
    }
    if (!options.interface.empty()) {
        return launch::ask_interface_address(host, options.interface, ask_hosts);
    }
    return launch.choice.way == Way::ssh ? launch::ask_real_name(host, ask_hosts)
                                         : host.substr(host.rfind('@') + 1);
}

std::string local_address(const PreparedLaunch& launch, const LaunchOptions& options) {
    if (!options.interface.empty()) {
        return launch::address_of_interface(options.interface);
    }
    const auto& hosts = launch.request.hosts;
    const bool alone = std::all_of(hosts.begin(), hosts.end(), [&](const HostRanks& host) {
        return launch::is_this_machine(host.name, launch.own_name);
    });
    return alone ? "127.0.0.1" : launch::address_for_others();
}

// A mesh of the run on so many ranks.
bool fits(const PreparedLaunch& launch, int ranks) {
    const std::string devices = "mesh.devices=\"" +
                                std::string(launch.request.gpus ? "cuda:" : "cpu:") +
                                std::to_string(ranks) + "\"";
    return compile::read_run_config(std::string_view(launch.config.document.dump()),
                                    launch.config.base_dir, {devices})
        .ok();
}

// Hosts that a queue picks, or that are pods, meet at addresses which it makes.
bool meets_by_queue(Way way) {
    return way == Way::slurm || way == Way::kubernetes;
}

void check_combination(const PreparedLaunch& launch, const LaunchOptions& options) {
    const Way way = launch.choice.way;
    if (options.nodes > 1 && !options.hosts.empty()) {
        throw Error(ErrorKind::usage, "--nodes", "cannot be given together with --hosts",
                    "--nodes is for hosts that a queue picks.");
    }
    if (options.nodes > 1 && !meets_by_queue(way)) {
        throw Error(ErrorKind::usage, "--with " + launch::way_name(way),
                    "--nodes is for hosts that a queue picks", "Name the hosts with --hosts.");
    }
    const bool elsewhere = std::any_of(
        launch.request.hosts.begin(), launch.request.hosts.end(), [&](const HostRanks& host) {
            return !launch::is_this_machine(host.name, launch.own_name);
        });
    if (way == Way::processes && elsewhere) {
        throw Error(ErrorKind::usage, "--with processes", "starts ranks on this machine alone",
                    "Choose --with ssh or --with mpirun for --hosts " + options.hosts + ".");
    }
}

} // namespace

std::vector<launch::Answer> ask_hosts(const std::vector<std::vector<std::string>>& commands) {
    return launch::ask(commands, kPatienceMs);
}

std::optional<PreparedLaunch> read_launch(const LaunchOptions& options, const Context& context) {
    const bool run = store::is_address(options.target) || train::is_run_folder(options.target);
    std::optional<PreparedLaunch> out =
        run ? read_resumption(options, context) : read_training(options);
    if (!out) {
        return out;
    }
    LaunchRequest& request = out->request;
    out->hosts = request.hosts;
    request.program = options.program.empty() ? context.program.string() : options.program;
    request.interface = options.interface;
    request.restarts = options.restarts;
    request.as_root = ::geteuid() == 0;
    request.slurm = options.slurm;
    request.kubernetes = options.kubernetes;
    split_claim(options.claim, request.kubernetes);
    out->own_name = launch::own_host_name();
    out->choice = options.with == "auto"
                      ? launch::choose_way(request, options.backend, out->own_name)
                      : launch::WayChoice{launch::way_of(options.with), ""};
    check_combination(*out, options);
    if (meets_by_queue(out->choice.way) && options.hosts.empty()) {
        for (HostRanks& host : request.hosts) {
            host.name.clear(); // which the queue picks
        }
    }
    return out;
}

void make_place(PreparedLaunch& launch, const LaunchOptions& options, const Context& context) {
    LaunchRequest& request = launch.request;
    if (launch.begun()) {
        request.run_folder = launch.run.string();
        request.begin = {"resume", request.run_folder};
        if (options.elastic) {
            request.begin.emplace_back("--elastic");
        }
        for (const std::string& one : launch.overrides) {
            request.begin.insert(request.begin.end(), {"--set", one});
        }
    } else {
        // Known from the start: who starts failed ranks again must find what they saved.
        const fs::path root = launch.fork ? launch.run.parent_path() : context.runs_root;
        request.run_folder = folder_for(options, root, request.name).string();
        request.begin =
            launch.fork
                ? std::vector<std::string>{"resume", launch.run.string(), "--fork"}
                : std::vector<std::string>{"train", fs::absolute(options.target).lexically_normal(),
                                           "--run-dir"};
        request.begin.push_back(request.run_folder);
        for (const std::string& one : launch.overrides) {
            request.begin.insert(request.begin.end(), {"--set", one});
        }
    }
    request.go_on =
        launch.begun() ? request.begin : std::vector<std::string>{"resume", request.run_folder};
    if (options.elastic && !launch.begun()) {
        request.go_on.emplace_back("--elastic");
    }
    for (std::vector<std::string>* words : {&request.begin, &request.go_on}) {
        words->insert(words->end(), options.more.begin(), options.more.end());
    }
}

std::string take_hosts_that_answer(PreparedLaunch& launch) {
    std::vector<HostRanks> there = launch.hosts;
    const auto silent = launch::silent_hosts(there, launch.own_name, ask_hosts);
    std::erase_if(there, [&](const HostRanks& host) {
        return std::find(silent.begin(), silent.end(), host.name) != silent.end();
    });
    const int all = launch::rank_count(launch.hosts);
    int ranks = launch::rank_count(there);
    while (ranks > 0 && ranks < all && !fits(launch, ranks)) {
        --ranks;
    }
    const std::string names = join(silent, ", ");
    if (ranks == 0) {
        throw Error(ErrorKind::runtime, "--elastic",
                    there.empty() ? "no host answers: " + names
                                  : names + " does not answer, and the mesh of the run fits on no "
                                            "number of the ranks of other hosts",
                    "Start it again when the hosts are back: weft launch " +
                        launch.request.run_folder);
    }
    launch.request.hosts = launch::with_ranks(std::move(there), ranks);
    return silent.empty() ? ""
                          : names + (silent.size() == 1 ? " does" : " do") +
                                " not answer: the run goes on on " + std::to_string(ranks) +
                                " of " + std::to_string(all) + " ranks";
}

void choose_meeting_point(PreparedLaunch& launch, const LaunchOptions& options) {
    constexpr int kFirstPort = 20000;
    constexpr int kPorts = 40000;
    LaunchRequest& request = launch.request;
    request.secret = random_hex();
    request.master_port = options.port;
    if (meets_by_queue(launch.choice.way)) {
        return;
    }
    const bool here = launch::is_this_machine(request.hosts.front().name, launch.own_name);
    request.master_addr = here ? local_address(launch, options) : remote_address(launch, options);
    if (request.master_port == 0) {
        request.master_port =
            here ? launch::free_port(request.master_addr)
                 : kFirstPort + std::stoi(request.secret.substr(0, 6), nullptr, 16) % kPorts;
    }
}

} // namespace weft::cli
