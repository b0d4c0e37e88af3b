// SPDX-License-Identifier: Apache-2.0
#include "core/base/check.h"
#include "core/pipeline/schedule.h"

#include <algorithm>

namespace weft::pipeline {
namespace {

Schedule empty_schedule(const char* name, int stages, int microbatches, int chunks) {
    WEFT_CHECK(stages > 0 && microbatches > 0 && chunks > 0, "a pipeline has something to do");
    Schedule out{name, stages, microbatches, chunks, {}};
    out.stage_actions.resize(static_cast<std::size_t>(stages));
    return out;
}

/// Action number k of a stage that works through groups of `stages` microbatches, chunk by chunk.
Action interleaved_action(const Schedule& schedule, ActionKind kind, int k) {
    const int group = schedule.stages * schedule.chunks;
    const int chunk = k % group / schedule.stages;
    return {kind, k / group * schedule.stages + k % schedule.stages,
            kind == ActionKind::forward ? chunk : schedule.chunks - 1 - chunk};
}

} // namespace

Schedule gpipe(int stages, int microbatches) {
    Schedule out = empty_schedule("gpipe", stages, microbatches, 1);
    for (std::vector<Action>& actions : out.stage_actions) {
        for (const ActionKind kind : {ActionKind::forward, ActionKind::backward}) {
            for (int microbatch = 0; microbatch < microbatches; ++microbatch) {
                actions.push_back({kind, microbatch, 0});
            }
        }
    }
    return out;
}

Schedule one_f_one_b(int stages, int microbatches) {
    Schedule out = empty_schedule("1f1b", stages, microbatches, 1);
    for (int stage = 0; stage < stages; ++stage) {
        std::vector<Action>& actions = out.stage_actions[static_cast<std::size_t>(stage)];
        int forwards = 0;
        const auto forward_until = [&](int end) {
            for (; forwards < std::min(end, microbatches); ++forwards) {
                actions.push_back({ActionKind::forward, forwards, 0});
            }
        };
        const int ahead = stages - stage; // forwards before the first backward
        for (int microbatch = 0; microbatch < microbatches; ++microbatch) {
            forward_until(microbatch + ahead);
            actions.push_back({ActionKind::backward, microbatch, 0});
        }
    }
    return out;
}

Schedule interleaved_1f1b(int stages, int microbatches, int chunks) {
    WEFT_CHECK(microbatches % stages == 0, "microbatches go through the chunks in full groups");
    if (chunks == 1) {
        Schedule plain = one_f_one_b(stages, microbatches);
        plain.name = "interleaved_1f1b";
        return plain;
    }
    Schedule out = empty_schedule("interleaved_1f1b", stages, microbatches, chunks);
    const int total = microbatches * chunks;
    for (int stage = 0; stage < stages; ++stage) {
        std::vector<Action>& actions = out.stage_actions[static_cast<std::size_t>(stage)];
        const int warm_up = std::min(2 * (stages - stage - 1) + (chunks - 1) * stages, total);
        for (int k = 0; k < warm_up; ++k) {
            actions.push_back(interleaved_action(out, ActionKind::forward, k));
        }
        for (int k = 0; k < total; ++k) {
            if (warm_up + k < total) {
                actions.push_back(interleaved_action(out, ActionKind::forward, warm_up + k));
            }
            actions.push_back(interleaved_action(out, ActionKind::backward, k));
        }
    }
    return out;
}

Schedule zero_bubble_h1(int stages, int microbatches) {
    Schedule out = one_f_one_b(stages, microbatches);
    out.name = "zero_bubble_h1";
    for (int stage = 0; stage < stages; ++stage) {
        std::vector<Action> split;
        const auto weight_grad = [&](int microbatch) {
            split.push_back({ActionKind::weight_grad, microbatch, 0});
        };
        for (const Action& action : out.stage_actions[static_cast<std::size_t>(stage)]) {
            if (action.kind == ActionKind::forward) {
                split.push_back(action);
                continue;
            }
            split.push_back({ActionKind::input_grad, action.microbatch, 0});
            if (action.microbatch >= stage) {
                weight_grad(action.microbatch - stage);
            }
        }
        for (int left = std::max(0, microbatches - stage); left < microbatches; ++left) {
            weight_grad(left);
        }
        out.stage_actions[static_cast<std::size_t>(stage)] = std::move(split);
    }
    return out;
}

} // namespace weft::pipeline
