// SPDX-License-Identifier: Apache-2.0
#include "core/train/step_loop.h"

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/train/evaluation.h"
#include "core/train/ranks/rank_shards.h"
#include "core/train/record/devices_event.h"
#include "core/train/samples.h"
#include "core/train/slot_blocks.h"
#include "core/train/ways_on.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>
#include <utility>

namespace weft::train {
namespace {

constexpr double kBeatSeconds = 5;
constexpr double kDevicesSeconds = 1;
constexpr double kLeastSampleSeconds = 0.5;
constexpr double kSampleShare = 0.05; // of the time from evaluation to evaluation
constexpr std::size_t kKeptSteps = 1000;
constexpr double kLeastWaitToldMs = 1000;

checkpoint::ManagerOptions manager_options(const LoopSetup& setup) {
    checkpoint::ManagerOptions options = checkpoint::retention_of(setup.config.document);
    options.folder = setup.folder / "checkpoints";
    options.async = setup.config.checkpoint_async;
    options.check = [&lock = setup.lock] { lock.check(); };
    options.elsewhere = setup.saves != nullptr ? setup.saves->elsewhere() : nullptr;
    options.finished = [&control = setup.control] { control.wake(); }; // a paused run tells of it
    return options;
}

/// Where the copy of this run's checkpoints is kept; empty: nowhere.
std::string mirror_text(const LoopSetup& setup) {
    const config::Json& mirror = setup.config.document.at("checkpoint").at("mirror");
    return mirror.is_string() ? mirror.get<std::string>() : std::string();
}

checkpoint::MirrorOptions mirror_options(const LoopSetup& setup) {
    const store::Address parent = store::parse_address(mirror_text(setup));
    return {.run = setup.folder,
            .to = parent.below(setup.folder.filename().string()),
            .access = store::access_of(parent),
            .patience = {},
            .told = [&control = setup.control] { control.wake(); }};
}

std::string file_name(std::int64_t step) {
    return checkpoint::folder_name(step) + ".json";
}

} // namespace

std::int64_t schedule_total(std::int64_t steps) {
    return steps > 0 ? steps : std::numeric_limits<std::int64_t>::max() / 2;
}

std::int64_t planned_steps(const LiveSettings& live, const Pace& pace) {
    const std::int64_t steps = total_steps(live.length, pace);
    return steps == 0 ? 0 : steps + live.extra_steps;
}

StepLoop::StepLoop(const LoopSetup& setup, Progress& progress)
    : setup_(setup), judge_(setup.config, progress), progress_(progress),
      update_(setup.executor, setup.config, schedule_total(setup.schedule_steps),
              progress.moments_since),
      inside_(setup.executor, setup.folder, setup.control, setup.lock,
              [this](const Watched& watched, const InsideLook& look) {
                  setup_.recorder.add_look(watched, look, setup_.clock.epoch_s());
              }),
      system_(setup.folder, setup.health, epoch()),
      loader_watch_(setup.config.num_workers, setup.config.prefetch),
      manager_(manager_options(setup)), saved_step_(setup.saved_step) {
    if (!mirror_text(setup_).empty()) {
        mirror_.emplace(mirror_options(setup_));
    }
    update_.set_rate_factors(judge_.rate_factors());
    left_out_steps_.insert(setup.config.pass_over.begin(), setup.config.pass_over.end());
    left_out_steps_.insert(progress.passed_over.begin(), progress.passed_over.end());
    replay_ = SettingsReplay(settings_to_replay(setup.folder, progress.step));
    open_loader();
    last_evaluation_s_ = last_save_s_ = setup.clock.steady_s();
}

// What is damaged counts towards data.train.most_bad until it is mended, also in another process.
void StepLoop::open_loader() {
    for (auto& [part, known] : progress_.left_out) {
        const auto& source = part == "train" ? setup_.data.train : setup_.data.validation;
        if (source != nullptr) {
            drop_mended(known, *source);
        }
    }
    feed_.emplace(setup_.config, setup_.data.train, training_order(setup_.config, progress_.cursor),
                  setup_.rows);
}

LoopEnd StepLoop::run() {
    for (;;) {
        try {
            keep_start();
            if (feed_) {
                begin();
            }
            const LoopEnd end = take_steps();
            report_loader();
            setup_.profile.end(end == LoopEnd::stop || end == LoopEnd::stop_now
                                   ? "the run was stopped"
                                   : "the run ended");
            return end;
        } catch (const Error& fault) {
            if (fault.kind() != ErrorKind::data) {
                setup_.profile.end("the run failed");
                throw;
            }
            pause_for_data(fault);
        }
    }
}

void StepLoop::begin() {
    feed_->wait_until_full(); // its thread has what it needs before libraries' memory is measured
    loader_watch_.begin(feed_->use());
    // A stop may have fallen between an update and the evaluation that was due after it.
    if (evaluation_is_pending(progress_.live)) {
        after_step();
    }
}

// What the arenas hold is the last good state. Batches made ahead go: they are read again when the
// run goes on.
void StepLoop::pause_for_data(const Error& fault) {
    report_loader();
    feed_.reset();
    if (progress_.step > 0 && saved_step_ != progress_.step) {
        save("");
    }
    settle();
    setup_.control.emit(
        WarningEvent{"The data cannot be read: " + fault.where() + ": " + fault.text(),
                     fault.hint() + (fault.hint().empty() ? "" : " ") +
                         "Training is paused and nothing is lost. Mend the data, then resume."});
    setup_.control.pause("the data cannot be read");
}

void StepLoop::tell_left_out(const std::string& part, const std::vector<data::LeftOut>& found) {
    const std::string news = note_left_out(progress_.left_out, part, found);
    if (!news.empty()) {
        setup_.control.emit(WarningEvent{
            news, "They count nothing. More of them than data.train.most_bad pause the run."});
    }
}

LoopEnd StepLoop::take_steps() {
    for (;;) {
        if (!under_way_.empty()) {
            start_next_or_complete();
            continue;
        }
        collect_saves();
        watch_the_log();
        const Orders orders = take_orders(progress_.step);
        const double now_s = setup_.clock.steady_s();
        if (now_s - last_beat_s_ >= kBeatSeconds) {
            setup_.lock.beat();
            watch_the_folder();
            last_beat_s_ = now_s;
        }
        if (orders.wanted.stop) {
            return orders.wanted.stop_now ? LoopEnd::stop_now : LoopEnd::stop;
        }
        if (feed_ && (reached_length(orders.live, progress_.step) || judge_.has_stalled())) {
            if (!lacks_last_evaluation()) {
                return LoopEnd::length;
            }
            if (evaluate_now()) {
                saved_step_ = -1; // its record shall hold these metrics
            }
            continue;
        }
        if (setup_.max_steps && progress_.step >= *setup_.max_steps) {
            return LoopEnd::max_steps;
        }
        if (recording_is_due(orders)) {
            setup_.profile.order(progress_.step + 1, orders.record_steps);
        }
        if (orders.wanted.evaluate) {
            setup_.control.done(&Wanted::evaluate);
            evaluate_now();
        } else if (orders.wanted.save) {
            setup_.control.done(&Wanted::save);
            save("by hand");
        } else if (orders.state == RunState::paused) {
            setup_.control.wait(kBeatSeconds);
        } else if (!feed_) {
            open_loader();
            begin();
        } else if (spoiler_ == progress_.step + 1) {
            examine_spoiler();
        } else if (passes_over(progress_.step + 1)) {
            pass_over();
        } else {
            start_step(orders);
        }
    }
}

// Settings that were changed take effect here, between two updates, and nowhere else.
Orders StepLoop::take_orders(std::int64_t done) {
    std::set<std::string> repeated;
    for (const SettingsEvent& change : replay_.due(done)) {
        setup_.control.repeat_change({{"path", change.path}, {"value", change.value}});
        repeated.insert(change.path);
    }
    Orders orders = setup_.control.orders();
    for (auto& [path, value] : differences(progress_.live, orders.live)) {
        const bool again = repeated.contains(path);
        if (!again) {
            replay_.drop(path);
        }
        setup_.control.emit(SettingsEvent{done, again ? "" : orders.live_by, path, value, again});
    }
    progress_.live = orders.live;
    update_.set_frozen(progress_.live.frozen);
    return orders;
}

void StepLoop::start_next_or_complete() {
    if (goes_on(setup_.control.orders())) {
        start_step(take_orders(progress_.step + std::ssize(under_way_)));
    } else {
        complete_step();
    }
}

// Whether the next update may be started before the last one is complete. Not either where its
// batch is late: no device waits longer for that, and what it waits is counted as it is.
bool StepLoop::goes_on(const Orders& orders) const {
    const Wanted& wanted = orders.wanted;
    const bool ordered = wanted.stop || wanted.pause || wanted.single_step || wanted.save ||
                         wanted.evaluate || recording_is_due(orders) ||
                         orders.state != RunState::running;
    if (ordered || manager_.has_finished() || (mirror_ && mirror_->has_news()) ||
        !setup_.control.log_problem().empty() ||
        setup_.clock.steady_s() - last_beat_s_ >= kBeatSeconds || !feed_->is_ready()) {
        return false;
    }
    const std::int64_t step = progress_.step + static_cast<std::int64_t>(under_way_.size());
    if (passes_over(step + 1) || step < watch_until_) {
        return false;
    }
    return !reached_length(orders.live, step) && !(setup_.max_steps && step >= *setup_.max_steps) &&
           !evaluation_is_due(orders.live, step) && !setup_.profile.wants(step + 1) &&
           !inside_.wants(step + 1, orders.live) && !save_is_due(orders.live, step) &&
           !first_save_is_due(orders.live);
}

// Its room is made while nothing of what libraries keep is measured.
bool StepLoop::recording_is_due(const Orders& orders) const {
    return orders.record_steps > 0 && !setup_.profile.is_ordered() &&
           updates_ >= exec::kSettlingRuns;
}

// Starts nothing when it is told to stop.
void StepLoop::start_step(const Orders& orders) {
    UnderWay update;
    const std::int64_t step = progress_.step + static_cast<std::int64_t>(under_way_.size());
    setup_.profile.begin_step(step + 1);
    const bool recorded = setup_.profile.is_on();
    update.start_s = setup_.clock.steady_s();
    const data::Batch* batch = feed_->next();
    WEFT_CHECK(batch != nullptr, "training batches never end");
    update.samples = batch->samples;
    update.after = batch->after;
    update.left_out = batch->left_out;
    update.multiplier = orders.live.learning_rate_multiplier;
    update.wait_ms = feed_->last_wait_ms();
    setup_.profile.batch_ready();
    if (inside_.wants(step + 1, orders.live)) {
        inside_.begin();
    }
    if (update_.start(*feed_, step, update.multiplier, setup_.control.halt()) ==
        exec::RunOutcome::stopped) {
        inside_.drop();
        return;
    }
    setup_.profile.computed();
    under_way_.push_back(std::move(update));
    // A watched step is over before the next one begins: whoever watches waits for the devices.
    if (recorded || inside_.is_on() || under_way_.size() > update_.depth()) {
        complete_step();
    }
}

void StepLoop::complete_step() {
    UpdateNumbers numbers = update_.numbers();
    const UnderWay update = std::move(under_way_.front());
    under_way_.pop_front();
    rescale(setup_.data.train->target_scale(), numbers.metrics);
    if (!numbers.finite) {
        inside_.drop();
        diverge(update, numbers);
        return;
    }
    ++progress_.step;
    progress_.samples += update.samples;
    progress_.cursor = update.after;
    // One that was started before the last was complete has had the devices from then on.
    const double now_s = setup_.clock.steady_s();
    const double step_s = now_s - std::max(update.start_s, completed_s_);
    completed_s_ = now_s;
    progress_.seconds += step_s;
    if (numbers.skipped > progress_.skipped) {
        inside_.drop();
        tell_skipped(numbers);
    } else {
        report(update, numbers, step_s);
        inside_.end(progress_.step, update.samples, numbers.loss_scale);
    }
    tell_left_out("train", update.left_out);
    setup_.profile.end_step();
    if (updates_ < exec::kSettlingRuns && ++updates_ == exec::kSettlingRuns) {
        setup_.memory_settled();
        reserve_staging();
    }
    if (watch_until_ > 0 && !is_still_good()) {
        return;
    }
    if (under_way_.empty()) {
        after_step(); // before anybody hears of a pause: a paused run does nothing
        setup_.control.apply(RunInput::step_done);
    }
}

// Where saves are to be expected; what a GPU holds is copied elsewhere.
void StepLoop::reserve_staging() {
    const bool saves = progress_.live.checkpoint_every || setup_.config.checkpoint_on_improvement;
    const bool here = setup_.saves == nullptr || setup_.saves->all_write();
    if (saves && here && setup_.config.checkpoint_async && setup_.executor.on_host()) {
        manager_.wait();
        manager_.reserve(saved_tensors(setup_.executor, setup_.saves).views);
    }
}

void StepLoop::report(const UnderWay& update, const UpdateNumbers& numbers, double step_s) {
    StepEvent event;
    event.step = progress_.step;
    event.epoch = epoch();
    event.loss = numbers.loss;
    event.learning_rate = numbers.learning_rate;
    event.grad_norm = numbers.grad_norm;
    const double seconds = std::max(step_s, 1e-9);
    event.samples_per_s = static_cast<double>(update.samples) / seconds;
    if (setup_.pace.tokens_per_sample > 0) {
        event.tokens_per_s =
            event.samples_per_s * static_cast<double>(setup_.pace.tokens_per_sample);
    }
    event.step_ms = step_s * 1000;
    event.data_wait_ms = update.wait_ms;
    event.memory_bytes = setup_.memory.growth_bytes(setup_.executor);
    if (setup_.peak_flops > 0) {
        event.mfu = setup_.model_flops / (seconds * setup_.peak_flops);
    }
    event.metrics = system_.step(event.epoch, step_s, update.wait_ms / 1000, completed_s_);
    event.metrics.insert(event.metrics.begin(), numbers.metrics.begin(), numbers.metrics.end());
    judge_.add_step(numbers);
    keep_time(event.step_ms - update.wait_ms);
    save_steps_.completed(event.step_ms - update.wait_ms);
    record(std::move(event));
    report_devices();
    loader_watch_.add_step(step_s, completed_s_);
    if (loader_watch_.is_due()) {
        report_loader();
    }
}

// Its numbers are no numbers: no series and no mean has them.
void StepLoop::tell_skipped(const UpdateNumbers& numbers) {
    progress_.skipped = numbers.skipped;
    const char* reason =
        std::isfinite(numbers.loss) ? "the gradient is not finite" : "the loss is not finite";
    setup_.control.emit(SkippedEvent{progress_.step, reason, numbers.loss_scale, numbers.skipped});
}

void StepLoop::report_devices() {
    const double now_s = setup_.clock.steady_s();
    const bool worth_telling = !setup_.executor.plan().mesh.single() || setup_.health != nullptr;
    if (worth_telling && now_s - last_devices_s_ >= kDevicesSeconds) {
        last_devices_s_ = now_s;
        setup_.control.emit(devices_event(setup_.executor, progress_.step, setup_.health));
    }
}

void StepLoop::report_loader() {
    if (feed_ && loader_watch_.has_steps()) {
        setup_.control.emit(loader_watch_.take(progress_.step, feed_->use()));
    }
}

void StepLoop::keep_time(double ms) {
    if (step_ms_.size() < kKeptSteps) {
        step_ms_.push_back(ms);
        return;
    }
    step_ms_[next_step_ms_] = ms;
    next_step_ms_ = (next_step_ms_ + 1) % kKeptSteps;
}

void StepLoop::after_step() {
    const LiveSettings live = progress_.live;
    bool improved = false;
    const bool save_due = progress_.step > 0 && save_is_due(live, progress_.step);
    const bool first_due = first_save_is_due(live);
    if (evaluation_is_pending(live)) {
        improved = evaluate_now();
    }
    if (progress_.step == 0) {
        return;
    }
    if (save_due || (improved && setup_.config.checkpoint_on_improvement)) {
        save("");
    } else if (first_due) {
        const double counted_from_s = last_save_s_;
        save("");
        last_save_s_ = counted_from_s; // checkpoint.every goes on as without it
    }
}

bool StepLoop::save_is_due(const LiveSettings& live, std::int64_t step) const {
    return live.checkpoint_every && is_due(*live.checkpoint_every, setup_.pace, step,
                                           setup_.clock.steady_s() - last_save_s_);
}

// A crash now would lose the whole run. Where saving is switched off, that is meant.
bool StepLoop::first_save_is_due(const LiveSettings& live) const {
    return saved_step_ < 0 && (live.checkpoint_every || setup_.config.checkpoint_on_improvement) &&
           setup_.clock.steady_s() - last_save_s_ >= kFirstSaveSeconds;
}

bool StepLoop::evaluation_is_due(const LiveSettings& live, std::int64_t step) const {
    return has_something_to_evaluate() && is_due(live.evaluation_every, setup_.pace, step,
                                                 setup_.clock.steady_s() - last_evaluation_s_);
}

bool StepLoop::evaluation_is_pending(const LiveSettings& live) const {
    if (progress_.evaluated_step == progress_.step) {
        return false;
    }
    if (progress_.step == 0) {
        return setup_.config.evaluation_at_start && setup_.data.validation != nullptr;
    }
    return evaluation_is_due(live, progress_.step);
}

bool StepLoop::has_something_to_evaluate() const {
    return setup_.data.validation != nullptr || judge_.counts_training();
}

bool StepLoop::lacks_last_evaluation() const {
    return has_something_to_evaluate() && progress_.evaluated_step != progress_.step;
}

// True when the run is better than ever before.
bool StepLoop::evaluate_now() {
    if (!has_something_to_evaluate()) {
        return false;
    }
    Metrics known;
    if (setup_.data.validation != nullptr) {
        auto metrics = evaluate_validation();
        if (!metrics) {
            return false; // stopped: due again when the run goes on
        }
        known = std::move(*metrics);
    }
    if (judge_.counts_training()) {
        const Metrics means = judge_.take_training_means();
        known.insert(known.end(), means.begin(), means.end());
    }
    last_evaluation_s_ = setup_.clock.steady_s();
    progress_.evaluated_step = progress_.step;
    progress_.last_metrics = known;
    if (const std::string news = judge_.note_stall(known); !news.empty()) {
        setup_.control.emit(
            WarningEvent{news, "Without early stopping it trains the full length."});
    }
    for (std::string& news : judge_.note_plateaus(known)) {
        setup_.control.emit(NoteEvent{std::move(news)});
    }
    update_.set_rate_factors(judge_.rate_factors());
    return judge_.is_improvement(known);
}

// nullopt when it was stopped.
std::optional<Metrics> StepLoop::evaluate_validation() {
    const double start_s = setup_.clock.steady_s();
    const double before_s = last_evaluation_s_;
    std::vector<data::LeftOut> left_out;
    const auto metrics = evaluate(setup_.executor, setup_.config, setup_.data.validation,
                                  "validation", setup_.config.evaluation_max_batches.value_or(0),
                                  setup_.control.wind_up(), left_out, setup_.rows);
    tell_left_out("validation", left_out);
    last_evaluation_s_ = setup_.clock.steady_s();
    progress_.seconds += last_evaluation_s_ - start_s;
    if (!metrics) {
        return std::nullopt;
    }
    if (metrics->empty()) {
        setup_.control.emit(WarningEvent{"Nothing was measured: no target of the validation data "
                                         "counts.",
                                         "Look at the data, or train without validation data."});
        return metrics;
    }
    record(EvaluationEvent{progress_.step, *metrics});
    write_samples(last_evaluation_s_ - before_s);
    progress_.seconds += setup_.clock.steady_s() - last_evaluation_s_;
    return metrics;
}

// On the same samples every time, so that one can watch them change. What has passed since the last
// evaluation tells how long texts may take.
void StepLoop::write_samples(double since_s) {
    const auto samples = keep_samples(
        setup_.executor, setup_.config, *setup_.data.validation, "validation", progress_.step,
        {.samples = setup_.config.evaluation_samples,
         .seconds = std::max(kLeastSampleSeconds, kSampleShare * since_s),
         .clock = setup_.clock,
         .stop = setup_.control.wind_up()});
    if (!samples || !watch_the_folder()) {
        return;
    }
    const std::filesystem::path path = std::filesystem::path("samples") / file_name(progress_.step);
    try {
        train::write_samples(*samples, setup_.folder / "samples", file_name(progress_.step));
        setup_.control.emit(SampleEvent{progress_.step, path.string()});
    } catch (const Error& fault) {
        setup_.control.emit(
            WarningEvent{"The sample predictions were not written: " + fault.message(),
                         "Free some disk space."});
    }
}

void StepLoop::save(const std::string& kept_for) {
    if (!watch_the_folder()) {
        return; // paused, and told
    }
    setup_.control.apply(RunInput::save_begun);
    checkpoint::Record record = to_record(progress_, setup_.config, epoch(), setup_.environment);
    if (!kept_for.empty()) {
        record.kept_for.push_back(kept_for);
    }
    record.mesh = recorded_axes(setup_.executor.plan().mesh);
    record.tokenizer = saved_tokenizer(setup_.data.train->info());
    manager_.prepare(); // never two copies at once
    if (setup_.saves != nullptr) {
        setup_.executor.finish();
        setup_.saves->stage();
    }
    const auto saved =
        std::make_shared<const SavedTensors>(saved_tensors(setup_.executor, setup_.saves));
    manager_.save(saved->views, std::move(record), saved->are_copies ? saved : nullptr);
    if (updates_ < exec::kSettlingRuns) {
        manager_.wait(); // nobody else allocates while libraries' memory is being measured
    }
    save_steps_.save_begun(progress_.step);
    saved_step_ = progress_.step;
    last_save_s_ = setup_.clock.steady_s();
    setup_.control.apply(RunInput::save_done);
    collect_saves();
}

void StepLoop::collect_saves() {
    for (const checkpoint::Saved& saved : manager_.take_finished()) {
        save_problem_ = saved.error;
        const SaveNeighbours steps = save_steps_.save_ended(saved.step);
        if (saved.error.empty()) {
            tell_saved(saved, steps);
        } else {
            setup_.control.emit(WarningEvent{
                "The checkpoint of step " + std::to_string(saved.step) +
                    " was not saved: " + saved.error,
                "Training is paused and nothing is lost. Make room, then resume and save."});
            saved_step_ = saved_step_ == saved.step ? -1 : saved_step_;
            setup_.control.pause("a checkpoint could not be saved");
        }
        if (!saved.warning.empty()) {
            setup_.control.emit(WarningEvent{saved.warning, ""});
        }
        if (mirror_) {
            mirror_->wake();
        }
    }
    tell_mirror_news();
}

void StepLoop::tell_mirror_news() {
    if (!mirror_) {
        return;
    }
    for (checkpoint::MirrorNews& news : mirror_->take_news()) {
        if (news.is_problem) {
            setup_.control.emit(WarningEvent{std::move(news.text), std::move(news.hint)});
        } else {
            setup_.control.emit(NoteEvent{std::move(news.text)});
        }
    }
}

// What could not be sent is said, and no more: the run is whole on this machine.
void StepLoop::settle_mirror() {
    if (!mirror_) {
        return;
    }
    const std::vector<std::int64_t> missing =
        mirror_->settle([halt = setup_.control.halt()] { return halt.stop_requested(); });
    tell_mirror_news();
    if (missing.empty()) {
        return;
    }
    std::string steps;
    for (const std::int64_t step : missing) {
        steps += (steps.empty() ? "" : ", ") + format_thousands(step);
    }
    setup_.control.emit(WarningEvent{"Not copied to " + mirror_text(setup_) + ": the checkpoint" +
                                         (missing.size() == 1 ? "" : "s") + " of step " + steps +
                                         ".",
                                     "They are in " + (setup_.folder / "checkpoints").string() +
                                         ". Resume the run when the store can be reached: what is "
                                         "missing there is sent first."});
}

void StepLoop::tell_saved(const checkpoint::Saved& saved, const SaveNeighbours& steps) {
    setup_.control.emit(
        CheckpointEvent{saved.step, saved.path.lexically_relative(setup_.folder).string(),
                        saved.bytes, saved.blocked_ms, saved.write_ms, saved.kept_for,
                        saved.waited_ms, steps.before_ms, steps.during_ms, steps.longest_ms});
    setup_.control.sync_log();
    const double step_ms = steps.before_ms.value_or(0);
    if (saved.waited_ms > std::max(step_ms, kLeastWaitToldMs) && !warned_about_saves_) {
        warned_about_saves_ = true;
        setup_.control.emit(WarningEvent{
            "Training waited " + format_duration(saved.waited_ms / 1000) + " to save step " +
                format_thousands(saved.step) + ": the save before was still being written.",
            "Saves come faster than this disk takes them. Save less often "
            "(checkpoint.every), or onto a faster disk."});
    }
}

// events.jsonl is complete or training waits: a full disk must not cost the record of a run.
void StepLoop::watch_the_log() {
    const std::string problem = setup_.control.log_problem();
    if (!problem.empty() && setup_.control.orders().state == RunState::running) {
        if (!warned_about_log_) {
            setup_.control.emit(WarningEvent{"Events do not reach the disk: " + problem,
                                             "Training is paused. Make room, then resume."});
        }
        setup_.control.pause("events cannot be written");
    }
    warned_about_log_ = !problem.empty();
}

// Whether the folder is still this run's. Else what is written from now on would be a torso,
// without configuration and record, or part of another run.
bool StepLoop::watch_the_folder() {
    const RunLock::Place place = setup_.lock.place();
    const bool changed = std::exchange(folder_, place) != place;
    if (changed && place == RunLock::Place::gone) {
        setup_.control.emit(WarningEvent{
            "The run's folder was deleted or moved: " + setup_.folder.string(),
            "Training is paused. Put it back, or stop: the last checkpoint is then saved there, to "
            "begin another run from."});
        setup_.control.pause("the run's folder is gone");
    }
    if (changed && place == RunLock::Place::of_another) {
        setup_.control.emit(WarningEvent{
            "The run's folder is of another run now: " + setup_.folder.string(),
            "Training is paused, and nothing is written there. Move the other run away and put "
            "this one's folder back; a stop before loses what was not saved."});
        setup_.control.pause("the run's folder is of another run");
    }
    return place == RunLock::Place::ours;
}

bool StepLoop::reached_length(const LiveSettings& live, std::int64_t step) const {
    if (live.length.unit == compile::Cadence::Unit::minutes) {
        return progress_.seconds >= live.length.amount * 60;
    }
    return step >= planned_steps(live, setup_.pace);
}

double StepLoop::epoch() const {
    return static_cast<double>(progress_.cursor.epoch) +
           static_cast<double>(progress_.cursor.position) /
               static_cast<double>(setup_.pace.samples_per_epoch);
}

void StepLoop::record(Payload payload) {
    const Event event = setup_.control.emit(std::move(payload));
    if (setup_.lock.place() != RunLock::Place::ours) {
        return; // series are opened by their names
    }
    if (const std::string problem = setup_.recorder.add(event); !problem.empty()) {
        setup_.control.emit(WarningEvent{"The metrics store is not written any more: " + problem,
                                         "events.jsonl still has every number."});
    }
}

void StepLoop::save_at_end() {
    if (!watch_the_folder()) {
        settle();
        setup_.lock.claim();
        saved_step_ = -1; // what was saved is not there any more
    }
    if (saved_step_ != progress_.step) {
        save("");
    }
    settle();
    settle_mirror();
    if (!save_problem_.empty()) {
        throw Error(ErrorKind::runtime, (setup_.folder / "checkpoints").string(),
                    "the last checkpoint could not be saved: " + save_problem_,
                    "the newest complete checkpoint is older");
    }
}

void StepLoop::settle() {
    manager_.wait();
    collect_saves();
}

// What the patience was spent on made the run no better: the test measures what it found before, as
// whoever takes the best checkpoint will. The newest one is on disk already. False when it cannot.
bool StepLoop::take_best_weights() {
    const auto entries = checkpoint::list_checkpoints(setup_.folder / "checkpoints");
    const checkpoint::Entry* best = checkpoint::best_entry(entries, judge_.goal());
    if (best == nullptr || best->step == progress_.step) {
        return true;
    }
    const std::string name = "the best checkpoint, of step " + format_thousands(best->step);
    try {
        restore_tensors(setup_.executor, checkpoint::read_manifest(best->path), Missing::is_error);
    } catch (const Error& fault) {
        setup_.control.emit(WarningEvent{"The test was not measured: " + name +
                                             ", cannot be read: " + fault.message(),
                                         "`weft eval` measures another one."});
        return false;
    }
    setup_.control.emit(WarningEvent{"The test measures " + name + ".", ""});
    return true;
}

FinishedEvent StepLoop::finish() {
    save_at_end();
    FinishedEvent event;
    event.steps = progress_.step;
    event.last = progress_.last_metrics;
    if (progress_.best) {
        event.best = progress_.best->metrics;
    }
    if (setup_.data.test != nullptr && (!judge_.has_stalled() || take_best_weights())) {
        const double start_s = setup_.clock.steady_s();
        std::vector<data::LeftOut> left_out;
        event.test = evaluate(setup_.executor, setup_.config, setup_.data.test, "test", 0,
                              setup_.control.wind_up(), left_out, setup_.rows)
                         .value_or(Metrics{});
        tell_left_out("test", left_out);
        for (const data::Note& note : setup_.data.test->notes()) {
            setup_.control.emit(event_of(note));
        }
        progress_.seconds += setup_.clock.steady_s() - start_s;
    }
    event.seconds = progress_.seconds;
    return event;
}

} // namespace weft::train
