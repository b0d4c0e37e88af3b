// SPDX-License-Identifier: Apache-2.0
// Pipeline schedules as data: what each stage does, in which order. Values without behaviour; any
// thread.
//
// A model is cut into stages * chunks parts in model order; stage s holds parts s, s + stages,
// s + 2 * stages, ...: its chunks 0, 1, 2. A forward of a part needs the same microbatch's forward
// of the part before it; a backward needs its own forward and the backward of the part after it.
// Stages run their actions in order, each when what it needs has arrived.
//
// In every schedule made here a part sees microbatches in ascending order, forward and backward: so
// gradients are accumulated in the order in which one device would do it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::pipeline {

enum class ActionKind : std::uint8_t {
    forward,
    backward,    // the whole of it: gradients of inputs and weights
    input_grad,  // or only what the stage before waits for ...
    weight_grad, // ... and the rest, any time later
};

struct Action {
    ActionKind kind = ActionKind::forward;
    int microbatch = 0;
    int chunk = 0;
    friend bool operator==(const Action&, const Action&) = default;
};

struct Schedule {
    std::string name;
    int stages = 1;
    int microbatches = 1;
    int chunks = 1;                                 // of each stage
    std::vector<std::vector<Action>> stage_actions; // [stages], in order of execution

    int parts() const { return stages * chunks; }
    /// Position in model order of a stage's chunk.
    int part(int stage, int chunk) const { return chunk * stages + stage; }
    friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// "F3", "B3", "I3", "W3", with the chunk as "F3.1" where a stage has several.
std::string to_text(const Action& action, int chunks);

/// What is wrong, one sentence each, at most about a hundred; empty for a legal schedule. Every
/// stage forwards and backwards every microbatch of every chunk exactly once, in an order in which
/// no stage waits for ever.
std::vector<std::string> check(const Schedule& schedule);

/// All forwards, then all backwards (Huang et al. 2019, GPipe).
Schedule gpipe(int stages, int microbatches);
/// One forward, one backward: as GPipe, but at most `stages` microbatches are in flight (Narayanan
/// et al. 2021, "PipeDream-Flush").
Schedule one_f_one_b(int stages, int microbatches);
/// 1F1B over several chunks per stage (Narayanan et al. 2021, "Efficient large-scale language model
/// training on GPU clusters", section 2.2). Microbatches are a multiple of stages: a programmer
/// fault otherwise; one chunk is one_f_one_b.
Schedule interleaved_1f1b(int stages, int microbatches, int chunks);
/// ZB-H1 (Qi et al. 2023, "Zero bubble pipeline parallelism", section 2.2): 1F1B whose backward is
/// split; stage s does the weight gradients s microbatches late, so that all stages hold as many
/// microbatches and the last stages pass gradients on sooner.
Schedule zero_bubble_h1(int stages, int microbatches);

} // namespace weft::pipeline
