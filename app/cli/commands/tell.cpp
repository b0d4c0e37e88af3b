// SPDX-License-Identifier: Apache-2.0
// weft tell RUN COMMAND: an order to a run that is being trained, by whatever process of this host
#include "app/cli/commands/commands.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/checkpoint/pointer.h"
#include "core/train/control/command.h"
#include "core/train/control/control_client.h"
#include "core/train/record/run_folder.h"

#include <unistd.h>

#include <charconv>
#include <cstdio>

namespace weft::cli {
namespace {

namespace fs = std::filesystem;
using config::Json;

constexpr double kAnswerSeconds = 30;

struct TellOptions {
    std::string run;
    std::string command;
    std::vector<std::string> words;
};

std::int64_t told_steps(const std::string& word) {
    std::int64_t steps = 0;
    const char* end = word.data() + word.size();
    const auto read = std::from_chars(word.data(), end, steps);
    if (read.ec != std::errc() || read.ptr != end || steps < 1) {
        throw Error(ErrorKind::usage, word, "is no number of steps",
                    "Name a whole number above 0.");
    }
    return steps;
}

/// "path=value" as --set takes it.
Json setting_of(const std::string& word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
        throw Error(ErrorKind::usage, word, "is no setting",
                    "Write path=value, such as optimizer.learning_rate=1e-4.");
    }
    const std::string value = word.substr(equals + 1);
    Json parsed = config::json_or_discarded(value);
    return {{"path", word.substr(0, equals)},
            {"value", parsed.is_discarded() ? Json(value) : std::move(parsed)}};
}

/// One command for each setting; else one.
std::vector<train::Command> commands_of(const TellOptions& options) {
    train::ParsedCommand parsed =
        train::parse_command(Json{{"command", options.command}, {"by", "weft tell"}}.dump());
    if (!parsed.command) {
        throw Error(ErrorKind::usage, options.command, parsed.problem, "See weft help commands.");
    }
    std::vector<train::Command> out;
    const train::CommandKind kind = parsed.command->kind;
    const bool sets = kind == train::CommandKind::set;
    const bool counts = kind == train::CommandKind::extend || kind == train::CommandKind::profile;
    if (sets ? options.words.empty() : options.words.size() != (counts ? 1U : 0U)) {
        throw Error(ErrorKind::usage, options.command,
                    sets     ? "needs settings"
                    : counts ? "needs one number of steps"
                             : "takes nothing more",
                    sets ? "Write path=value, such as optimizer.learning_rate=1e-4."
                         : "See weft help commands.");
    }
    if (!sets) {
        out.push_back(*parsed.command);
        if (counts) {
            out.back().argument = {{"steps", told_steps(options.words.front())}};
        }
        return out;
    }
    for (const std::string& word : options.words) {
        out.push_back(*parsed.command);
        out.back().argument = setting_of(word);
    }
    return out;
}

/// The answer to the command with this id. Throws when none comes.
train::CommandEvent answer_to(train::ControlClient& client, const std::string& id,
                              const std::string& run) {
    const SystemClock clock;
    const double end_s = clock.steady_s() + kAnswerSeconds;
    for (bool open = true; open && clock.steady_s() < end_s;) {
        client.wait(1);
        open = client.transfer();
        for (const std::string& line : client.take_lines()) {
            const auto event = train::parse_event(line);
            const auto* answer =
                event ? std::get_if<train::CommandEvent>(&event->payload) : nullptr;
            if (answer != nullptr && answer->id == id) {
                return *answer;
            }
        }
    }
    throw Error(ErrorKind::runtime, run, "its process did not answer",
                "It may just have ended: see weft runs list.");
}

int tell_run(const TellOptions& options, const Context& context) {
    fs::path run = checkpoint::follow_pointer(options.run);
    run = train::is_run_folder(run) ? run : context.runs_root / options.run;
    if (!train::is_run_folder(run)) {
        throw Error(ErrorKind::usage, options.run, "is no run",
                    "Name a run's folder, or its name.");
    }
    std::vector<train::Command> commands = commands_of(options);
    const auto lock = train::read_lock(run);
    if (!lock) {
        throw Error(ErrorKind::usage, run.string(), "nobody trains it now",
                    "weft resume goes on with it.");
    }
    if (lock->control.empty()) {
        throw Error(ErrorKind::usage, run.string(), "cannot be controlled from outside",
                    "It was started where no socket could be made.");
    }
    train::ControlClient client(lock->control);
    int code = 0;
    for (std::size_t i = 0; i < commands.size(); ++i) {
        commands[i].id = "tell-" + std::to_string(::getpid()) + "-" + std::to_string(i);
        client.send(train::to_json(commands[i]).dump());
        const train::CommandEvent answer = answer_to(client, commands[i].id, run.string());
        if (!answer.accepted) {
            std::fprintf(stderr, "weft: refused: %s\n", answer.reason.c_str());
            code = exit_code(ErrorKind::usage);
        } else {
            std::printf("%s: accepted\n", answer.command.c_str());
        }
    }
    return code;
}

} // namespace

void add_tell(Command app, Context& context) {
    auto options = std::make_shared<TellOptions>();
    const Command command =
        app.subcommand("tell", "an order to a run that is being trained; weft help commands");
    command.positional("RUN", &options->run, "a run's folder, or its name").required();
    command
        .positional("COMMAND", &options->command,
                    "pause, resume, step, checkpoint, evaluate, extend, set, profile, stop, "
                    "stop_now")
        .required();
    command.positional("ARGUMENT", &options->words,
                       "of set: path=value, such as optimizer.learning_rate=1e-4 or "
                       "frozen='[\"layers.0\"]'; of extend and profile: how many steps");
    command.callback([options, &context] { context.exit_code = tell_run(*options, context); });
}

} // namespace weft::cli
