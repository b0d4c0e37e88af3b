// SPDX-License-Identifier: Apache-2.0
// The flat loop: batch, update, event, then what is due (evaluation, checkpoint), then the next. It
// looks for orders at every step boundary.
//
// Devices that work by themselves are given an update before the numbers of the last one are looked
// at, unless something comes between the two: whatever is due, ordered or wrong finds no update
// under way. An update after one that was not finite changes nothing, so that it can be dropped.
#pragma once

#include "core/base/error.h"
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/mirror.h"
#include "core/train/control/run_control.h"
#include "core/train/control/settings_replay.h"
#include "core/train/inside/look_inside.h"
#include "core/train/judge.h"
#include "core/train/logging/recorder.h"
#include "core/train/measure/health_watch.h"
#include "core/train/measure/record_steps.h"
#include "core/train/measure/record_system.h"
#include "core/train/measure/save_steps.h"
#include "core/train/memory_meter.h"
#include "core/train/progress.h"
#include "core/train/ranks/batch_feed.h"
#include "core/train/record/loader_watch.h"
#include "core/train/restore_run.h"
#include "core/train/run_length.h"
#include "core/train/update.h"

#include <deque>
#include <optional>
#include <set>

namespace weft::train {

struct Divergence;
class RankRows;
class RankSaves;

/// The loss or the gradient is not finite; carries what to tell.
class Diverged : public Error {
public:
    explicit Diverged(ErrorEvent event)
        : Error(ErrorKind::diverged, event.where, event.message, event.hint),
          event_(std::move(event)) {}
    const ErrorEvent& event() const { return event_; }

private:
    ErrorEvent event_;
};

/// `length` also where early stopping ends the run before it.
enum class LoopEnd : std::uint8_t { length, max_steps, stop, stop_now };

/// What the loop works with; everything outlives it.
struct LoopSetup {
    const compile::RunConfig& config;
    const std::filesystem::path& folder; // of the run
    const data::DataSet& data;
    exec::Executor& executor;
    const Pace& pace;
    std::int64_t schedule_steps = 0; // frozen length
    std::optional<std::int64_t> max_steps;
    double model_flops = 0; // of one step
    double peak_flops = 0;  // per second; 0: not known, and no utilisation is reported
    const MemoryMeter& memory;
    const HealthWatch* health = nullptr;  // of the GPUs that it runs on; null: it runs on the host
    RecordSteps& profile;                 // records steps when it is told to
    std::function<void()> memory_settled; // once per session: what libraries keep is known
    config::Json environment;
    RunControl& control;
    Recorder& recorder;
    RunLock& lock;
    const Clock& clock;
    RankSaves* saves = nullptr;   // of a run of many processes
    RankRows* rows = nullptr;     // likewise
    std::int64_t saved_step = -1; // the checkpoint that the run was restored from
    std::int64_t fork_step = -1;  // of a fork: the parent's checkpoint that it began with
};

/// Steps of the whole run by the settings of now; 0 when it is measured in minutes.
std::int64_t planned_steps(const LiveSettings& live, const Pace& pace);

/// What schedules count as the whole: a run measured in minutes has no last step, and they stay
/// where they are after the warm-up.
std::int64_t schedule_total(std::int64_t steps);

class StepLoop {
public:
    StepLoop(const LoopSetup& setup, Progress& progress);

