// SPDX-License-Identifier: Apache-2.0
// `weft`: the headless program. Arguments in, exit code out.
#include "app/cli/commands.h"
#include "core/base/build_config.h"
#include "core/base/error.h"

#include <csignal>
#include <new>

namespace {

int run(int argc, char** argv) {
    using namespace weft::cli;
    Context context = read_context();
    const CommandLine line("weft",
                           "weft: trains neural networks, and shows beforehand what they will need",
                           std::string("weft ") + WEFT_VERSION);
    for (const auto add : kCommands) {
        add(line.root(), context);
    }
    return line.run(argc, argv) ? context.exit_code : kExitUsage;
}

} // namespace

int main(int argc, char** argv) {
    // A closed pipe (`weft ... | head`) ends in a failed write, not in a killed training run.
    std::signal(SIGPIPE, SIG_IGN);
    // So does a file that may not grow (`ulimit -f`): a run waits for room, as on a full disk.
    std::signal(SIGXFSZ, SIG_IGN);
    try {
        return run(argc, argv);
    } catch (const weft::Error& fault) {
        weft::cli::print_error(fault.message());
        return weft::exit_code(fault.kind());
    } catch (const std::bad_alloc&) {
        weft::cli::print_error("this machine has not enough memory");
        return weft::exit_code(weft::ErrorKind::memory);
    } catch (const std::exception& fault) {
        weft::cli::print_error(std::string(fault.what()) +
                               " (a fault of the program; please report it)");
        return weft::exit_code(weft::ErrorKind::runtime);
    }
}
