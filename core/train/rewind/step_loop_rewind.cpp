// SPDX-License-Identifier: Apache-2.0
// What the step loop does when a loss or gradient is not finite: it looks into it, and goes back
// where it is to.
#include "core/train/engine.h"
#include "core/train/rewind/divergence_file.h"
#include "core/train/step_loop.h"
#include "core/train/ways_on.h"

#include "core/base/text.h"
#include "core/compile/programs/model_programs.h"

#include <algorithm>
#include <cmath>

namespace weft::train {
namespace {

constexpr std::int64_t kNear = 100;     // updates within which most_rewinds counts
constexpr std::int64_t kNormSteps = 20; // updates whose norms by layer are looked at
constexpr double kLookBackSeconds = 15; // that repeating updates for it may take
constexpr const char* kPassedOver = "it is left out";

StartFrom start_from(const std::filesystem::path& checkpoint) {
    StartFrom out;
    out.checkpoint = checkpoint;
    return out;
}

} // namespace

// Whoever may have to go back needs a place to go back to.
void StepLoop::keep_start() {
    if (!start_is_kept_ && setup_.config.on_nonfinite == "rewind" && saved_step_ < 0) {
        save("");
    }
    start_is_kept_ = true;
}

void StepLoop::diverge(const UnderWay& update, const UpdateNumbers& numbers) {
    const double multiplier = update.multiplier;
    update_.drop();
    under_way_.clear();
    setup_.profile.end("the run diverged");
    // Neither this update nor one after it was taken: what the arenas hold is the last good state,
    // unless an update before made it one that is not. It goes to disk before anything is examined.
    const bool good = state_is_finite();
    if (progress_.step > 0 && saved_step_ != progress_.step && good) {
        save("");
    }
    settle();
    Divergence what;
    what.step = progress_.step + 1;
    what.loss = numbers.loss;
    what.grad_norm = numbers.grad_norm;
    what.loss_scale = numbers.loss_scale;
    examine(multiplier, what);
    what.last_checkpoint = newest_checkpoint(setup_.folder);
    if (what.last_checkpoint < 0) {
        what.last_checkpoint = setup_.fork_step;
    }
    if (setup_.config.on_nonfinite != "rewind" || !rewind(what, good)) {
        give_up(what);
    }
}

void StepLoop::give_up(Divergence& what) {
    if (setup_.config.on_nonfinite == "rewind") {
        what.left_out = left_out_near(what.step);
    }
    look_back(what);
    tell_divergence(what, -1, 0);
    throw Diverged(explain_divergence(what, setup_.config));
}

bool StepLoop::state_is_finite() const {
    const auto& slots = setup_.executor.plan().state_slots;
    return std::all_of(slots.begin(), slots.end(), [&](const plan::StateSlot& slot) {
        return !slot.saved ||
               exec::all_finite(slot.whole, setup_.executor.read_slot(slot.name).data());
    });
}

void StepLoop::take_updates_again() {
    const float no = 0;
    setup_.executor.write_slot(compile::kHaltedSlot, std::as_bytes(std::span(&no, 1)));
}

// The batch is read again for it, where it began.
void StepLoop::examine(double multiplier, Divergence& what) {
    const data::Source& source = *setup_.data.train;
    const BatchOrder order = training_order(setup_.config, progress_.cursor);
    const data::Sampler sampler = sampler_of(setup_.config, source, order);
    data::LoaderOptions once = loader_options(setup_.config, source, order);
    once.prefetch = 0;
    const plan::ExecutionPlan& plan = setup_.executor.plan();
    try {
        data::Loader again(setup_.data.train, sampler, once, progress_.cursor);
        const data::Batch& batch = *again.next();
        what.report = update_.run_checked(batch, progress_.step, multiplier, watch_gradients());
        what.norms.add(what.step, what.report, plan, what.loss_scale);
        std::vector<std::int64_t> suspects;
        if (plan.mesh.single() && !compile::holds_samples(plan)) {
            const std::int64_t rows = compile::plan_batch(setup_.config).rows;
            what.sample = place_of_bad_value(what.report, rows, batch, source, sampler);
            if (const auto row = row_of_bad_value(what.report, rows)) {
                suspects.push_back(*row);
            }
        }
        what.bad_data = place_of_bad_data(batch, source, sampler, once.mixing.get());
        if (const auto row = row_of_bad_data(batch, source.info())) {
            suspects.push_back(*row);
        }
        what.batch = record_batch(batch, source, sampler,
                                  setup_.config.section("data").at("transforms"), suspects);
    } catch (const Error& fault) {
        if (fault.kind() != ErrorKind::data) {
            throw;
        }
        what.unread = fault.where() + ": " + fault.text();
    }
}

// The updates before, from the newest checkpoint that is old enough or from the beginning, where
// that is soon done. What the arenas hold is lost by it. False: nothing was repeated.
bool StepLoop::look_back(Divergence& what) {
    std::vector<double> times = step_ms_;
    if (times.empty() || what.norms.is_empty()) {
        return false;
    }
    std::nth_element(times.begin(), times.begin() + std::ssize(times) / 2, times.end());
    const double step_s = times[times.size() / 2] / 1000;
    const auto most = static_cast<std::int64_t>(kLookBackSeconds / std::max(step_s, 1e-4));
    const std::int64_t done = what.step - 1;
    const auto entries = checkpoint::list_checkpoints(setup_.folder / "checkpoints");
    const auto from = std::find_if(entries.begin(), entries.end(), [&](const auto& entry) {
        return entry.problem.empty() && entry.step >= 0 && entry.step < done &&
               entry.step >= done - most;
    });
    try {
        if (from != entries.end()) {
            repeat_updates(
                restore_run(setup_.executor, setup_.config, start_from(from->path)).progress, what);
            return true;
        }
        if (begins_at_init() && done >= 1 && done <= most) {
            initialise(setup_.executor, setup_.config);
            repeat_updates(first_progress(setup_.config), what);
            return true;
        }
    } catch (const Error&) {
        return true; // what was found of the update itself is told all the same
    }
    return false;
}

// Else it began with weights that are elsewhere.
bool StepLoop::begins_at_init() const {
    const config::Json& init = setup_.config.section("init");
    return setup_.fork_step < 0 && init.at("from").is_null() && init.at("lora").is_null();
}

void StepLoop::repeat_updates(const Progress& start, Divergence& what) {
    take_updates_again();
    Update again(setup_.executor, setup_.config, schedule_total(setup_.schedule_steps),
                 start.moments_since);
    again.set_rate_factors(judge_.rate_factors());
    const data::Source& source = *setup_.data.train;
    const BatchOrder order = training_order(setup_.config, start.cursor);
    data::LoaderOptions once = loader_options(setup_.config, source, order);
    once.prefetch = 0;
    data::Loader loader(setup_.data.train, sampler_of(setup_.config, source, order), once,
                        start.cursor);
    SettingsReplay changes(settings_to_replay(setup_.folder, start.step));
    LiveSettings live = start.live;
    std::vector<std::int64_t> since = start.moments_since;
    LayerNorms norms;
    for (std::int64_t done = start.step; done < what.step - 1; ++done) {
        const data::Batch& batch = *loader.next();
        for (const SettingsEvent& change : changes.due(done)) {
            apply_set(live, {{"path", change.path}, {"value", change.value}});
        }
        again.set_frozen(live.frozen);
        if (passes_over(done + 1)) {
            std::for_each(since.begin(), since.end(), [](std::int64_t& one) { ++one; });
            again.set_moments_since(since);
        } else if (done + kNormSteps < what.step - 1) {
            again.start(batch, done, live.learning_rate_multiplier, {});
            again.numbers();
        } else {
            norms.add(
                done + 1,
                again.run_checked(batch, done, live.learning_rate_multiplier, watch_gradients()),
                setup_.executor.plan(), what.loss_scale);
        }
    }
    norms.add(what.step, what.report, setup_.executor.plan(), what.loss_scale);
    what.norms = std::move(norms);
}

void StepLoop::tell_divergence(const Divergence& what, std::int64_t back_to,
                               std::int64_t passes_over) {
    const config::Json document = divergence_document(what, setup_.config, back_to, passes_over);
    std::string path = divergence_path(what.step).string();
    try {
        if (watch_the_folder()) {
            write_divergence(what, document, setup_.folder);
        }
    } catch (const Error& fault) {
        path.clear();
        setup_.control.emit(
            WarningEvent{"What was found of the divergence was not written: " + fault.message(),
                         "Free some disk space."});
    }
    setup_.control.emit(DivergenceEvent{what.step, document.at("message").get<std::string>(), path,
                                        back_to, passes_over});
}

// Those that the run found itself.
std::int64_t StepLoop::left_out_near(std::int64_t step) const {
    const auto& told = setup_.config.pass_over;
    return std::count_if(left_out_steps_.begin(), left_out_steps_.end(),
                         [&](std::int64_t left_out) {
                             return std::abs(left_out - step) <= kNear &&
                                    std::find(told.begin(), told.end(), left_out) == told.end();
                         });
}

// False when the run has to end.
bool StepLoop::rewind(Divergence& what, bool state_is_good) {
    if (state_is_good) {
        if (left_out_near(what.step) >= setup_.config.most_rewinds) {
            return false;
        }
        if (saved_step_ == progress_.step && save_problem_.empty() && look_back(what)) {
            const auto saved =
                setup_.folder / "checkpoints" / checkpoint::folder_name(progress_.step);
            restore_run(setup_.executor, setup_.config, start_from(saved));
        }
        tell_divergence(what, progress_.step, what.step);
        left_out_steps_.insert(what.step);
        take_updates_again();
        read_on();
        return true;
    }
    // An update before, whose own numbers were finite, has spoilt the state.
    watch_until_ = progress_.step;
    std::optional<RestoredRun> restored = restore_newest_good();
    if (!restored) {
        return false;
    }
    tell_divergence(what, restored->progress.step, 0);
    go_on_from(std::move(*restored));
    return true;
}

std::optional<RestoredRun> StepLoop::restore_newest_good() {
    auto entries = checkpoint::list_checkpoints(setup_.folder / "checkpoints");
    std::reverse(entries.begin(), entries.end());
    for (const checkpoint::Entry& entry : entries) {
        if (!entry.problem.empty() || entry.step < 0 || entry.step > progress_.step) {
            continue;
        }
        try {
            RestoredRun out = restore_run(setup_.executor, setup_.config, start_from(entry.path));
            take_updates_again();
            if (state_is_finite()) {
                return out;
            }
        } catch (const Error& fault) {
            if (fault.kind() != ErrorKind::checkpoint) {
                throw;
            }
        }
    }
    return std::nullopt;
}

// As a resume does. What is newer than this is of another course: it neither counts as the newest
// nor lies in the way of a save.
void StepLoop::go_on_from(RestoredRun restored) {
    Progress back = std::move(restored.progress);
    for (const checkpoint::Entry& entry :
         checkpoint::list_checkpoints(setup_.folder / "checkpoints")) {
        if (entry.problem.empty() && entry.step > back.step) {
            checkpoint::set_aside(entry.path);
        }
    }
    back.seconds = progress_.seconds;
    back.left_out = progress_.left_out;
    back.left_to_base = progress_.left_to_base;
    progress_ = std::move(back);
    setup_.control.replace_live(progress_.live);
    replay_ = SettingsReplay(settings_to_replay(setup_.folder, progress_.step));
    update_.set_rate_factors(judge_.rate_factors());
    update_.set_moments_since(progress_.moments_since);
    saved_step_ = progress_.step;
    setup_.control.emit(ResumedEvent{
        restored.manifest.path.lexically_relative(setup_.folder).string(), progress_.step});
    read_on();
}

void StepLoop::read_on() {
    report_loader();
    open_loader();
    begin();
}

// After an update while the one is looked for that spoils the state. False: this is it, and the run
// went back.
bool StepLoop::is_still_good() {
    if (progress_.step <= watch_until_ && !state_is_finite()) {
        spoiler_ = progress_.step;
        settle(); // what is being written is of this course
        if (auto restored = left_out_near(spoiler_) < setup_.config.most_rewinds
                                ? restore_newest_good()
                                : std::nullopt) {
            go_on_from(std::move(*restored));
            return false;
        }
        Divergence what;
        what.step = spoiler_;
        what.spoils = true;
        what.last_checkpoint = newest_checkpoint(setup_.folder);
        give_up(what);
    }
    watch_until_ = progress_.step < watch_until_ ? watch_until_ : 0;
    return true;
}

// The run is right before the update that spoils the state. Looking into it spoils it, too.
void StepLoop::examine_spoiler() {
    if (saved_step_ != progress_.step) {
        save("");
    }
    settle();
    Divergence what;
    what.step = std::exchange(spoiler_, 0);
    what.spoils = true;
    what.last_checkpoint = newest_checkpoint(setup_.folder);
    examine(progress_.live.learning_rate_multiplier, what);
    std::optional<RestoredRun> restored = restore_newest_good();
    if (!restored) {
        give_up(what);
    }
    tell_divergence(what, restored->progress.step, what.step);
    left_out_steps_.insert(what.step);
    go_on_from(std::move(*restored));
}

// As if the update had been made and changed nothing: no optimizer has seen it, either.
void StepLoop::pass_over() {
    const data::Batch* batch = feed_->next();
    WEFT_CHECK(batch != nullptr, "training batches never end");
    ++progress_.step;
    progress_.samples += batch->samples;
    progress_.cursor = batch->after;
    for (std::int64_t& since : progress_.moments_since) {
        ++since;
    }
    progress_.passed_over.insert(progress_.step);
    update_.set_moments_since(progress_.moments_since);
    setup_.control.emit(SkippedEvent{progress_.step, kPassedOver, 1,
                                     progress_.skipped + std::ssize(progress_.passed_over)});
    tell_left_out("train", batch->left_out);
    after_step();
    setup_.control.apply(RunInput::step_done);
}

} // namespace weft::train
