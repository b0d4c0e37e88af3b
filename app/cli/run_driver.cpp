// SPDX-License-Identifier: Apache-2.0
#include "app/cli/run_driver.h"

#include "app/cli/progress_view.h"
#include "app/cli/signals.h"
#include "app/cli/stdin_commands.h"
#include "core/base/build_config.h"
#include "core/exec/ranks/frame_socket.h"
#include "core/train/compute.h"
#include "core/train/control/control_server.h"
#include "core/train/control/control_socket.h"
#include "core/train/control/run_control.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace weft::cli {
namespace {

void print_event_line(const train::Event& event) {
    const std::string line = train::to_line(event) + "\n";
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fflush(stdout);
}

// Every run can be reached by other processes, the studio above all. That it cannot is no reason
// not to train, unless the socket was asked for by name.
std::unique_ptr<train::ControlServer> make_server(const DriveOptions& options,
                                                  const Context& context,
                                                  const std::filesystem::path& folder) {
    if (!options.control.empty() && options.control != "stdin") {
        return std::make_unique<train::ControlServer>(std::filesystem::absolute(options.control),
                                                      folder);
    }
    try {
        return std::make_unique<train::ControlServer>(
            train::free_control_path(
                train::control_folder(context.runtime_folder, context.temp_folder)),
            folder);
    } catch (const Error& fault) {
        std::fprintf(stderr, "warning: No other program can control this run: %s\n",
                     fault.message().c_str());
        return nullptr;
    }
}

train::RankTeamOptions team_options(const Context& context) {
    const launch::RankPlace& place = *context.place;
    train::RankTeamOptions out;
    out.rank = place.rank;
    out.size = place.size;
    out.local_size = place.local_size;
    out.address = place.master_addr;
    out.port = place.master_port;
    out.secret = place.secret;
    out.version = WEFT_VERSION;
    out.interface = context.interface;
    out.started_by_mpi = place.mpi;
    out.threads = context.threads;
    return out;
}

/// This process is one of several: its GPU, and where NCCL may listen, which it reads for itself
/// unless somebody has said otherwise. Of ranks of one machine nobody else reaches them.
void be_rank(const Context& context) {
    train::take_one_gpu(context.place->local_rank);
    const std::string interface = !context.interface.empty()                        ? context.interface
                                  : exec::is_loopback(context.place->master_addr) ? "lo"
                                                                                    : "";
    if (!interface.empty()) {
        ::setenv("NCCL_SOCKET_IFNAME", ("=" + interface).c_str(), 0);
    }
}

int code_of(const train::SessionResult& result, int ended_by) {
    switch (result.outcome) {
    case train::Outcome::finished:
    case train::Outcome::paused_at_max_steps: return 0;
    case train::Outcome::stopped: return kExitStopped;
    // Asked for by a signal, or in words: then it counts as an interrupt.
    case train::Outcome::stopped_now: return exit_code_of_signal(ended_by == 0 ? SIGINT : ended_by);
    case train::Outcome::failed: return exit_code(result.error.value_or(ErrorKind::runtime));
    }
    return exit_code(ErrorKind::runtime);
}

} // namespace

void add_drive_options(Command command, DriveOptions& options) {
    command
        .option("--set", &options.overrides, "change a setting: key.path=value (may be repeated)")
        .one_value();
    command
        .option("--max-steps", &options.max_steps,
                "stop, resumable, once the run has so many steps; 0 saves the initial weights")
        .not_negative();
    command
        .option("--profile", &options.record.count,
                "record so many steps, every kernel call and exchange; `weft profile` shows them")
        .between(1, train::kMostRecordedSteps);
    command
        .option("--profile-from", &options.record.from,
                "the first step to record (default: the tenth from here, or so early that all fit)")
        .positive();
    const Option events = command.flag("--events", &options.events,
                                       "one JSON event per line on stdout, and nothing else");
    command.flag("--quiet", &options.quiet, "nothing on stdout; faults still go to stderr")
        .excludes(events);
    command.option("--control", &options.control,
                   "commands as JSON lines from 'stdin' too, or at a socket with this path "
                   "in place of one in $XDG_RUNTIME_DIR");
    command.flag("--start-paused", &options.start_paused,
                 "ready, it waits for the command to resume or to take a step");
}

