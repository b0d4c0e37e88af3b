// SPDX-License-Identifier: Apache-2.0
// What a user can ask of a run. Serialisable values: the run's socket and `--control` take the same
// messages (INTERFACES.md "Events and commands").
#pragma once

#include "core/config/field.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::train {

/// Of the messages over a run's socket, both ways. Another number wherever a program that knows
/// only this one would misunderstand; the lock of a run says which one its process speaks.
inline constexpr std::int64_t kControlProtocol = 1;

enum class CommandKind : std::uint8_t {
    pause,
    resume,
    step,       // one step, then pause again
    checkpoint, // save now
    stop,       // finish the step, save, end (resumable)
    stop_now,   // end without saving
    extend,     // argument {"steps": N} more
    set,        // argument {"path": "...", "value": ...}: what may change live
    evaluate,   // evaluate on the validation split now
    profile,    // argument {"steps": N}: record the next steps
};

/// One request. Applied at a step boundary, logged, answered by a `command` event with the same id.
struct Command {
    CommandKind kind = CommandKind::pause;
    std::string id; // chosen by the sender; may be empty
    std::string by; // "studio", "control", "signal"
    config::Json argument = config::Json::object();
};

std::string_view command_name(CommandKind kind);
config::Json to_json(const Command& command);

/// What a message may hold: no command has more.
inline constexpr config::JsonLimits kCommandLimits{
    .bytes = 1 << 20, .keys = 10'000, .key_bytes = 256};

struct ParsedCommand {
    std::optional<Command> command;
    std::string problem; // set when command is empty
};
/// One line of `--control`: {"command": "pause", "id": "7"}. Never throws.
ParsedCommand parse_command(std::string_view line);

} // namespace weft::train
