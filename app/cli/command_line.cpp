// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command_line.h"

#include <CLI/CLI.hpp>

#include <type_traits>

namespace weft::cli {
namespace {

OptionText text_of(const CLI::Option& option) {
    OptionText out;
    for (const std::string& name : option.get_snames()) {
        out.names.push_back("-" + name);
    }
    for (const std::string& name : option.get_lnames()) {
        out.names.push_back("--" + name);
    }
    out.positional = option.get_name(true);
    out.value = option.get_items_expected_max() > 0 ? option.get_type_name() : "";
    out.help = option.get_description();
    out.default_value = option.get_default_str();
    return out;
}

CommandText text_of(const CLI::App& command) {
    CommandText out;
    out.name = command.get_name();
    out.help = command.get_description();
    const bool top = command.get_parent() == nullptr; // --help is the same for every command
    for (const CLI::Option* option : command.get_options()) {
        if (top || option != command.get_help_ptr()) {
            out.options.push_back(text_of(*option));
        }
    }
    for (const CLI::App* below : command.get_subcommands({})) {
        out.subcommands.push_back(text_of(*below));
    }
    return out;
}

/// `name` in the list of options, `words` where a value is refused.
CLI::Validator holding(const std::string& name, const std::string& words, bool (*holds)(double)) {
    return {[words, holds](std::string& text) {
                double value = 0;
                return CLI::detail::lexical_cast(text, value) && holds(value)
                           ? std::string()
                           : "'" + text + "' is refused: it must be " + words;
            },
            name};
}

} // namespace

Option Option::required() const {
    option_->required();
    return *this;
}

Option Option::show_default() const {
    option_->capture_default_str();
    return *this;
}

Option Option::one_value() const {
    option_->allow_extra_args(false);
    return *this;
}

Option Option::excludes(Option other) const {
    option_->excludes(other.option_);
    return *this;
}

Option Option::value_name(const std::string& name) const {
    option_->type_name(name);
    return *this;
}

Option Option::one_of(const std::vector<std::string>& values) const {
    option_->check(CLI::IsMember(values));
    return *this;
}

Option Option::between(int least, int most) const {
    option_->check(CLI::Range(least, most));
    return *this;
}

Option Option::positive() const {
    option_->check(holding("POSITIVE", "above 0", [](double value) { return value > 0; }));
    return *this;
}

Option Option::not_negative() const {
    option_->check(holding("NONNEGATIVE", "0 or more", [](double value) { return value >= 0; }));
    return *this;
}

Command Command::subcommand(const std::string& name, const std::string& help) const {
    return Command(*command_->add_subcommand(name, help));
}

void Command::needs_subcommand() const {
    command_->require_subcommand(1);
}

Option Command::positional(const std::string& name, Target target, const std::string& help) const {
    return option(name, target, help); // to CLI11 a name without dashes makes the difference
}

Option Command::option(const std::string& name, Target target, const std::string& help) const {
    return std::visit(
        [&](auto* value) {
            CLI::Option* added = command_->add_option(name, *value, help);
            if constexpr (std::is_unsigned_v<std::remove_pointer_t<decltype(value)>>) {
                // A minus would go round to the other end of the numbers.
                added->check(holding("", "0 or more", [](double given) { return given >= 0; }));
            }
            return Option(*added);
        },
        target);
}

Option Command::flag(const std::string& name, bool* target, const std::string& help) const {
    return Option(*command_->add_flag(name, *target, help));
}

void Command::callback(std::function<void()> run) const {
    command_->callback(std::move(run));
}

std::string Command::help(const std::string& before) const {
    return command_->help(before);
}

std::optional<Command> Command::find(const std::string& name) const {
    for (CLI::App* below : command_->get_subcommands({})) {
        if (below->get_name() == name) {
            return Command(*below);
        }
    }
    return std::nullopt;
}

CommandText Command::describe() const {
    return text_of(*command_);
}

CommandLine::CommandLine(const std::string& name, const std::string& help,
                         const std::string& version)
    : root_(std::make_unique<CLI::App>(help, name)) {
    root_->set_version_flag("--version", version);
    root_->require_subcommand(1);
    root_->failure_message(CLI::FailureMessage::simple);
}

CommandLine::~CommandLine() = default;

bool CommandLine::run(int argc, char** argv) const {
    try {
        root_->parse(argc, argv);
        return true;
    } catch (const CLI::ParseError& fault) {
        return root_->exit(fault) == 0;
    }
}

} // namespace weft::cli