int drive(train::SessionOptions session_options, const DriveOptions& options,
          const Context& context) {
    SignalWatcher signals;
    const auto server = make_server(options, context, session_options.run_folder);
    const auto log_every =
        session_options.config.section("training").value("log_every", std::int64_t{1});
    ProgressView view(context, log_every);
    session_options.sink = [&](const train::Event& event) {
        if (server) {
            server->publish(event);
        }
        if (options.events) {
            print_event_line(event);
        } else if (!options.quiet) {
            view.show(event);
        }
    };
    session_options.control = server ? server->socket().string() : std::string();
    session_options.threads = context.threads;
    session_options.calibration_file = context.calibration_file;
    session_options.version = WEFT_VERSION;
    session_options.max_steps = options.max_steps;
    session_options.start_paused = options.start_paused;
    session_options.record = options.record;
    const std::string folder = session_options.run_folder.string();
    const bool talks = !options.events && !options.quiet;
    if (talks) {
        std::printf("Run folder: %s\n", folder.c_str());
        std::fflush(stdout);
    }
    train::Session session(std::move(session_options));
    const auto post = [&](train::Command command) { session.post(std::move(command)); };
    signals.start([&](train::Command command) {
        const bool saves = command.kind == train::CommandKind::stop;
        const bool ends = saves || command.kind == train::CommandKind::stop_now;
        post(std::move(command));
        if (ends) {
            std::fprintf(stderr, saves ? "\nStopping: the checkpoint is being saved. Once more to "
                                         "stop without saving.\n"
                                       : "\nStopping now.\n");
        }
    });
    if (server) {
        server->start(post, [](const std::exception& fault) {
            std::fprintf(stderr, "weft: the control socket is closed, the run goes on: %s\n",
                         fault.what());
        });
    }
    StdinCommands stdin_commands;
    if (options.control == "stdin") {
        stdin_commands.start(post);
    }
    const train::SessionResult result = session.run();
    signals.stop();
    stdin_commands.stop();
    if (server) {
        server->stop();
    }
    if (result.outcome == train::Outcome::failed) {
        print_error(result.message);
    } else if (result.outcome != train::Outcome::finished && talks) {
        std::printf("Go on with: weft resume %s\n", folder.c_str());
    }
    return code_of(result, signals.ended_by());
}

// Its threads leave signals to the watcher that comes later.
std::unique_ptr<train::RankTeam> open_team(const Context& context) {
    if (!context.place) {
        return nullptr;
    }
    be_rank(context);
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before);
    struct Restore {
        const sigset_t& mask;
        ~Restore() { ::pthread_sigmask(SIG_SETMASK, &mask, nullptr); }
    } const restore{before};
    return std::make_unique<train::RankTeam>(team_options(context));
}

bool serves(const Context& context) {
    return context.place && context.place->rank > 0;
}

// Rank 0 decides when the run stops.
int serve(const Context& context) {
    be_rank(context);
    const train::Served served = train::serve_rank(team_options(context), [] {
        for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
            std::signal(number, SIG_IGN);
        }
    });
    return served == train::Served::well ? 0 : exit_code(ErrorKind::device);
}

void require_ranks(const compile::RunConfig& config, const Context& context) {
    if (context.place) {
        train::check_ranks(config, context.place->size);
    } else if (const auto backend = config.section("mesh").at("backend").get<std::string>();
               backend != "auto" && backend != "in_process" &&
               (backend != "nccl" || !train::names_gpus(config))) {
        throw Error(ErrorKind::usage, "mesh.backend",
                    "'" + backend + "' is for devices with a process each, and this is one process",
                    "start it with `weft launch`, or use auto");
    }
}

void tell_test(const std::string& of) {
    std::fprintf(stderr, "Testing %s against the reference, once for this build ...\n", of.c_str());
}

} // namespace weft::cli