    /// Trains until something ends it. Throws weft::Error, Diverged included.
    LoopEnd run();
    /// At the full length: the last checkpoint, then the test split where there is one.
    FinishedEvent finish();
    /// Saves unless this step is saved already, and waits. Throws weft::Error{runtime} when the
    /// checkpoint could not be written: nobody shall believe that it is there.
    void save_at_end();
    /// Waits for the write in flight and reports it.
    void settle();
    /// What the newest steps took without waiting for data, the last thousand, in no order.
    const std::vector<double>& step_ms() const { return step_ms_; }

private:
    LoopEnd take_steps();
    Orders take_orders(std::int64_t done);
    void start_next_or_complete();
    void open_loader();
    void begin();
    void pause_for_data(const Error& fault);
    void tell_left_out(const std::string& part, const std::vector<data::LeftOut>& found);
    /// An update that was started and not counted yet.
    struct UnderWay {
        std::int64_t samples = 0;
        data::Cursor after;
        std::vector<data::LeftOut> left_out;
        double multiplier = 1; // of learning rates
        double start_s = 0;
        double wait_ms = 0; // for the batch
    };
    void start_step(const Orders& orders);
    bool recording_is_due(const Orders& orders) const;
    bool goes_on(const Orders& orders) const;
    void complete_step();
    void report(const UnderWay& update, const UpdateNumbers& numbers, double step_s);
    void tell_skipped(const UpdateNumbers& numbers);
    void report_devices();
    void reserve_staging();
    void report_loader();
    void keep_time(double ms);

    // rewind/step_loop_rewind.cpp
    void keep_start();
    void diverge(const UnderWay& update, const UpdateNumbers& numbers);
    [[noreturn]] void give_up(Divergence& what);
    bool state_is_finite() const;
    void take_updates_again();
    void examine(double multiplier, Divergence& what);
    bool look_back(Divergence& what);
    bool begins_at_init() const;
    void repeat_updates(const Progress& start, Divergence& what);
    void tell_divergence(const Divergence& what, std::int64_t back_to, std::int64_t passes_over);
    std::int64_t left_out_near(std::int64_t step) const;
    bool rewind(Divergence& what, bool state_is_good);
    std::optional<RestoredRun> restore_newest_good();
    void go_on_from(RestoredRun restored);
    void read_on();
    bool is_still_good();
    void examine_spoiler();
    bool passes_over(std::int64_t step) const { return left_out_steps_.contains(step); }
    void pass_over();

    void after_step();
    bool save_is_due(const LiveSettings& live, std::int64_t step) const;
    bool first_save_is_due(const LiveSettings& live) const;
    bool evaluation_is_due(const LiveSettings& live, std::int64_t step) const;
    bool evaluation_is_pending(const LiveSettings& live) const;
    bool lacks_last_evaluation() const;
    bool evaluate_now();
    std::optional<Metrics> evaluate_validation();
    bool has_something_to_evaluate() const;
    bool take_best_weights();
    void write_samples(double since_s);
    void save(const std::string& kept_for);
    void collect_saves();
    void tell_saved(const checkpoint::Saved& saved, const SaveNeighbours& steps);
    void tell_mirror_news();
    void settle_mirror();
    void watch_the_log();
    bool watch_the_folder();
    bool reached_length(const LiveSettings& live, std::int64_t step) const;
    double epoch() const;
    void record(Payload payload);

    LoopSetup setup_;
    Judge judge_;
    Progress& progress_;
    Update update_;
    std::deque<UnderWay> under_way_;
    SettingsReplay replay_;
    LookInside inside_;
    RecordSystem system_;
    std::set<std::int64_t> left_out_steps_; // updates that are passed over, by number
    std::int64_t watch_until_ = 0; // the state is looked at after each update up to this one
    std::int64_t spoiler_ = 0;     // the update that spoilt it, to be looked into; 0: none
    bool start_is_kept_ = false;
    double completed_s_ = 0;             // when the last update was
    std::optional<BatchFeed> feed_;      // none: the run waits for data that can be read
    LoaderWatch loader_watch_;
    checkpoint::Manager manager_;
    std::optional<checkpoint::Mirror> mirror_; // none: checkpoints are on disk only
    SaveSteps save_steps_;
    bool warned_about_saves_ = false;
    double last_evaluation_s_ = 0;
    double last_save_s_ = 0;
    double last_beat_s_ = 0;
    RunLock::Place folder_ = RunLock::Place::ours;
    double last_devices_s_ = 0;
    std::vector<double> step_ms_; // a ring
    std::size_t next_step_ms_ = 0;
    std::int64_t saved_step_ = -1;
    std::string save_problem_; // of the newest save; empty when it succeeded
    bool warned_about_log_ = false;
    int updates_ = 0; // of this session, as far as memory settles
};

} // namespace weft::train
