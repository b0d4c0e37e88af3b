// SPDX-License-Identifier: Apache-2.0
#include "app/cli/run_driver.h"

#include "app/cli/control_channel.h"
#include "app/cli/progress_view.h"
#include "app/cli/signals.h"
#include "core/base/build_config.h"

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>

namespace weft::cli {
namespace {

void print_event_line(const train::Event& event) {
    const std::string line = train::to_line(event) + "\n";
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fflush(stdout);
}

int code_of(const train::SessionResult& result, int ended_by) {
    switch (result.outcome) {
    case train::Outcome::finished:
    case train::Outcome::paused_at_max_steps: return 0;
    case train::Outcome::stopped: return kExitStopped;
    case train::Outcome::stopped_now:
        return ended_by == SIGTERM ? kExitTerminated : kExitInterrupted;
    case train::Outcome::failed: return exit_code(result.error.value_or(ErrorKind::runtime));
    }
    return exit_code(ErrorKind::runtime);
}

} // namespace

void add_drive_options(CLI::App& command, DriveOptions& options) {
    command
        .add_option("--set", options.overrides,
                    "change a setting: key.path=value (may be repeated)")
        ->allow_extra_args(false);
    command
        .add_option("--max-steps", options.max_steps,
                    "stop, resumable, once the run has so many steps; 0 saves the initial weights")
        ->check(CLI::NonNegativeNumber);
    command.add_flag("--events", options.events,
                     "one JSON event per line on stdout, and nothing else");
    command.add_option("--control", options.control,
                       "commands as JSON lines from 'stdin' or from a socket made at this path");
}

int drive(train::SessionOptions session_options, const DriveOptions& options,
          const Context& context) {
    SignalWatcher signals;
    std::optional<ControlChannel> control;
    if (!options.control.empty()) {
        control.emplace(options.control);
    }
    const auto log_every =
        session_options.config.section("training").value("log_every", std::int64_t{1});
    ProgressView view(context, log_every);
    session_options.sink = [&](const train::Event& event) {
        if (control) {
            control->publish(event);
        }
        if (options.events) {
            print_event_line(event);
        } else {
            view.show(event);
        }
    };
    session_options.threads = context.threads;
    session_options.calibration_file = context.calibration_file;
    session_options.version = WEFT_VERSION;
    session_options.max_steps = options.max_steps;
    const std::string folder = session_options.run_folder.string();
    if (!options.events) {
        std::printf("Run folder: %s\n", folder.c_str());
        std::fflush(stdout);
    }
    train::Session session(std::move(session_options));
    const auto post = [&](train::Command command) { session.post(std::move(command)); };
    signals.start(post);
    if (control) {
        control->start(post);
    }
    const train::SessionResult result = session.run();
    signals.stop();
    if (control) {
        control->stop();
    }
    if (result.outcome == train::Outcome::failed) {
        print_error(result.message);
    } else if (result.outcome != train::Outcome::finished && !options.events) {
        std::printf("Go on with: weft resume %s\n", folder.c_str());
    }
    return code_of(result, signals.ended_by());
}

} // namespace weft::cli
