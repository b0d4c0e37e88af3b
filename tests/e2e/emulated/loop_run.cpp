// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/emulated/loop_run.h"

#include "core/base/check.h"
#include "core/checkpoint/checkpoint.h"
#include "core/profile/step_recorder.h"
#include "core/train/engine.h"
#include "core/train/measure/record_steps.h"
#include "tests/e2e/emulated/emulated_plan.h"

#include <atomic>
#include <thread>
#include <utility>

namespace weft::test {
namespace {

/// Lets somebody act on the loop's thread, at a time when the loop holds no lock.
class ActingClock final : public Clock {
public:
    explicit ActingClock(std::function<void()> act) : act_(std::move(act)) {}
    double steady_s() const override {
        if (!std::exchange(acting_, true)) {
            act_();
            acting_ = false;
        }
        return system_.steady_s();
    }
    double epoch_s() const override { return system_.epoch_s(); }

private:
    SystemClock system_;
    std::function<void()> act_;
    mutable bool acting_ = false;
};

constexpr const char* kMeasured[] = {
    "time",    "seq",          "step_ms",        "samples_per_s",  "tokens_per_s",   "data_wait_ms",
    "mfu",     "memory_bytes", "blocked_ms",     "write_ms",       "bytes",          "phase_ms",
    "seconds", "waited_ms",    "step_before_ms", "step_during_ms", "step_longest_ms"};

} // namespace

LoopRun::LoopRun(const compile::RunConfig& config, const exec::Compute& compute,
                 std::filesystem::path folder, data::DataSet data)
    : config_(config), folder_(std::move(folder)), data_(std::move(data)),
      executor_(plan_for(config, compute.backends), compute, {.threads = 1}),
      progress_(train::first_progress(config)) {
    std::filesystem::create_directories(folder_ / "checkpoints");
    std::filesystem::create_directories(folder_ / "samples");
    train::initialise(executor_, config_);
}

void LoopRun::restore() {
    const auto entries = checkpoint::list_checkpoints(folder_ / "checkpoints");
    WEFT_CHECK(!entries.empty(), "there is a checkpoint to go on from");
    const checkpoint::Manifest manifest = checkpoint::read_manifest(entries.back().path);
    progress_ = train::read_progress(manifest.record, config_);
    train::restore_tensors(executor_, manifest, train::Missing::is_error);
    restored_step_ = progress_.step;
}

void LoopRun::note(const train::Event& event) {
    if (const auto* step = std::get_if<train::StepEvent>(&event.payload)) {
        told_step_ = step->step;
    }
    if (std::holds_alternative<train::DevicesEvent>(event.payload) ||
        std::holds_alternative<train::LoaderEvent>(event.payload)) {
        return; // about once a second
    }
    const auto* warning = std::get_if<train::WarningEvent>(&event.payload);
    if (warning != nullptr && warning->message.starts_with("Training waited")) {
        return; // as the disk is
    }
    config::Json line = train::to_json(event);
    for (const char* key : kMeasured) {
        line.erase(key);
    }
    if (const auto metrics = line.find("metrics"); metrics != line.end() && metrics->is_object()) {
        for (auto metric = metrics->begin(); metric != metrics->end();) { // of the machine
            metric = metric.key().starts_with("system/") ? metrics->erase(metric) : ++metric;
        }
        if (metrics->empty()) {
            line.erase("metrics");
        }
    }
    events_.push_back(line.dump());
}

std::optional<train::LoopEnd> LoopRun::run(std::int64_t max_steps) {
    std::atomic<int> pauses{0};
    std::atomic<bool> ended{false};
    train::RunControl control([&](const train::Event& event) {
        note(event);
        const auto* state = std::get_if<train::StateEvent>(&event.payload);
        if (state != nullptr && state->state == train::RunState::paused) {
            ++pauses;
            pauses.notify_one();
        }
    });
    const std::jthread resumes([&] { // as somebody does who sees it paused
        for (int seen = 0;;) {
            pauses.wait(seen);
            if (ended) {
                return;
            }
            seen = pauses;
            control.post({.kind = train::CommandKind::resume, .id = {}, .by = "test"});
        }
    });
    const ActingClock clock([&] { act(control, told_step_); });
    std::optional<train::LoopEnd> end;
    try {
        train::RunLock lock(folder_);
        control.start(folder_, progress_.live, clock, train::RunControl::Begin::running);
        train::Recorder recorder(folder_ / "metrics", false, 0, "test");
        const train::MemoryMeter memory;
        const train::Pace pace = train::pace_of(config_, *data_.train);
        const auto never = [](std::int64_t) { return std::unique_ptr<profile::StepRecorder>(); };
        train::RecordSteps profile(executor_, folder_, control, lock, never, 0, nullptr);
        control.apply(train::RunInput::validated);
        control.apply(train::RunInput::prepared);
        train::StepLoop loop(train::LoopSetup{.config = config_,
                                              .folder = folder_,
                                              .data = data_,
                                              .executor = executor_,
                                              .pace = pace,
                                              .schedule_steps = 100,
                                              .max_steps = max_steps,
                                              .memory = memory,
                                              .profile = profile,
                                              .memory_settled = [] {},
                                              .environment = config::Json::object(),
                                              .control = control,
                                              .recorder = recorder,
                                              .lock = lock,
                                              .clock = clock,
                                              .saved_step = restored_step_},
                             progress_);
        end = loop.run();
        end == train::LoopEnd::stop_now ? loop.settle() : loop.save_at_end();
    } catch (const train::Diverged& fault) {
        error_ = fault.event();
    } catch (const Error& fault) {
        error_ = train::ErrorEvent{std::string(error_kind_name(fault.kind())),
                                   fault.where(),
                                   fault.text(),
                                   fault.hint(),
                                   {}};
    }
    ended = true;
    ++pauses;
    pauses.notify_one();
    return end;
}

State LoopRun::state() {
    State out;
    for (const plan::StateSlot& slot : executor_.plan().state_slots) {
        if (slot.saved) {
            out[slot.name] = executor_.read_slot(slot.name);
        }
    }
    return out;
}

} // namespace weft::test
