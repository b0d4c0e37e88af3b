// SPDX-License-Identifier: Apache-2.0
// The option table of `weft`: commands, what each takes, and the words for it. Arguments are read,
// and --help and weft(1) are made, from it. The door to CLI11: command_line.cpp alone includes
// that.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace weft::cli {

/// Where a value is written to; must live as long as the table, a callback may own it. Its type
/// says what is taken: --help calls it TEXT, INT, UINT or FLOAT. A list takes all the words that
/// follow.
using Target = std::variant<std::string*, std::vector<std::string>*, int*, std::int64_t*,
                            std::uint64_t*, double*, std::optional<std::int64_t>*>;

/// A handle to an option, a flag or a positional of the table, to say more about it.
class Option {
public:
    explicit Option(CLI::Option& option) : option_(&option) {}

    Option required() const;
    /// What its target holds now is the default in --help.
    Option show_default() const;
    /// Of a list: one word each time it is named, so that a positional may follow.
    Option one_value() const;
    /// Not together with `other`, nor `other` with it.
    Option excludes(Option other) const;
    /// The word for its value in --help, in place of its type's.
    Option value_name(const std::string& name) const;

    // What a value must be, else the arguments are refused. --help says it, too.
    Option one_of(const std::vector<std::string>& values) const;
    Option between(int least, int most) const;
    Option positive() const;
    Option not_negative() const;

private:
    CLI::Option* option_;
};

/// An option as a page shows it.
struct OptionText {
    std::vector<std::string> names; // "-h", "--help"; none: a positional
    std::string positional;         // its name, "CONFIG"
    std::string value;              // "INT:POSITIVE"; a flag has none
    std::string help;
    std::string default_value; // may be empty
};

/// A command as a page shows it, with all below it.
struct CommandText {
    std::string name;
    std::string help;
    std::vector<OptionText> options; // --help only where it stands for all: at the root
    std::vector<CommandText> subcommands;
};

/// A handle to a command of the table. Names and words go to --help in the order of the calls.
class Command {
public:
    explicit Command(CLI::App& command) : command_(&command) {}

    Command subcommand(const std::string& name, const std::string& help) const;
    /// It does nothing by itself: one of its subcommands has to be named.
    void needs_subcommand() const;

    Option positional(const std::string& name, Target target, const std::string& help) const;
    Option option(const std::string& name, Target target, const std::string& help) const;
    /// True when it is named.
    Option flag(const std::string& name, bool* target, const std::string& help) const;

    /// Called when the arguments name this command and all of them are right. May throw.
    void callback(std::function<void()> run) const;

    /// The page of --help; `before` is what goes before the name in "Usage:".
    std::string help(const std::string& before = {}) const;
    /// A command right below this one.
    std::optional<Command> find(const std::string& name) const;
    CommandText describe() const;

private:
    CLI::App* command_;
};

/// Owns the table; handles are good as long as it lives.
class CommandLine {
public:
    /// `version` is what --version prints.
    CommandLine(const std::string& name, const std::string& help, const std::string& version);
    ~CommandLine();
    CommandLine(const CommandLine&) = delete;
    CommandLine& operator=(const CommandLine&) = delete;

    Command root() const { return Command(*root_); }
    /// Reads the arguments and calls back the command that they name, or prints what --help and
    /// --version ask for. False: the arguments are wrong, and stderr says why. Throws what the
    /// callback throws.
    bool run(int argc, char** argv) const;

private:
    std::unique_ptr<CLI::App> root_;
};

} // namespace weft::cli
