// SPDX-License-Identifier: Apache-2.0
// The phases of a run, in order: lock and log, plan and verdict, data, kernels, start values or
// checkpoint, the step loop, winding up. One catch at the top of run().
#include "core/train/session.h"

#include "core/base/file.h"
#include "core/optim/schedule.h"
#include "core/plan/device_memory.h"
#include "core/train/control/freezable_layers.h"
#include "core/train/engine.h"
#include "core/train/evaluation.h"
#include "core/train/measure/device_meter.h"
#include "core/train/measure/machine_cost.h"
#include "core/train/memory_meter.h"
#include "core/train/moments.h"
#include "core/train/pictures/made_samples.h"
#include "core/train/planning.h"
#include "core/train/ranks/rank_rows.h"
#include "core/train/ranks/rank_team.h"
#include "core/train/record/host_info.h"
#include "core/train/restore_run.h"
#include "core/train/samples.h"
#include "core/train/step_loop.h"
#include "core/train/warm_start.h"
#include "core/train/ways_on.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <new>

namespace weft::train {
namespace {

namespace fs = std::filesystem;
using config::Json;

constexpr std::int64_t kFirstRecorded = 10; // of a session's steps, where none was named

void write_once(const fs::path& path, const std::string& text) {
    std::error_code problem;
    if (!fs::exists(path, problem)) {
        write_file_atomically(path, text);
    }
}

} // namespace

struct Session::State {
    explicit State(SessionOptions given)
        : options(std::move(given)), folder(options.run_folder),
          clock(options.clock != nullptr ? *options.clock : system_clock), control(options.sink) {}

    SessionResult train();
    SessionResult wind_up(StepLoop& loop, LoopEnd end);
    void learn_speed(const StepLoop& loop);
    void open_folder();
    void prepare();
    void make_plan();
    void write_plan(const plan::ExecutionPlan& made) const;
    void open_data();
    data::OnOpening on_opening();
    void gather_ranks();
    void set_up_ranks();
    double exchange_timeout_s() const;
    void prepare_kernels();
    void tell_memory();
    void keep_for_wandb();
    void tell_measured();
    void load_start();
    void prepare_recording();
    std::int64_t first_recorded(std::int64_t count) const;
    void restore();
    void warn_about_schedules();
    void judge_anew();
    void begin_epoch_of_other_data(const checkpoint::Manifest& manifest,
                                   std::vector<std::string>& notes);
    void warn_about_differences(const checkpoint::Manifest& manifest);
    void end_if_stopped();
    void begin_phase(const std::string& name);
    double end_phase();
    void write_info(const std::string& state, const std::string& message = {});
    SessionResult end_unprepared();
    std::vector<WayOn> ways_on(ErrorKind kind) const;
    Error first_fault(const Error& said) const;
    SessionResult fail(ErrorKind kind, ErrorEvent event);

    SessionOptions options;
    const fs::path folder;
    const SystemClock system_clock;
    const Clock& clock;
    RunControl control;
    std::optional<RunLock> lock;
    std::optional<Recorder> recorder;
    RunInfo info;
    std::string fingerprint_before; // of the data, as an earlier session saw it
    data::DataSet data;
    Pace pace;
    MemoryMeter memory;
    std::optional<DeviceMeter> gpus;
    std::optional<HealthWatch> health; // of GPUs
    std::unique_ptr<exec::Executor> executor;
    std::optional<RecordSteps> profile;
    Progress progress;
    std::int64_t restored_step = -1;
    double phase_start_s = 0;
    data::DataOutline outline;              // that the plan was made for
    std::optional<std::int64_t> plan_limit; // likewise, of memory
    int device_threads = 1;                 // likewise
    double peak_flops = 0; // of products in the run's precision; 0 when they were not measured
    Json environment;

