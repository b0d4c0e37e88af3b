// SPDX-License-Identifier: Apache-2.0
#include "app/cli/context.h"

#include "core/base/error.h"
#include "core/train/record/run_folder.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/ioctl.h>
#include <unistd.h>

namespace weft::cli {
namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

int number_of(const char* name) {
    const std::string text = variable(name);
    int value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    return read.ec == std::errc() ? value : 0;
}

int terminal_columns() {
    winsize size{};
    return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// A build tree has modules where an installation has them: ../lib/weft beside the program.
std::vector<std::filesystem::path> module_folders() {
    std::vector<std::filesystem::path> out;
    if (const std::string named = variable("WEFT_MODULES"); !named.empty()) {
        out.emplace_back(named);
    }
    std::error_code problem;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", problem);
    if (!problem) {
        out.push_back(program.parent_path() / "../lib/weft");
    }
    return out;
}

/// As it was started; the link may say that the file was replaced meanwhile.
std::filesystem::path own_program() {
    constexpr std::string_view kReplaced = " (deleted)";
    std::error_code problem;
    std::string path = std::filesystem::read_symlink("/proc/self/exe", problem).string();
    if (path.ends_with(kReplaced)) {
        path.resize(path.size() - kReplaced.size());
    }
    return path;
}

std::vector<std::string> whole_environment() {
    std::vector<std::string> out;
    for (char** one = environ; one != nullptr && *one != nullptr; ++one) {
        out.emplace_back(*one);
    }
    return out;
}

} // namespace

Context read_context() {
    Context context;
    context.place =
        launch::read_rank_place([](const char* name) -> const char* { return std::getenv(name); });
    context.interface = variable("WEFT_INTERFACE");
    const std::string home = variable("HOME");
    context.runs_root = train::default_runs_root(variable("WEFT_RUNS"), home.empty() ? "." : home);
    const std::filesystem::path cache = variable("XDG_CACHE_HOME");
    const std::filesystem::path own_cache =
        std::filesystem::absolute(cache.empty() ? std::filesystem::path(home) / ".cache" : cache) /
        "weft";
    context.calibration_file = own_cache / "calibration.json";
    context.code_folder = own_cache / "kernels";
    context.verdict_folder = own_cache / "self-test";
    context.module_folders = module_folders();
    context.modules_by_hand = !variable("WEFT_MODULES").empty();
    context.program = own_program();
    context.environment = whole_environment();
    context.runtime_folder = variable("XDG_RUNTIME_DIR");
    context.program_path = variable("PATH");
    const std::string temp = variable("TMPDIR");
    context.temp_folder = temp.empty() ? "/tmp" : temp;
    context.threads = std::max(0, number_of("OMP_NUM_THREADS"));
    context.terminal = ::isatty(STDOUT_FILENO) == 1;
    context.error_terminal = ::isatty(STDERR_FILENO) == 1;
    context.colour = context.terminal && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
    context.columns = terminal_columns();
    return context;
}

void print_diagnostics(const config::Diagnostics& diagnostics) {
    long errors = 0;
    for (const config::Diagnostic& diagnostic : diagnostics) {
        std::fprintf(stderr, "%s\n", config::to_text(diagnostic).c_str());
        errors += diagnostic.severity == config::Severity::error ? 1 : 0;
    }
    if (errors > 0) {
        std::fprintf(stderr, "%ld %s. Nothing was started.\n", errors,
                     errors == 1 ? "problem" : "problems");
    }
}

void print_error(const std::string& message) {
    std::fprintf(stderr, "weft: error: %s\n", message.c_str());
}

} // namespace weft::cli
