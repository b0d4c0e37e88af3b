// SPDX-License-Identifier: Apache-2.0
#include "core/pipeline/schedule_text.h"

#include "core/base/error.h"
#include "core/base/text.h"

#include <charconv>
#include <optional>

namespace weft::pipeline {
namespace {

constexpr int kMost = 1 << 20;                // stages, microbatches, chunks
constexpr std::int64_t kMostBytes = 16 << 20; // of a file
constexpr std::size_t kMostNamedProblems = 3; // shown at once

/// A whole number of at most kMost at the start of `text`, which loses it.
std::optional<int> take_number(std::string_view& text) {
    int value = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || value < 0 || value > kMost) {
        return std::nullopt;
    }
    text = {rest, end};
    return value;
}

std::optional<ActionKind> kind_of(char letter) {
    switch (letter) {
    case 'F': return ActionKind::forward;
    case 'B': return ActionKind::backward;
    case 'I': return ActionKind::input_grad;
    case 'W': return ActionKind::weight_grad;
    default: return std::nullopt;
    }
}

std::optional<Action> action_of(std::string_view word) {
    const auto kind = word.empty() ? std::nullopt : kind_of(word.front());
    if (!kind) {
        return std::nullopt;
    }
    word.remove_prefix(1);
    const auto microbatch = take_number(word);
    std::optional<int> chunk = 0;
    if (word.starts_with('.')) {
        word.remove_prefix(1);
        chunk = take_number(word);
    }
    if (!microbatch || !chunk || !word.empty()) {
        return std::nullopt;
    }
    return Action{*kind, *microbatch, *chunk};
}

class Reader {
public:
    explicit Reader(std::string_view origin) : origin_(origin) {}

    Schedule read(std::string_view text) {
        out_.name = "file";
        out_.microbatches = 0;
        for (const std::string& line : split(text, '\n')) {
            ++line_;
            read_line(std::string_view(line).substr(0, line.find('#')));
        }
        out_.stages = static_cast<int>(out_.stage_actions.size());
        line_ = 0;
        if (out_.microbatches == 0) {
            fail("a line 'microbatches N' is missing");
        }
        if (out_.stages == 0) {
            fail("there is no 'stage 0: ...'");
        }
        return std::move(out_);
    }

private:
    [[noreturn]] void fail(const std::string& text, std::string hint = {}) const {
        const std::string where =
            line_ == 0 ? origin_ : origin_ + ", line " + std::to_string(line_);
        throw Error(ErrorKind::usage, where, text, std::move(hint));
    }

    static std::string_view take_word(std::string_view& line) {
        line = trim(line);
        const std::size_t end = std::min(line.find_first_of(" \t\r"), line.size());
        const std::string_view word = line.substr(0, end);
        line.remove_prefix(end);
        return word;
    }

    int number(std::string_view word, const char* what, int least) const {
        const auto value = take_number(word);
        if (!value || !word.empty() || *value < least) {
            fail(std::string(what) + " is a whole number from " + std::to_string(least) + " to " +
                 std::to_string(kMost));
        }
        return *value;
    }

    void read_line(std::string_view line) {
        std::string_view rest = trim(line);
        if (rest.empty()) {
            return;
        }
        const std::string_view first = take_word(rest);
        if (first == "stage") {
            start_stage(rest);
        } else if (first == "schedule") {
            out_.name = trim(rest);
        } else if (first == "microbatches") {
            out_.microbatches = number(trim(rest), "microbatches", 1);
        } else if (first == "chunks") {
            out_.chunks = number(trim(rest), "chunks", 1);
        } else {
            read_actions(trim(line));
        }
    }

    void start_stage(std::string_view rest) {
        const std::size_t colon = rest.find(':');
        if (colon == std::string_view::npos) {
            fail("a stage is written as 'stage 0: F0 B0'");
        }
        const int stage = number(trim(rest.substr(0, colon)), "the number of a stage", 0);
        if (stage != static_cast<int>(out_.stage_actions.size())) {
            fail("stage " + std::to_string(stage) + " comes where stage " +
                 std::to_string(out_.stage_actions.size()) + " is expected");
        }
        out_.stage_actions.emplace_back();
        read_actions(rest.substr(colon + 1));
    }

    void read_actions(std::string_view words) {
        for (std::string_view word = take_word(words); !word.empty(); word = take_word(words)) {
            const auto action = action_of(word);
            if (!action) {
                fail("'" + shown(word) + "' is no action",
                     "F0 is the forward of microbatch 0, B0 its backward, I0 and W0 the halves of "
                     "one, F0.1 that of chunk 1");
            }
            if (out_.stage_actions.empty()) {
                fail("an action before the first 'stage 0:'");
            }
            out_.stage_actions.back().push_back(*action);
        }
    }

    std::string origin_;
    int line_ = 0;
    Schedule out_;
};

} // namespace

std::string to_text(const Schedule& schedule) {
    std::string out = "schedule " + schedule.name + "\nmicrobatches " +
                      std::to_string(schedule.microbatches) + "\nchunks " +
                      std::to_string(schedule.chunks) + "\n";
    for (std::size_t stage = 0; stage < schedule.stage_actions.size(); ++stage) {
        out += "stage " + std::to_string(stage) + ":";
        for (const Action& action : schedule.stage_actions[stage]) {
            out += " " + to_text(action, schedule.chunks);
        }
        out += "\n";
    }
    return out;
}

Schedule parse_schedule(std::string_view text, std::string_view origin) {
    Schedule schedule = Reader(origin).read(text);
    std::vector<std::string> problems = check(schedule);
    if (!problems.empty()) {
        const std::size_t count = problems.size();
        problems.resize(std::min(count, kMostNamedProblems));
        throw Error(
            ErrorKind::usage, std::string(origin),
            join(problems, "; ") +
                (count > kMostNamedProblems
                     ? "; and " + std::to_string(count - kMostNamedProblems) + " more problems"
                     : ""),
            "each stage runs F and B (or I and W) of every microbatch and chunk once");
    }
    return schedule;
}

Schedule read_schedule(const Path& path) {
    return parse_schedule(read_file(path, kMostBytes, ErrorKind::usage), path.string());
}

} // namespace weft::pipeline