    mutable std::mutex plan_mutex;
    std::shared_ptr<const plan::ExecutionPlan> plan;
};

// Nothing has been trained yet that a stop could lose.
void Session::State::end_if_stopped() {
    if (control.halt().stop_requested()) {
        throw Error(ErrorKind::runtime, folder.string(), "was stopped while it was prepared");
    }
}

void Session::State::begin_phase(const std::string& name) {
    end_if_stopped();
    control.emit(StateEvent{control.orders().state, "", name, end_phase(), 0});
}

// Milliseconds since the phase began; 0 for the first.
double Session::State::end_phase() {
    const double now_s = clock.steady_s();
    const double ms = phase_start_s == 0 ? 0 : (now_s - phase_start_s) * 1000;
    phase_start_s = now_s;
    return ms;
}

void Session::State::write_info(const std::string& state, const std::string& message) {
    info.state = state;
    info.message = message;
    info.seconds = progress.seconds;
    info.total_steps = planned_steps(control.orders().live, pace);
    lock->check();
    write_run_info(folder, info);
}

void Session::State::open_folder() {
    make_directories(folder / "checkpoints");
    make_directories(folder / "samples");
    lock.emplace(folder, options.control);
    checkpoint::remove_stray_files(folder / "checkpoints");
    control.start(folder, live_settings_of(options.config), clock,
                  options.start_paused ? RunControl::Begin::paused : RunControl::Begin::running);
    std::error_code problem;
    if (fs::exists(folder / "run.json", problem)) {
        info = read_run_info(folder);
        fingerprint_before = info.data_fingerprint;
    } else {
        info.id = folder.filename().string();
        info.created = clock.epoch_s();
        info.parent = options.start.parent_run.string();
        info.base_dir = fs::absolute(options.config.base_dir).string();
        info.state = "preparing";
        write_run_info(folder, info); // whoever finds the run knows what its paths count from
    }
    info.name = options.config.name;
    info.model = options.config.model_type();
    environment = environment_json(options.version, thread_count(options.threads));
    info.environment = environment;
    const std::string config = options.config.document.dump(2) + "\n";
    if (options.devices_note.empty()) {
        write_once(folder / "config.json", config);
    } else { // who made the folder had left open what has been chosen
        write_file_atomically(folder / "config.json", config);
    }
}

void Session::State::prepare() {
    control.apply(
        RunInput::validated,
        StateEvent{
            {}, "", options.team != nullptr ? "gathering ranks" : "compiling", end_phase(), 0});
    if (!options.devices_note.empty()) {
        control.emit(NoteEvent{options.devices_note});
    }
    if (options.team != nullptr) {
        gather_ranks();
    }
    make_plan();
    begin_phase("opening data");
    open_data();
    begin_phase("creating kernels");
    if (options.team != nullptr) {
        set_up_ranks();
    }
    prepare_kernels();
    tell_memory();
    begin_phase("initialising");
    load_start();
    end_if_stopped();
    write_info("preparing");
    const std::int64_t total = planned_steps(control.orders().live, pace);
    control.apply(RunInput::prepared, StateEvent{{}, "", "", end_phase(), total});
    write_info("running");
}

// Nothing of the run's size is allocated before the verdict.
void Session::State::make_plan() {
    const cost::CostModel cost = machine_cost_model(options.calibration_file, options.threads);
    peak_flops = cost.peak_flops(options.config.compute_dtype(), options.config.operands());
    PlanTarget target = this_machine(options.threads, &cost);
    if (options.team != nullptr) {
        target = options.team->target(options.config, std::move(target));
    }
    plan_limit = target.limit_bytes;
    device_threads = target.device_threads;
    const fs::path& start = options.start.checkpoint;
    const std::int64_t step = start.empty() ? 0 : checkpoint::read_manifest(start).record.step;
    outline = outline_run_data(options.config, target, control.halt(), on_opening());
    auto made = std::make_shared<const plan::ExecutionPlan>(
        plan_to_run(options.config, outline, target, step, control.halt()));
    info.parameters = made->parameters;
    write_plan(*made);
    for (const std::string& fallback : made->fallbacks) {
        control.emit(WarningEvent{fallback, "It is correct, but slower than it could be."});
    }
    for (const sharding::Finding& finding : made->findings) {
        if (finding.matters()) {
            control.emit(WarningEvent{finding.array + " " + sharding::message_of(finding),
                                      sharding::hint_of(finding)});
        }
    }
    const std::lock_guard guard(plan_mutex);
    plan = std::move(made);
}

void Session::State::write_plan(const plan::ExecutionPlan& made) const {
    lock->check();
    write_file_atomically(folder / "plan.json", plan::to_json(made).dump() + "\n");
}

void Session::State::open_data() {
    data = open_run_data(options.config, control.halt(), on_opening());
    check_room_for_symbols(*plan, options.config, *data.train);
    pace = pace_of(options.config, *data.train);
    warn_about_schedules();
    info.data = data.train->info().description;
    info.data_fingerprint = data.train->fingerprint();
    for (const data::Note& note : data.notes) {
        control.emit(event_of(note));
    }
}

// A length in steps is checked with the configuration; of others the data decides.
void Session::State::warn_about_schedules() {
    const std::int64_t total = total_steps(options.config.length, pace);
    if (total <= 0 || options.config.length.unit == compile::Cadence::Unit::steps) {
        return;
    }
    config::Diagnostics found;
    optim::check_schedule(options.config.section("lr_schedule"), total, "/lr_schedule", found);
    for (const config::Diagnostic& one : found) {
        control.emit(WarningEvent{one.pointer + ": " + one.message, one.hint});
    }
}

data::OnOpening Session::State::on_opening() {
    return data::when_slow([this](const data::Opening& opening, double seconds) {
        control.emit(OpeningEvent{opening, seconds});
    });
}

void Session::State::gather_ranks() {
    RankTeam& team = *options.team;
    team.on_news([this](const exec::RankNews& news) {
        using What = exec::RankNews::What;
        const char* state = news.what == What::joined ? "joined"
                            : news.what == What::late ? "late"
                                                      : "lost";
        control.emit(RankEvent{news.rank, state, news.host, news.text});
    });
    team.gather(control.halt());
    begin_phase("compiling");
}

void Session::State::set_up_ranks() {
    RankTeam& team = *options.team;
    team.set_up({options.config, outline, plan, thread_count(options.threads), device_threads,
                 plan_limit, exchange_timeout_s(), folder});
    control.emit(NoteEvent{"Each device has a process of its own; they exchange through " +
                           team.transport() + "."});
    team.rows().on_warning([this](const std::string& text, const std::string& hint) {
        control.emit(WarningEvent{text, hint});
    });
    team.rows().look_at("train", *data.train);
    if (data.validation != nullptr) {
        team.rows().look_at("validation", *data.validation);
    }
}

double Session::State::exchange_timeout_s() const {
    return options.config.section("mesh").at("exchange_timeout").get<double>();
}

void Session::State::prepare_kernels() {
    const int threads = thread_count(options.threads);
    const exec::Compute compute = compute_of(options.config);
    if (!compute.on_host()) { // before memory is counted: libraries are loaded for it
        const std::vector<int> own = options.team == nullptr
                                         ? compute.devices
                                         : std::vector{compute.device(0)}; // that of rank 0
        health.emplace(*gpu_health(), own);
        gpus.emplace(own);
        if (const std::string problem = code_folder_problem(); !problem.empty()) {
            control.emit(
                WarningEvent{"Generated kernels are not kept: " + problem,
                             "Every run compiles them again, which takes seconds. Make "
                             "the folder writable, or set XDG_CACHE_HOME to one that is."});
        }
    }
    exec::ExecutorOptions running{.threads = threads, .exchange_timeout_s = exchange_timeout_s()};
    if (options.team != nullptr) {
        running.threads = device_threads;
        running.ranks = &options.team->hub();
    }
    executor = std::make_unique<exec::Executor>(plan, compute, running);
    executor->prepare("init");
    executor->prepare("train_step");
    control.know_layers(freezable_layers(*plan));
    if (data.validation != nullptr) {
        executor->prepare("evaluate");
        if (predicts(*executor) || reconstructs(*executor)) {
            executor->prepare("predict");
        }
        if (options.config.evaluation_samples > 0 && makes_samples(*executor)) {
            executor->prepare("make");
        }
        if (options.config.evaluation_samples > 0 && writes_text(*executor, *data.validation)) {
            executor->prepare("prefill");
            executor->prepare("decode");
        }
    }
}

// A folder that was moved away is the step loop's to tell.
void Session::State::tell_measured() {
    if (lock->place() != RunLock::Place::ours) {
        return;
    }
    try {
        write_plan(with_measured(*plan, memory.library_bytes(*executor),
                                 gpus ? std::optional(gpus->measure(*executor)) : std::nullopt));
    } catch (const Error& fault) {
        control.emit(WarningEvent{"The plan was not brought up to date: " + fault.message(), ""});
    }
}

void Session::State::tell_memory() {
    Json told = memory.to_json(*executor);
    if (gpus) {
        told["on_device"] = plan::on_device_json(plan->landing_bytes(), gpus->measure(*executor));
    }
    control.emit(
        SystemEvent{health ? devices_json(*health) : devices_json(thread_count(options.threads)),
                    host_json(), std::move(told)});
}

void Session::State::load_start() {
    initialise(*executor, options.config);
    progress = first_progress(options.config);
    if (!options.start.checkpoint.empty()) {
        restore();
    } else {
        if (!options.config.section("init").at("from").is_null()) {
            control.emit(WarningEvent{to_text(load_start_weights(*executor, options.config)), ""});
        }
        if (const auto factors = load_start_factors(*executor, options.config)) {
            control.emit(WarningEvent{to_text(*factors), ""});
        }
    }
    progress.left_to_base = left_to_base(*executor);
    progress.live.extra_steps += options.extend_steps;
    if (options.extend_steps > 0 && progress.stall) {
        progress.stall->evaluations = 0; // who trains longer is patient anew
    }
    control.restore_live(progress.live);
}

void Session::State::restore() {
    const bool fork = options.start.fork;
    RestoredRun restored = restore_run(*executor, options.config, options.start);
    const checkpoint::Manifest& manifest = restored.manifest;
    progress = std::move(restored.progress);
    std::vector<std::string> notes = restored.notes;
    if (fork) {
        progress.live = live_settings_of(options.config);
        judge_anew();
        info.parent_step = manifest.record.step;
        progress.moments_since =
            moments_of_fork(*executor, options.config, manifest, restored.fresh, notes);
        if (!keeps_skipped(options.config, restored.fresh)) {
            progress.skipped = 0;
        }
        begin_epoch_of_other_data(manifest, notes);
    } else {
        restored_step = manifest.record.step;
    }
    const fs::path inside = manifest.path.lexically_relative(folder);
    const bool own = !inside.empty() && *inside.begin() != "..";
    for (const PassedOver& passed : restored.passed_over) {
        control.emit(WarningEvent{passed.problem, passed.what_became_of_it});
    }
    control.emit(ResumedEvent{(own ? inside : manifest.path).string(), progress.step});
    for (const std::string& note : notes) {
        control.emit(WarningEvent{note, ""});
    }
    warn_about_differences(manifest);
}

// The parent's best weights lie in the parent's folder, and may be the best by another metric. What
// the fork begins with it has itself.
void Session::State::judge_anew() {
    progress.stall.reset();
    progress.best.reset();
    if (progress.evaluated_step == progress.step) {
        const auto score = checkpoint::score_in(
            progress.last_metrics, checkpoint::goal_of(options.config.document), progress.step);
        progress.best = score ? std::optional(Best{*score, progress.last_metrics}) : std::nullopt;
    }
}

// A place in the parent's data means nothing in other data.
void Session::State::begin_epoch_of_other_data(const checkpoint::Manifest& manifest,
                                               std::vector<std::string>& notes) {
    const fs::path parent = manifest.path.parent_path().parent_path();
    const std::string before = is_run_folder(parent) ? read_run_info(parent).data_fingerprint : "";
    const bool other = before.empty() ? progress.cursor.position > data.train->samples()
                                      : before != info.data_fingerprint;
    if (other) {
        progress.left_out.clear();
    }
    if (other && progress.cursor.position > 0) {
        progress.cursor.position = 0;
        notes.push_back("the data is not the parent's: its epoch begins anew");
    }
}

void Session::State::warn_about_differences(const checkpoint::Manifest& manifest) {
    for (const std::string& difference :
         environment_differences(manifest.record.environment, environment)) {
        control.emit(
            WarningEvent{"This machine differs from the one of the checkpoint: " + difference,
                         "The run goes on correctly, but not bit for bit as it would have."});
    }
    if (!options.start.fork && !fingerprint_before.empty() &&
        fingerprint_before != info.data_fingerprint) {
        control.emit(WarningEvent{"The data is not what the run began with: " + info.data,
                                  "Results after this point mix two data sets."});
    }
}

// Where log.wandb names a project.
void Session::State::keep_for_wandb() {
    const Json& document = options.config.document;
    const Json& project = document.at("log").at("wandb");
    if (!project.is_string()) {
        return;
    }
    recorder->keep_for_wandb(folder / "wandb",
                             {.project = project.get<std::string>(),
                              .id = wandb_id(folder.filename().string()),
                              .name = folder.filename().string(),
                              .notes = document.at("notes").get<std::string>(),
                              .tags = document.at("tags").get<std::vector<std::string>>(),
                              .host = host_json().at("name").get<std::string>(),
                              .config = document},
                             clock.epoch_s());
}

void Session::State::prepare_recording() {
    const auto make = [this](std::int64_t steps) {
        const exec::Compute compute = compute_of(options.config);
        std::vector<std::string> names;
        for (int place = 0; place < static_cast<int>(plan->mesh.devices()); ++place) {
            names.push_back(options.team != nullptr ? "rank " + std::to_string(place)
                            : compute.on_host()     ? "cpu:" + std::to_string(place)
                                                    : std::string(compute.platform->name) + ":" +
                                                      std::to_string(compute.device(place)));
        }
        return std::make_unique<profile::StepRecorder>(
            plan, machine_cost_model(options.calibration_file, options.threads), std::move(names),
            steps, clock);
    };
    profile.emplace(*executor, folder, control, *lock, make, options.record.most_calls,
                    options.observer);
    if (const std::int64_t count = options.record.count; count > 0) {
        control.begin_recording(count);
        profile->order(options.record.from > 0 ? options.record.from : first_recorded(count),
                       count);
    }
}

// The tenth of this session, or so early that all of them fit.
std::int64_t Session::State::first_recorded(std::int64_t count) const {
    const std::int64_t planned = planned_steps(control.orders().live, pace);
    const std::int64_t total = planned > 0 ? planned : std::numeric_limits<std::int64_t>::max();
    const std::int64_t end = std::min(total, options.max_steps.value_or(total));
    return std::clamp(end - count + 1, progress.step + 1, progress.step + kFirstRecorded);
}

SessionResult Session::State::train() {
    open_folder();
    phase_start_s = clock.steady_s();
    prepare();
    recorder.emplace(folder / "metrics",
                     options.config.section("log").at("tensorboard").get<bool>(), clock.epoch_s(),
                     host_json().at("name").get<std::string>());
    keep_for_wandb();
    executor->set_observer(options.observer);
    prepare_recording();
    StepLoop loop(
        LoopSetup{
            .config = options.config,
            .folder = folder,
            .data = data,
            .executor = *executor,
            .pace = pace,
            .schedule_steps = total_steps(options.config.length, pace),
            .max_steps = options.max_steps,
            .model_flops = plan->model_flops_per_step,
            .peak_flops = peak_flops,
            .memory = memory,
            .health = health ? &*health : nullptr,
            .profile = *profile,
            .memory_settled =
                [this] {
                    tell_memory();
                    tell_measured();
                },
            .environment = environment,
            .control = control,
            .recorder = *recorder,
            .lock = *lock,
            .clock = clock,
            .saves = options.team != nullptr ? &options.team->saves() : nullptr,
            .rows = options.team != nullptr ? &options.team->rows() : nullptr,
            .saved_step = restored_step,
            .fork_step = info.parent_step,
        },
        progress);
    return wind_up(loop, loop.run());
}

SessionResult Session::State::wind_up(StepLoop& loop, LoopEnd end) {
    SessionResult result;
    std::string reason = "on request";
    switch (end) {
    case LoopEnd::length:
        control.apply(RunInput::length_reached);
        control.emit(loop.finish());
        result.outcome = Outcome::finished;
        reason = "the full length";
        break;
    case LoopEnd::max_steps:
        loop.save_at_end();
        result.outcome = Outcome::paused_at_max_steps;
        reason = "the step limit of this call";
        break;
    case LoopEnd::stop:
        control.emit(StateEvent{RunState::stopping, "on request", "writing the checkpoint", 0, 0});
        loop.save_at_end();
        result.outcome = Outcome::stopped;
        break;
    case LoopEnd::stop_now:
        loop.settle();
        result.outcome = Outcome::stopped_now;
        break;
    }
    result.step = progress.step;
    if (end != LoopEnd::stop_now && options.team == nullptr) {
        learn_speed(loop);
    }
    control.apply(RunInput::end, StateEvent{{}, reason, "", 0, 0});
    recorder->finish();
    write_info(std::string(state_name(control.orders().state)));
    control.sync_log();
    return result;
}

// Later plans of the same program are priced by what this run measured.
void Session::State::learn_speed(const StepLoop& loop) {
    const std::string problem =
        note_finished_run(options.calibration_file, options.threads, *plan, loop.step_ms());
    if (!problem.empty()) {
        control.emit(WarningEvent{problem, "Later predictions do not know of it."});
    }
}

SessionResult Session::State::end_unprepared() {
    SessionResult result;
    result.outcome = control.orders().wanted.stop_now ? Outcome::stopped_now : Outcome::stopped;
    control.apply(RunInput::end, StateEvent{{}, "on request", "", 0, 0});
    control.sync_log();
    try {
        if (lock) { // else the folder is not ours to write into
            lock->check();
            info.state = "stopped";
            write_run_info(folder, info);
        }
    } catch (const Error&) {
        // events.jsonl has told it.
    }
    return result;
}

// From the newest checkpoint of this run; before its first, from what it began with.
std::vector<WayOn> Session::State::ways_on(ErrorKind kind) const {
    if (kind != ErrorKind::memory && kind != ErrorKind::device) {
        return {};
    }
    try {
        std::int64_t from = newest_checkpoint(folder);
        if (from < 0 && !options.start.checkpoint.empty()) {
            from = checkpoint::read_manifest(options.start.checkpoint).record.step;
        }
        return kind == ErrorKind::memory ? ways_with_less_memory(options.config, from)
                                         : ways_without_gpus(options.config, from);
    } catch (const std::exception&) {
        return {}; // there may be no memory left to look; what failed is told all the same
    }
}

// Of many ranks one failed first, and the others of it.
Error Session::State::first_fault(const Error& said) const {
    if (options.team == nullptr) {
        return said;
    }
    options.team->hub().fail(said);
    return options.team->hub().verdict(said);
}

SessionResult Session::State::fail(ErrorKind kind, ErrorEvent event) {
    SessionResult result;
    result.outcome = Outcome::failed;
    result.step = progress.step;
    result.error = kind;
    const Error whole(kind, event.where, event.message, event.hint);
    result.message = whole.message();
    if (options.team != nullptr) {
        options.team->hub().fail(whole); // or the other ranks would take it for a good end
    }
    const std::string reason = event.message;
    control.emit(std::move(event));
    control.apply(RunInput::fault, StateEvent{{}, reason, "", 0, 0});
    control.sync_log();
    try {
        if (lock) {
            write_info("failed", result.message);
        }
    } catch (const std::exception&) {
        // The disk may be the fault; events.jsonl or the result has told it.
    }
    return result;
}

Session::Session(SessionOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Session::~Session() = default;

SessionResult Session::run() {
    State& state = *state_;
    SessionResult result;
    try {
        result = state.train();
    } catch (const Diverged& fault) {
        result = state.fail(ErrorKind::diverged, fault.event());
    } catch (const DoesNotFit& fault) {
        result = state.fail(ErrorKind::memory, fault.event());
    } catch (const Error& said) {
        if (state.control.halt().stop_requested()) {
            // Preparing ends by an error when it is told to stop.
            result = state.end_unprepared();
        } else {
            const Error fault = state.first_fault(said);
            result =
                state.fail(fault.kind(), {std::string(error_kind_name(fault.kind())), fault.where(),
                                          fault.text(), fault.hint(), state.ways_on(fault.kind())});
        }
    } catch (const std::exception& fault) {
        if (const char* lack = lack_of_memory(fault)) {
            result = state.fail(ErrorKind::memory,
                                {"memory", "", lack, "Use a smaller model or micro_batch_size.",
                                 state.ways_on(ErrorKind::memory)});
        } else {
            result =
                state.fail(ErrorKind::runtime, {"runtime",
                                                "",
                                                fault.what(),
                                                "This is a fault of the program; please report it.",
                                                {}});
        }
    }
    if (state.options.team != nullptr) {
        state.options.team->on_news({});
    }
    state.lock.reset();
    return result;
}

void Session::post(Command command) {
    state_->control.post(std::move(command));
}

std::shared_ptr<const plan::ExecutionPlan> Session::plan() const {
    const std::lock_guard guard(state_->plan_mutex);
    return state_->plan;
}

} // namespace weft::train
