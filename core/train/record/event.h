// SPDX-License-Identifier: Apache-2.0
// What a run says. Every event is one JSON line of events.jsonl (complete, written before any
// queue); the typed payloads below are what the studio and the tests read.
#pragma once

#include "core/data/opening.h"
#include "core/train/control/run_state.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace weft::train {

/// Metric names are "<split>/<name>"; an ordered list keeps the configuration's order.
using Metrics = std::vector<std::pair<std::string, double>>;

struct StateEvent {
    RunState state = RunState::idle;
    std::string reason; // why, where it is not obvious: "on request", "the disk is full", ...
    std::string phase; // preparing: "compiling", "opening data", "creating kernels", "initialising"
    double phase_ms = 0;          // how long the phase before this one took
    std::int64_t total_steps = 0; // with running: the planned length; 0 where it is not known
};

/// How far the data are read that a run waits for: said of a read that takes longer than a second.
struct OpeningEvent {
    data::Opening opening;
    double seconds = 0; // since the file was begun
};

/// A completed update. `step` counts updates: the first completed one is step 1. `loss` is of the
/// batch that produced it, before the update.
struct StepEvent {
    std::int64_t step = 0;
    double epoch = 0;
    double loss = 0;
    double learning_rate = 0;
    double grad_norm = 0;
    double samples_per_s = 0;
    std::optional<double> tokens_per_s;
    double step_ms = 0;
    double data_wait_ms = 0;
    std::int64_t memory_bytes = 0; // resident now, less what was resident before the run prepared
    std::optional<double> mfu;     // products of the model over what the machine can do at best
    Metrics metrics; // "train/accuracy", ...; in JSON under the key "metrics", left out when empty
};

struct EvaluationEvent {
    std::int64_t step = 0;
    Metrics metrics; // "validation/loss", "validation/accuracy", ...
};

struct CheckpointEvent {
    std::int64_t step = 0;
    std::string path; // relative to the run folder
    std::int64_t bytes = 0;
    double blocked_ms = 0;
    double write_ms = 0;
    std::vector<std::string> kept_for;
    double waited_ms = 0; // of blocked_ms, for the save before to reach the disk
    // Of steps, without waiting for data; left out in JSON where there were none.
    std::optional<double> step_before_ms{};  // median, with no write under way
    std::optional<double> step_during_ms{};  // median, while this one was being written
    std::optional<double> step_longest_ms{}; // of these
};

/// Predictions on the fixed evaluation samples.
struct SampleEvent {
    std::int64_t step = 0;
    std::string path; // relative to the run folder
};

/// Said before the first update, and again after the eighth, when `memory` (memory_meter.h) has
/// settled.
struct SystemEvent {
    config::Json devices;
    config::Json host;
    config::Json memory = nullptr; // left out while it is null
};

/// What the devices of a mesh, or GPUs, did in a step, and what was planned; about once a second.
struct DevicesEvent {
    /// How a GPU is; what is not known is left out.
    struct Gpu {
        int number = 0; // cuda:1
        std::string name;
        std::int64_t memory_bytes = 0;
        std::optional<std::int64_t> memory_used_bytes{}; // by all processes
        std::optional<double> utilisation{}; // share of the last moments in which it computed
        std::optional<double> power_w{};
        std::optional<double> power_limit_w{};
        std::optional<double> temperature_c{};
    };
    /// Milliseconds. Simulated devices share the cores: where there are more devices than cores,
    /// what one computes another waits for.
    struct Device {
        double compute_ms = 0;
        double exchange_ms = 0; // without waiting, and without those beside computation
        double waited_ms = 0;   // for other devices, in exchanges
        std::int64_t sent_bytes = 0;
        std::int64_t memory_bytes = 0; // of its arena, taken
        double planned_compute_ms = 0; // 0: nothing was predicted
        double planned_exchange_ms = 0;
        std::int64_t planned_memory_bytes = 0;
        std::optional<Gpu> gpu{};
        std::string host{}; // of its process, where each has one; else empty
    };
    /// From the start of the step.
    struct Action {
        std::string action; // of a pipeline's schedule: "F3"
        double start_ms = 0;
        double end_ms = 0;
    };
    /// What devices exchange along some axes of the mesh: of a device in the mean.
    struct Link {
        std::string axes;           // "data"; several: "data,fsdp"
        bool between_hosts = false; // some of it
        double exchange_ms = 0;     // also while the device computed; without waiting
        double waited_ms = 0;       // as of a device
        std::int64_t sent_bytes = 0;
        double planned_ms = 0; // 0: nothing was predicted
    };
    std::int64_t step = 0;
    std::vector<Device> devices;
    std::vector<Link> links;
    std::vector<std::vector<Action>> stages; // of the first device of each; none without a pipeline
};

