// SPDX-License-Identifier: Apache-2.0
#include "core/train/control/command.h"

#include "core/base/text.h"

#include <array>

namespace weft::train {
namespace {

struct Name {
    CommandKind kind;
    std::string_view text;
};

constexpr std::array kNames{
    Name{CommandKind::pause, "pause"},       Name{CommandKind::resume, "resume"},
    Name{CommandKind::step, "step"},         Name{CommandKind::checkpoint, "checkpoint"},
    Name{CommandKind::stop, "stop"},         Name{CommandKind::stop_now, "stop_now"},
    Name{CommandKind::extend, "extend"},     Name{CommandKind::set, "set"},
    Name{CommandKind::evaluate, "evaluate"}, Name{CommandKind::profile, "profile"},
};

ParsedCommand problem(std::string text) {
    return {std::nullopt, std::move(text)};
}

ParsedCommand unknown_name(const std::string& name) {
    std::vector<std::string> all;
    for (const Name& known : kNames) {
        all.emplace_back(known.text);
    }
    return problem("unknown command \"" + shown(name) + "\"; " + name_hint(name, all));
}

// Ids may be sent as numbers; they come back as text.
std::string argument_text(const config::Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

} // namespace

std::string_view command_name(CommandKind kind) {
    for (const Name& known : kNames) {
        if (known.kind == kind) {
            return known.text;
        }
    }
    return "pause";
}

config::Json to_json(const Command& command) {
    config::Json out = config::Json::object();
    out["command"] = command_name(command.kind);
    for (const auto& [key, value] : command.argument.items()) {
        out[key] = value;
    }
    out["id"] = command.id;
    if (!command.by.empty()) {
        out["by"] = command.by;
    }
    return out;
}

ParsedCommand parse_command(std::string_view line) {
    const config::Checked read = config::parse_json(line, "command", kCommandLimits);
    if (!read.ok()) {
        return problem("not a JSON object: " + read.diagnostics.front().message);
    }
    if (!read.value.is_object()) {
        return problem("a command is a JSON object such as {\"command\": \"pause\"}");
    }
    const auto name = read.value.find("command");
    if (name == read.value.end() || !name->is_string()) {
        return problem("the key \"command\" with the name of a command is missing");
    }
    Command command;
    bool known_name = false;
    for (const Name& known : kNames) {
        if (known.text == name->get<std::string>()) {
            command.kind = known.kind;
            known_name = true;
        }
    }
    if (!known_name) {
        return unknown_name(name->get<std::string>());
    }
    for (const auto& [key, value] : read.value.items()) {
        if (key == "id") {
            command.id = argument_text(value);
        } else if (key == "by") {
            command.by = argument_text(value);
        } else if (key != "command") {
            // Straight to the end: operator[] searches the whole object each time.
            command.argument.get_ref<config::Json::object_t&>().emplace_back(key, value);
        }
    }
    return {std::move(command), {}};
}

} // namespace weft::train
