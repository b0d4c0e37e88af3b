// SPDX-License-Identifier: Apache-2.0
#include "core/pipeline/schedule.h"
#include "core/pipeline/simulate.h"

#include <map>
#include <utility>

namespace weft::pipeline {
namespace {

constexpr std::size_t kMostProblems = 100;

char letter(ActionKind kind) {
    switch (kind) {
    case ActionKind::forward: return 'F';
    case ActionKind::backward: return 'B';
    case ActionKind::input_grad: return 'I';
    case ActionKind::weight_grad: return 'W';
    }
    return '?';
}

/// How often a stage does each kind of action with one microbatch of one chunk.
struct Counts {
    int forward = 0;
    int backward = 0;
    int input_grad = 0;
    int weight_grad = 0;
};

int& count_of(Counts& counts, ActionKind kind) {
    switch (kind) {
    case ActionKind::forward: return counts.forward;
    case ActionKind::backward: return counts.backward;
    case ActionKind::input_grad: return counts.input_grad;
    case ActionKind::weight_grad: break;
    }
    return counts.weight_grad;
}

/// Problems of one stage by itself, which the other stages do not change.
class StageCheck {
public:
    StageCheck(const Schedule& schedule, int stage, std::vector<std::string>& problems)
        : schedule_(schedule), stage_(stage), problems_(problems) {}

    void run() {
        for (const Action& action : schedule_.stage_actions[static_cast<std::size_t>(stage_)]) {
            if (action.microbatch < 0 || action.microbatch >= schedule_.microbatches ||
                action.chunk < 0 || action.chunk >= schedule_.chunks) {
                say(to_text(action, schedule_.chunks + 1) + " names a microbatch or chunk that is "
                                                            "not there");
                continue;
            }
            see(action);
            if (problems_.size() >= kMostProblems) {
                return;
            }
        }
        for (int chunk = 0; chunk < schedule_.chunks; ++chunk) {
            for (int microbatch = 0; microbatch < schedule_.microbatches; ++microbatch) {
                if (problems_.size() >= kMostProblems) {
                    return;
                }
                expect_complete(microbatch, chunk);
            }
        }
    }

private:
    void say(const std::string& text) {
        problems_.push_back("stage " + std::to_string(stage_) + ": " + text);
    }

    std::string name(ActionKind kind, int microbatch, int chunk) const {
        return to_text({kind, microbatch, chunk}, schedule_.chunks);
    }

    void see(const Action& action) {
        Counts& counts = counts_[{action.chunk, action.microbatch}];
        const std::string text = to_text(action, schedule_.chunks);
        if (count_of(counts, action.kind)++ > 0) {
            say(text + " comes twice");
            return;
        }
        if (action.kind != ActionKind::forward && counts.forward == 0) {
            say(text + " comes before " +
                name(ActionKind::forward, action.microbatch, action.chunk));
        }
        if (action.kind == ActionKind::weight_grad && counts.input_grad == 0) {
            say(text + " comes before " +
                name(ActionKind::input_grad, action.microbatch, action.chunk));
        }
        if (counts.backward > 0 && counts.input_grad + counts.weight_grad > 0) {
            say(text + " repeats a part of a backward");
        }
    }

    void expect_complete(int microbatch, int chunk) {
        const Counts& counts = counts_[{chunk, microbatch}];
        const auto missing = [&](ActionKind kind) {
            say(name(kind, microbatch, chunk) + " is missing");
        };
        if (counts.forward == 0) {
            missing(ActionKind::forward);
        }
        if (counts.backward > 0) {
            return;
        }
        if (counts.input_grad == 0 && counts.weight_grad == 0) {
            missing(ActionKind::backward);
        } else if (counts.input_grad == 0) {
            missing(ActionKind::input_grad);
        } else if (counts.weight_grad == 0) {
            missing(ActionKind::weight_grad);
        }
    }

    const Schedule& schedule_;
    int stage_;
    std::vector<std::string>& problems_;
    std::map<std::pair<int, int>, Counts> counts_; // by chunk and microbatch
};

} // namespace

std::string to_text(const Action& action, int chunks) {
    std::string out = letter(action.kind) + std::to_string(action.microbatch);
    return chunks > 1 ? out + "." + std::to_string(action.chunk) : out;
}

std::vector<std::string> check(const Schedule& schedule) {
    if (schedule.stages < 1 || schedule.microbatches < 1 || schedule.chunks < 1) {
        return {"stages, microbatches and chunks are at least 1"};
    }
    if (static_cast<int>(schedule.stage_actions.size()) != schedule.stages) {
        return {"the schedule has actions for " + std::to_string(schedule.stage_actions.size()) +
                " stages and says that there are " + std::to_string(schedule.stages)};
    }
    std::vector<std::string> problems;
    for (int stage = 0; stage < schedule.stages && problems.size() < kMostProblems; ++stage) {
        StageCheck(schedule, stage, problems).run();
    }
    // Whether orders fit together is a question to ask of stages that are right by themselves.
    return problems.empty() ? simulate(schedule, Costs::even(schedule, {1.0, 1.0, 1.0})).deadlock
                            : problems;
}

} // namespace weft::pipeline