/// What preparing training batches took since the event before, about once a second and when
/// training ends. Milliseconds.
struct LoaderEvent {
    std::int64_t step = 0;
    /// Of many processes: that whose loader was waited for most. What stands below is its own, but
    /// for wait_ms, which is for all.
    std::optional<int> rank{};
    double steps_ms = 0; // of the steps meanwhile
    double wait_ms = 0;  // of these, waiting for data
    int workers = 0;
    int prefetch = 0;         // batches that are prepared ahead
    double ready = 0;         // of these were ready when the next one was asked for, on average
    std::int64_t samples = 0; // prepared
    // Of all threads together, as data::LoaderUse counts them.
    double read_ms = 0, decode_ms = 0, transform_ms = 0, batch_ms = 0;
};

struct ResumedEvent {
    std::string from; // checkpoint path
    std::int64_t step = 0;
};

/// The answer to a command.
struct CommandEvent {
    std::string id;
    std::string by;
    std::string command;
    bool accepted = true;
    std::string reason; // why not
};

/// How the run is done, where there is nothing to mend.
struct NoteEvent {
    std::string message;
};

struct WarningEvent {
    std::string message;
    std::string hint;
};

/// One way on after a failure: a change, offered as a fork.
struct WayOn {
    std::string label; // "Resume from step 1,200 with half the learning rate"
    std::int64_t from_step = 0;
    std::vector<std::string> overrides; // "--set" assignments
};

struct ErrorEvent {
    std::string kind;
    std::string where; // op and layer path, file, field
    std::string message;
    std::string hint;
    std::vector<WayOn> ways_on;
};

struct FinishedEvent {
    std::int64_t steps = 0;
    double seconds = 0;
    Metrics best;
    Metrics last;
    Metrics test;
};

/// An update that was not made: in f16 or where the run skips such updates a gradient times the
/// loss scale, or the loss, was not finite; or it was to be left out (training.pass_over, and where
/// the run rewinds). Its batch is passed over, and it counts as a step.
struct SkippedEvent {
    std::int64_t step = 0;
    std::string reason;
    double loss_scale = 0;    // of the update; 1: it was not scaled
    std::int64_t skipped = 0; // so many in the run so far
};

/// Steps were recorded for the profiler, or were to be.
struct RecordingEvent {
    std::int64_t step = 0; // the first of them
    std::int64_t steps = 0;
    std::int64_t asked = 0;
    std::string path{};      // within the run folder; empty: there is no recording
    std::string cut_short{}; // why not all; empty: all of them
};

/// What became of a process of a run that has one for each device.
struct RankEvent {
    int rank = 0;
    std::string state{}; // "joined"; "late": it has not joined yet; "lost"
    std::string host{};
    std::string message{}; // what there is to say about it
};

/// The ranks of the run had failed, and are started again: written between two sessions, by who
/// starts them.
struct RestartEvent {
    int attempt = 0;    // the first is 1
    int most = 0;       // so many at most
    int exit_code = 0;  // of rank 0
    std::string reason; // which rank failed, and how
};

/// A loss or gradient that is not finite was looked into; the document is in the run's folder
/// (core/train/rewind/divergence_file.h).
struct DivergenceEvent {
    std::int64_t step = 0;        // the update that was not taken
    std::string message{};        // what became of what, and where it began
    std::string path{};           // of the document, within the run folder
    std::int64_t back_to = -1;    // the run went back to this step; -1: it ends
    std::int64_t passes_over = 0; // the update that is left out from now on; 0: it is looked for
};

/// A setting was changed while the run goes on.
struct SettingsEvent {
    std::int64_t step = 0; // updates that were complete when it took effect
    std::string by{};
    std::string path{}; // as the command `set` has it; "extend": so many steps more
    config::Json value = nullptr;
    bool replayed = false; // it was changed in a session before, and is part of what is repeated
};

using Payload =
    std::variant<StateEvent, OpeningEvent, StepEvent, EvaluationEvent, CheckpointEvent, SampleEvent,
                 SystemEvent, DevicesEvent, ResumedEvent, CommandEvent, WarningEvent, ErrorEvent,
                 FinishedEvent, NoteEvent, SkippedEvent, LoaderEvent, RecordingEvent, RankEvent,
                 RestartEvent, DivergenceEvent, SettingsEvent>;

struct Event {
    std::int64_t seq = 0;
    double time = 0; // s, UTC epoch
    Payload payload;
};

/// What opening data told: a decision is a note, all else a warning.
Payload event_of(const data::Note& note);

/// "rank 2 on node7 is lost: its connection ended"
std::string sentence_of(const RankEvent& event);
/// What was not finite, and what the run does about it.
std::string sentence_of(const DivergenceEvent& event);

/// The exact line of INTERFACES.md, without the newline. Non-finite numbers become the strings
/// "nan", "inf", "-inf".
config::Json to_json(const Event& event);
/// to_json on one line; bytes that are not UTF-8 are replaced.
std::string to_line(const Event& event);
/// "step", "evaluation", ...: the value of the key "event".
std::string_view event_name(const Payload& payload);
/// Reads a line back; nullopt for an unknown or damaged one (a newer program may write more).
std::optional<Event> parse_event(std::string_view line);

} // namespace weft::train
