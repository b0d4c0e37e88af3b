// SPDX-License-Identifier: Apache-2.0
// weft hosts list|add|remove|check|runs|start|tell|follow|fetch|copy: runs on other machines,
// through the user's OpenSSH.
#include "app/cli/commands/commands.h"
#include "app/cli/json_output.h"
#include "app/cli/run_file.h"
#include "app/cli/signals.h"
#include "core/base/build_config.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/hosts/mirror.h"
#include "core/hosts/remote.h"
#include "core/train/control/control_socket.h"
#include "core/train/start_check.h"

#include <cstdio>
#include <functional>

namespace weft::cli {
namespace {

namespace fs = std::filesystem;
using config::Json;

constexpr std::int64_t kMostConfigBytes = std::int64_t{64} << 20;

struct HostsOptions {
    hosts::Host host; // of add
    std::string name;
    std::string run;
    std::string config;
    std::string to;
    std::string checkpoint = "latest";
    std::string data;
    bool with_data = false;
    std::vector<std::string> words;     // of tell
    std::vector<std::string> overrides; // --set
    bool json = false;
    bool quiet = false;
};

hosts::Connection connection_to(const HostsOptions& options, const Context& context,
                                std::stop_token stop = {}) {
    return {hosts::find_host(context.runs_root, options.name),
            train::control_folder(context.runtime_folder, context.temp_folder), std::move(stop)};
}

/// Where the run lies or will lie here.
fs::path mirror_for(const HostsOptions& options, const std::string& run, const Context& context) {
    return options.to.empty() ? hosts::mirror_folder(context.runs_root, {options.name, run})
                              : fs::absolute(options.to).lexically_normal();
}

int list_hosts(const HostsOptions& options, const Context& context) {
    const auto all = hosts::read_hosts(context.runs_root);
    Json out = Json::array();
    for (const hosts::Host& host : all) {
        out.push_back({{"name", host.name}, {"program", host.program}, {"runs", host.runs}});
        if (!options.json) {
            std::printf("%-24s %s%s%s\n", host.name.c_str(), host.program.c_str(),
                        host.runs.empty() ? "" : ", runs in ", host.runs.c_str());
        }
    }
    if (options.json) {
        print_json(out);
    } else if (all.empty()) {
        std::printf("There are no hosts: weft hosts add NAME.\n");
    }
    return 0;
}

bool tells_shares(const HostsOptions& options, const Context& context) {
    return context.error_terminal && !options.quiet;
}

/// How much has gone over the connection, on one line of a terminal; nothing elsewhere.
void tell_share(const HostsOptions& options, const Context& context, double share) {
    if (tells_shares(options, context)) {
        std::fprintf(stderr, "\r%3.0f %%", 100 * share);
    }
}
void end_shares(const HostsOptions& options, const Context& context) {
    std::fputs(tells_shares(options, context) ? "\r100 %\n" : "", stderr);
}

Json check_json(const hosts::HostLook& look) {
    Json checks = Json::array();
    for (const hosts::HostCheck& one : look.checks) {
        checks.push_back(
            {{"name", one.name}, {"good", one.good}, {"text", one.text}, {"hint", one.hint}});
    }
    Json partitions = Json::array();
    for (const hosts::Partition& one : look.partitions) {
        partitions.push_back({{"name", one.name},
                              {"yours", one.yours},
                              {"others", one.others},
                              {"idle", one.idle},
                              {"off", one.off}});
    }
    return {{"runs", look.runs},
            {"checks", std::move(checks)},
            {"partitions", std::move(partitions)},
            {"round_trip_s", look.round_trip_s},
            {"link_bytes_per_s", look.link_bytes_per_s},
            {"doctor", look.doctor}};
}

int check_host(const HostsOptions& options, const Context& context) {
    const hosts::HostLook look =
        hosts::look_at(connection_to(options, context), std::string("weft ") + WEFT_VERSION);
    if (options.json) {
        print_json(check_json(look));
    } else {
        for (const hosts::HostCheck& one : look.checks) {
            std::printf("%-4s %-16s %s%s%s\n", one.good ? "ok" : "NO", one.name.c_str(),
                        one.text.c_str(), one.hint.empty() ? "" : ". ", one.hint.c_str());
        }
        for (const hosts::Partition& one : look.partitions) {
            std::printf("     %-16s %lld nodes: %lld yours, %lld others', %lld idle, %lld off\n",
                        one.name.c_str(), static_cast<long long>(one.nodes()),
                        static_cast<long long>(one.yours), static_cast<long long>(one.others),
                        static_cast<long long>(one.idle), static_cast<long long>(one.off));
        }
        std::printf("     %-16s %s a call, %s/s\n", "connection",
                    format_duration(look.round_trip_s).c_str(),
                    format_bytes(static_cast<std::int64_t>(look.link_bytes_per_s)).c_str());
    }
    return look.usable() ? 0 : exit_code(ErrorKind::runtime);
}

int list_remote_runs(const HostsOptions& options, const Context& context) {
    const auto runs = hosts::remote_runs(connection_to(options, context));
    Json out = Json::array();
    for (const hosts::RemoteRun& run : runs) {
        if (options.json) {
            out.push_back({{"folder", run.folder},
                           {"name", run.name},
                           {"state", run.state},
                           {"problem", run.problem},
                           {"step", run.step},
                           {"total_steps", run.total_steps},
                           {"loss", run.loss ? Json(*run.loss) : Json(nullptr)},
                           {"checkpoint_step", run.checkpoint_step},
                           {"modified", run.modified}});
            continue;
        }
        const std::string steps =
            format_thousands(run.step) + " / " + format_thousands(run.total_steps);
        std::printf("%-40s %-12s %16s  %s%s\n", fs::path(run.folder).filename().c_str(),
                    run.state.c_str(), steps.c_str(),
                    run.loss ? ("loss " + format_short(*run.loss, 4)).c_str() : "",
                    run.problem.c_str());
    }
    if (options.json) {
        print_json(out);
    } else if (runs.empty()) {
        std::printf("There are no runs on %s.\n", options.name.c_str());
    }
    return 0;
}

int start_there(const HostsOptions& options, const Context& context) {
    Json config =
        config::json_or_discarded(read_file(options.config, kMostConfigBytes, ErrorKind::usage));
    if (!config.is_object()) {
        throw Error(ErrorKind::usage, options.config, "is no configuration in JSON",
                    "weft check says where it is wrong.");
    }
    std::vector<std::string> settings;
    for (const std::string& one : options.overrides) {
        settings.insert(settings.end(), {"--set", one});
    }
    const hosts::Connection connection = connection_to(options, context);
    if (options.with_data) {
        const compile::CheckedRun checked =
            read_run_file(options.config, options.overrides, MadeUpData::refused);
        print_diagnostics(checked.diagnostics);
        if (!checked.ok()) {
            return kExitUsage;
        }
        const auto files = train::data_files(checked.config);
        config = hosts::bring_data(
            connection, std::move(config), files, [&](const std::string& path, double share) {
                if (!options.quiet && share == 0) {
                    std::fprintf(stderr, "%sBringing %s ...\n",
                                 tells_shares(options, context) ? "\r" : "", path.c_str());
                }
                tell_share(options, context, share);
            });
        if (!files.empty()) {
            end_shares(options, context);
        }
    }
    const std::string run = hosts::start_run(connection, config, settings);
    std::printf("%s\n", run.c_str());
    if (!options.quiet) {
        std::fprintf(stderr, "Follow it: weft hosts follow %s %s\n", options.name.c_str(),
                     fs::path(run).filename().c_str());
    }
    return 0;
}

int tell_there(const HostsOptions& options, const Context& context) {
    const hosts::Connection connection = connection_to(options, context);
    const std::string run = hosts::find_run(connection, options.run);
    std::printf("%s\n", hosts::tell_run(connection, run, options.words).c_str());
    return 0;
}

/// A signal ends what waits for the host.
int until_signal(const std::function<void(const std::stop_token&)>& work) {
    std::stop_source source;
    SignalWatcher watcher;
    watcher.start([&source](const train::Command&) { source.request_stop(); });
    try {
        work(source.get_token());
    } catch (const hosts::Connection::Stopped&) {
        return exit_code_of_signal(watcher.ended_by());
    }
    return 0;
}

int follow_run(const HostsOptions& options, const Context& context) {
    return until_signal([&](const std::stop_token& stop) {
        const hosts::Connection connection = connection_to(options, context, stop);
        const std::string run = hosts::find_run(connection, options.run);
        const fs::path folder = mirror_for(options, run, context);
        hosts::FollowOptions follow;
        follow.sockets = train::control_folder(context.runtime_folder, context.temp_folder);
        follow.tell = [&](const std::string& line) {
            if (!options.quiet) {
                std::fprintf(stderr, "%s: %s\n", options.name.c_str(), line.c_str());
            }
        };
        hosts::follow(connection, run, folder, follow);
        std::printf("%s\n", folder.c_str());
    });
}

int fetch_from(const HostsOptions& options, const Context& context) {
    return until_signal([&](const std::stop_token& stop) {
        const hosts::Connection connection = connection_to(options, context, stop);
        const std::string run = hosts::find_run(connection, options.run);
        const fs::path there = hosts::fetch_checkpoint(
            connection, run, mirror_for(options, run, context), options.checkpoint,
            [&](double share) { tell_share(options, context, share); });
        end_shares(options, context);
        std::printf("%s\n", there.c_str());
    });
}

int copy_there(const HostsOptions& options, const Context& context) {
    return until_signal([&](const std::stop_token& stop) {
        const std::string there =
            hosts::copy_data(connection_to(options, context, stop), options.data,
                             [&](double share) { tell_share(options, context, share); });
        end_shares(options, context);
        std::printf("%s\n", there.c_str());
    });
}

} // namespace

void add_hosts(Command app, Context& context) {
    auto options = std::make_shared<HostsOptions>();
    const Command command =
        app.subcommand("hosts", "runs on other machines, through your OpenSSH and its keys");
    command.needs_subcommand();
    using Run = int (*)(const HostsOptions&, const Context&);
    const auto add = [&](const char* name, const char* help, Run run) {
        const Command out = command.subcommand(name, help);
        out.callback([options, &context, run] { context.exit_code = run(*options, context); });
        return out;
    };
    const auto add_at = [&](const char* name, const char* help, Run run) {
        const Command out = add(name, help, run);
        out.positional("HOST", &options->name, "a host that was added").required();
        return out;
    };
    const auto run_of = [&](const Command& of) {
        of.positional("RUN", &options->run, "a run there: its folder, or that's name").required();
    };
    const auto to_of = [&](const Command& of) {
        of.option("--to", &options->to,
                  "its folder here (default: beside the runs of this machine)");
    };

    const Command list = add("list", "the hosts that were added", list_hosts);
    const Command added =
        add("add", "a host, as ssh takes it", [](const HostsOptions& o, const Context& c) {
            hosts::add_host(c.runs_root, o.host);
            return 0;
        });
    added
        .positional("HOST", &options->host.name,
                    "gpu-box, you@10.0.0.14, or a Host of ~/.ssh/config")
        .required();
    added.option("--program", &options->host.program, "weft there: a path, or a name in its PATH")
        .show_default();
    added.option("--runs", &options->host.runs, "the folder of runs there (default: WeftRuns)");
    add_at("remove", "forget a host; its runs stay", [](const HostsOptions& o, const Context& c) {
        hosts::remove_host(c.runs_root, o.name);
        return 0;
    });
    const Command checked =
        add_at("check", "what the host lacks, and how fast the way to it is", check_host);
    const Command runs = add_at("runs", "the runs there", list_remote_runs);
    const Command start =
        add_at("start", "start a run there, which no connection ends", start_there);
    start
        .positional("CONFIG", &options->config,
                    "configuration file (JSON); its data are there already")
        .required();
    start.flag("--with-data", &options->with_data,
               "bring the files and folders that it names as its data, sum by sum");
    start.option("--set", &options->overrides, "override a setting, path=value").one_value();
    const Command tell = add_at("tell", "an order to a run there, as weft tell", tell_there);
    run_of(tell);
    tell.positional("COMMAND", &options->words, "pause, resume, checkpoint, stop, set ...")
        .required();
    const Command follow = add_at(
        "follow", "copy a run's record here until it ends, and command it as if it were here",
        follow_run);
    run_of(follow);
    to_of(follow);
    const Command fetch = add_at("fetch", "bring a checkpoint here, to go on from", fetch_from);
    run_of(fetch);
    to_of(fetch);
    fetch.option("--checkpoint", &options->checkpoint, "latest, best or a step").show_default();
    const Command copy = add_at("copy", "a file or folder of data there, sum by sum", copy_there);
    copy.positional("DATA", &options->data, "a file or a folder here").required();
    for (const Command& with_json : {list, checked, runs}) {
        with_json.flag("--json", &options->json, "as JSON");
    }
    for (const Command& with_quiet : {start, follow, fetch}) {
        with_quiet.flag("--quiet", &options->quiet, "no words for people");
    }
}

} // namespace weft::cli
