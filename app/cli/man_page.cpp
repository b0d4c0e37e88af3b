// SPDX-License-Identifier: Apache-2.0
#include "app/cli/man_page.h"

#include "core/base/build_config.h"
#include "core/base/check.h"
#include "core/base/text.h"
#include "core/train/reference/reference.h"

#include <cstdio>

namespace weft::cli {
namespace {

/// The character that begins at `at`, of well-formed UTF-8, as troff writes it; `at` is behind it
/// then.
std::string escaped(const std::string& words, std::size_t& at) {
    const auto first = static_cast<unsigned char>(words[at++]);
    const int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
    unsigned code = first & (0x3FU >> more);
    for (int i = 0; i < more && at < words.size(); ++i) {
        code = code << 6 | (static_cast<unsigned char>(words[at++]) & 0x3FU);
    }
    char text[16];
    std::snprintf(text, sizeof text, "\\[u%04X]", code);
    return text;
}

/// Words as man takes them: "-" stays what can be copied, and no line is taken for a request.
std::string roff(const std::string& words) {
    std::string out;
    bool line_start = true;
    for (std::size_t at = 0; at < words.size();) {
        const char letter = words[at];
        if (line_start && (letter == '.' || letter == '\'')) {
            out += "\\&";
        }
        line_start = letter == '\n';
        if (static_cast<unsigned char>(letter) >= 0x80) {
            out += escaped(words, at);
            continue;
        }
        out += letter == '\\' ? "\\e" : letter == '-' ? "\\-" : std::string(1, letter);
        ++at;
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

/// Markdown's marks of code are not shown; man has no other letters for it.
std::string plain(const std::string& words) {
    std::string out;
    for (const char letter : words) {
        out += letter == '`' ? "" : std::string(1, letter);
    }
    return out;
}

/// "| a | b \\| c |" as "a", "b | c".
std::vector<std::string> cells_of(const std::string& row) {
    std::vector<std::string> out(1);
    for (std::size_t i = 1; i < row.size(); ++i) {
        if (row[i] == '\\' && i + 1 < row.size() && row[i + 1] == '|') {
            out.back() += row[++i];
        } else if (row[i] == '|') {
            out.emplace_back();
        } else {
            out.back() += row[i];
        }
    }
    out.pop_back(); // behind the last bar
    for (std::string& cell : out) {
        cell = std::string(trim(plain(cell)));
    }
    return out;
}

/// A name, in italics what its value is, and below its meaning: the last cell.
void write_row(const std::vector<std::string>& cells, std::string& out) {
    std::string kind;
    for (std::size_t i = 1; i + 1 < cells.size(); ++i) {
        kind += cells[i].empty() ? "" : (kind.empty() ? "" : ", ") + cells[i];
    }
    out += ".TP\n\\fB" + roff(cells.front()) + "\\fR";
    out += kind.empty() ? "\n" : " \\fI" + roff(kind) + "\\fR\n";
    out += roff(cells.back()) + "\n";
}

/// A section of the page of errors.
void write_section(const char* title, const char* heading, std::string& out) {
    const train::ReferenceSection* section = train::errors_page().find(title);
    WEFT_CHECK(section != nullptr, std::string("the page of errors has the section ") + title);
    out += std::string(".SH ") + heading + "\n";
    for (const train::ReferenceName& name : section->names) {
        out += ".TP\n\\fB" + roff(std::string(name.name)) + "\\fR\n" +
               roff(plain(std::string(name.meaning))) + "\n";
    }
}

constexpr const char* kSeeAlso = R"(.SH SEE ALSO
.BR weft\-studio (1),
.BR weft\-config (5),
.BR weft\-events (5),
.BR weft\-commands (5),
.BR weft\-plan (5),
.BR weft\-run\-folder (5),
.BR weft\-errors (5)
)";

} // namespace

std::string man_page(const CommandText& weft) {
    std::string out = ".TH WEFT 1 \"\" \"weft " WEFT_VERSION "\" \"User Commands\"\n";
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
    write_section("Exit codes", "EXIT STATUS", out);
    write_section("Signals", "SIGNALS", out);
    return out + kSeeAlso;
}

std::string man_page(const std::string& topic, const std::string& markdown) {
    std::string out =
        ".TH weft\\-" + roff(topic) + " 5 \"\" \"weft " WEFT_VERSION "\" \"Reference\"\n";
    bool head_of_table = false;
    for (const std::string& line : split(markdown, '\n')) {
        const bool row = line.starts_with("| ");
        if (line.starts_with("# ")) {
            out += ".SH NAME\nweft\\-" + roff(topic) + " \\- " + roff(plain(line.substr(2))) +
                   "\n.SH DESCRIPTION\n";
        } else if (line.starts_with("### ")) {
            out += ".SS " + roff(plain(line.substr(4))) + "\n";
        } else if (line.starts_with("## ")) {
            out += ".SH " + roff(plain(line.substr(3))) + "\n";
        } else if (line.starts_with("- ")) {
            out += ".IP \\(bu 2\n" + roff(plain(line.substr(2))) + "\n";
        } else if (row && !head_of_table) {
            head_of_table = true; // the titles of the columns
        } else if (row && !line.starts_with("| ---")) {
            write_row(cells_of(line), out);
        } else if (!row && !line.empty()) {
            out += ".PP\n" + roff(plain(line)) + "\n";
        }
        head_of_table = head_of_table && row;
    }
    return out + ".SH SEE ALSO\n.BR weft (1)\n";
}

} // namespace weft::cli
