// SPDX-License-Identifier: Apache-2.0
// `weft`: the headless program. Arguments in, exit code out.
#include "app/cli/commands/commands.h"
#include "core/base/build_config.h"
#include "core/base/file.h"
#include "core/base/team_wait.h"
#include "core/train/compute.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <new>
#include <poll.h>
#include <unistd.h>

namespace {

int run(int argc, char** argv) {
    using namespace weft::cli;
    Context context = read_context();
    // Other commands do the same in every process.
    const std::string_view command = argc > 1 ? argv[1] : "";
    if (context.place && command != "train" && command != "resume") {
        throw weft::Error(weft::ErrorKind::usage, context.place->started_by,
                          std::to_string(context.place->size) +
                              " processes were started, and only `weft train` and `weft resume` "
                              "are for many",
                          "start this one once, without WORLD_SIZE and the like");
    }
    weft::train::look_for_modules({context.module_folders, context.code_folder,
                                   context.verdict_folder, context.modules_by_hand});
    const CommandLine line("weft",
                           "weft: trains neural networks, and shows beforehand what they will need",
                           std::string("weft ") + WEFT_VERSION);
    for (const auto add : kCommands) {
        add(line.root(), context);
    }
    return line.run(argc, argv) ? context.exit_code : kExitUsage;
}

// Who reads has enough (`weft runs | head`).
bool nobody_reads() {
    pollfd output{STDOUT_FILENO, POLLOUT, 0};
    return ::poll(&output, 1, 0) > 0 && (output.revents & POLLERR) != 0;
}

// What was printed may still be on its way: without this look a full disk keeps half of a page, and
// a script takes it for the whole.
int checked_output(int code) {
    errno = 0;
    const bool lost = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
    if (!lost || nobody_reads()) {
        return code;
    }
    weft::cli::print_error("standard output cannot be written" +
                           (errno != 0 ? ": " + weft::system_error_text(errno) : std::string()) +
                           "; what was printed is not complete");
    return code != 0 ? code : weft::exit_code(weft::ErrorKind::runtime);
}

} // namespace

int main(int argc, char** argv) {
    weft::shorten_team_wait(argv);
    weft::open_standard_descriptors();
    // A closed pipe (`weft ... | head`) ends in a failed write, not in a killed training run.
    std::signal(SIGPIPE, SIG_IGN);
    // So does a file that may not grow (`ulimit -f`): a run waits for room, as on a full disk.
    std::signal(SIGXFSZ, SIG_IGN);
    try {
        return checked_output(run(argc, argv));
    } catch (const weft::Error& fault) {
        weft::cli::print_error(fault.message());
        return weft::exit_code(fault.kind());
    } catch (const std::exception& fault) {
        if (const char* lack = weft::lack_of_memory(fault)) {
            weft::cli::print_error(lack);
            return weft::exit_code(weft::ErrorKind::memory);
        }
        weft::cli::print_error(std::string(fault.what()) +
                               " (a fault of the program; please report it)");
        return weft::exit_code(weft::ErrorKind::runtime);
    }
}
