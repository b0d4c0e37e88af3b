// SPDX-License-Identifier: Apache-2.0
#include "app/cli/man_page.h"

#include "core/base/build_config.h"

namespace weft::cli {
namespace {

/// Words as man takes them: "-" stays what can be copied, and no line is taken for a request.
std::string roff(const std::string& words) {
    std::string out;
    bool line_start = true;
    for (const char letter : words) {
        if (line_start && (letter == '.' || letter == '\'')) {
            out += "\\&";
        }
        out += letter == '\\' ? "\\e" : letter == '-' ? "\\-" : std::string(1, letter);
        line_start = letter == '\n';
    }
    return out;
}

std::string names_of(const OptionText& option) {
    std::string out;
    for (const std::string& name : option.names) {
        out += (out.empty() ? "" : ", ") + ("\\fB" + roff(name) + "\\fR");
    }
    return out.empty() ? "\\fI" + roff(option.positional) + "\\fR" : out;
}

void write_options(const CommandText& command, std::string& out) {
    for (const OptionText& option : command.options) {
        out += ".TP\n" + names_of(option);
        if (!option.names.empty() && !option.value.empty()) {
            out += " \\fI" + roff(option.value) + "\\fR";
        }
        out += "\n" + roff(option.help);
        if (!option.default_value.empty()) {
            out += " (default: " + roff(option.default_value) + ")";
        }
        out += "\n";
    }
}

/// A command and those below it: "weft checkpoint list".
void write_command(const CommandText& command, const std::string& before, std::string& out) {
    const std::string name = before + " " + command.name;
    out += ".SS " + roff(name) + "\n" + roff(command.help) + "\n";
    write_options(command, out);
    for (const CommandText& below : command.subcommands) {
        write_command(below, name, out);
    }
}

constexpr const char* kExitStatus = R"(.SH EXIT STATUS
.TS
l l.
0	finished
1	a failure at run time
2	wrong usage or configuration
3	a damaged or incompatible checkpoint, or data
4	does not fit in memory
5	diverged: a loss or gradient is not finite
6	a device or communication failed
75	stopped on request, with a checkpoint to resume from
130, 143	stopped by a signal
.TE
.PP
\fBcheckpoint diff\fR and \fBplan \-\-verify\fR: 0 equal, 1 different, 2 and more trouble.
.SH SIGNALS
SIGINT, SIGTERM or SIGHUP once: save and stop; twice: stop now. SIGUSR1: save a checkpoint.
.SH SEE ALSO
.BR weft\-studio (1).
\fBweft help config\fR lists every setting of a configuration.
)";

} // namespace

std::string man_page(const CommandText& weft) {
    std::string out = "'\\\" t\n.TH WEFT 1 \"\" \"weft " WEFT_VERSION "\" \"User Commands\"\n";
    out += ".SH NAME\nweft \\- " +
           roff("trains neural networks, and shows beforehand what they "
                "will need") +
           "\n";
    out += ".SH SYNOPSIS\n.B weft\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n";
    out += ".SH OPTIONS\n";
    write_options(weft, out);
    out += ".SH COMMANDS\n";
    for (const CommandText& command : weft.subcommands) {
        write_command(command, "weft", out);
    }
    return out + kExitStatus;
}

} // namespace weft::cli
