// SPDX-License-Identifier: Apache-2.0
#include "core/train/calibrate.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/compile/predict.h"
#include "core/train/engine.h"
#include "core/train/machine_cost.h"
#include "core/train/planning.h"
#include "core/train/update.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

namespace weft::train {
namespace {

/// Other programs only slow a kernel down: its faster half tells more about the machine.
double mean_of_faster_half(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    times.resize((times.size() + 1) / 2);
    return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
}

/// Keeps times of every step position: enough to tell what it takes when nothing disturbs it.
class Stopwatch final : public exec::StepObserver {
public:
    explicit Stopwatch(int positions) : seconds_(static_cast<std::size_t>(positions)) {
        for (std::vector<double>& times : seconds_) {
            times.reserve(kMostTimes);
        }
    }

    void step_done(const plan::Step&, int position, double start_s, double end_s) override {
        std::vector<double>& times = seconds_[static_cast<std::size_t>(position)];
        if (times.size() < kMostTimes) {
            times.push_back(end_s - start_s);
        }
    }
    double quiet_seconds(int position) const {
        return mean_of_faster_half(seconds_[static_cast<std::size_t>(position)]);
    }

private:
    static constexpr std::size_t kMostTimes = 400;
    std::vector<std::vector<double>> seconds_; // [linear position]
};

/// A leaf of the program with its linear position.
struct Leaf {
    int position;
    cost::Work work;
};

void append_leaves(const std::vector<plan::Step>& steps, double times, int& position,
                   std::vector<Leaf>& out) {
    for (const plan::Step& step : steps) {
        const int at = position++;
        if (step.is_loop()) {
            append_leaves(step.steps, times * static_cast<double>(step.count), position, out);
        } else {
            out.push_back({at, compile::work_of(step)});
            out.back().work.times = times;
        }
    }
}

/// Of the training step, in order of position.
std::vector<Leaf> leaves_of(const plan::ExecutionPlan& plan) {
    int positions = 0;
    std::vector<Leaf> out;
    append_leaves(plan.find("train_step")->steps, 1, positions, out);
    return out;
}

/// What was measured of one configuration.
struct Sample {
    StepTiming timing;
    std::vector<cost::Work> work;                // of one step
    std::vector<cost::Measurement> measurements; // `times` are shares, so that configurations weigh
                                                 // the same however long their steps are
    double model_flops = 0;
    ir::DType dtype = ir::DType::f32;
};

class Ceilings {
public:
    void measure() {
        weft_ceilings now{};
        if (weft_measure_ceilings(&now) != WEFT_OK) {
            throw Error(ErrorKind::memory, "measuring the ceilings of this machine",
                        "there is not enough memory", "close other programs; 400 MiB are needed");
        }
        unit_ = now.bf16_unit;
        const std::array<double, 3> rates = {now.bf16_flops, now.f32_flops, now.bandwidth};
        for (std::size_t i = 0; i < rates.size(); ++i) {
            best_[i] = std::max(best_[i], rates[i]);
            least_[i] = least_[i] == 0 ? rates[i] : std::min(least_[i], rates[i]);
        }
        call_s_ = call_s_ == 0 ? now.call_s : std::min(call_s_, now.call_s);
    }
    cost::Ceilings best(double epoch_s) const {
        return {{best_[0], best_[1], best_[2], call_s_}, unit_, epoch_s, spread()};
    }

private:
    double spread() const {
        double out = 0;
        for (std::size_t i = 0; i < best_.size(); ++i) {
            out = std::max(out, (best_[i] - least_[i]) / best_[i]);
        }
        return out;
    }

    std::array<double, 3> best_{}, least_{};
    double call_s_ = 0;
    std::string unit_;
};

class Calibrator {
public:
    explicit Calibrator(const CalibrateOptions& options) : options_(options) {}

    Sample measure(const compile::RunConfig& config) const {
        say("training steps of " + config.name);
        const data::DataSet data = open_run_data(config);
        const auto plan = shared_plan(config, {.threads = options_.threads}, options_.stop);
        exec::Executor executor(plan, backends(), {.threads = thread_count(options_.threads)});
        initialise(executor, config);
        const std::vector<Leaf> leaves = leaves_of(*plan);
        Stopwatch watch(leaves.back().position + 1);
        Sample out;
        out.timing = time_steps(executor, config, data, watch);
        out.model_flops = plan->model_flops_per_step;
        out.dtype = config.precision == "bf16" ? ir::DType::bf16 : ir::DType::f32;
        for (const Leaf& leaf : leaves) {
            out.work.push_back(leaf.work);
            out.measurements.push_back({leaf.work, watch.quiet_seconds(leaf.position)});
            out.measurements.back().work.times /= out.timing.measured_ms / 1e3;
        }
        return out;
    }

    void say(const std::string& what) const {
        if (options_.stop.stop_requested()) {
            throw Error(ErrorKind::runtime, "bench machine", "the measurement was stopped");
        }
        if (options_.progress) {
            options_.progress(what);
        }
    }

private:
    StepTiming time_steps(exec::Executor& executor, const compile::RunConfig& config,
                          const data::DataSet& data, Stopwatch& watch) const {
        constexpr int kMostRuns = 2000;
        data::Loader loader(
            data.train, data::Sampler(data.train->samples(), config.shuffle, config.seed),
            {.batch_size = config.global_batch_size, .drop_last = true, .prefetch = 0}, {});
        const data::Batch batch = *loader.next();
        Update update(executor, config, kMostRuns);
        update.run(batch, 0, 1, options_.stop); // makes kernels, touches memory
        executor.set_observer(&watch);
        std::vector<double> ms;
        const double start_s = clock_.steady_s();
        while (ms.size() < kMostRuns &&
               (ms.empty() || clock_.steady_s() - start_s < options_.seconds_each)) {
            const double run_start_s = clock_.steady_s();
            update.run(batch, static_cast<std::int64_t>(ms.size()) + 1, 1, {});
            ms.push_back((clock_.steady_s() - run_start_s) * 1e3);
        }
        executor.set_observer(nullptr);
        StepTiming out;
        out.name = config.name;
        out.steps = static_cast<int>(ms.size());
        out.spread = spread_of(ms);
        out.measured_ms = mean_of_faster_half(std::move(ms));
        return out;
    }

    static double spread_of(const std::vector<double>& values) {
        const auto count = static_cast<double>(values.size());
        const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
        double square = 0;
        for (const double value : values) {
            square += (value / mean - 1) * (value / mean - 1);
        }
        return std::sqrt(square / count);
    }

    const CalibrateOptions& options_;
    SystemClock clock_;
};

/// Measurements of every sample but one (-1: of all).
std::vector<cost::Measurement> without(const std::vector<Sample>& samples,
                                       std::ptrdiff_t left_out) {
    std::vector<cost::Measurement> out;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        if (static_cast<std::ptrdiff_t>(i) != left_out) {
            out.insert(out.end(), samples[i].measurements.begin(), samples[i].measurements.end());
        }
    }
    return out;
}

std::vector<ClassTiming> class_table(const std::vector<Sample>& samples,
                                     const cost::Calibration& calibration) {
    std::map<std::string, double> shares;
    for (const Sample& sample : samples) {
        for (const cost::Measurement& one : sample.measurements) {
            const auto names = cost::class_names(one.work, calibration.ceilings->limits);
            shares[names[1]] += one.seconds * one.work.times / static_cast<double>(samples.size());
        }
    }
    std::vector<ClassTiming> out;
    for (const auto& [name, share] : shares) {
        out.push_back({name, calibration.classes.at(name), share});
    }
    std::sort(out.begin(), out.end(),
              [](const ClassTiming& a, const ClassTiming& b) { return a.share > b.share; });
    return out;
}

} // namespace

CalibrationReport calibrate(std::span<const compile::RunConfig> configs,
                            const CalibrateOptions& options) {
    const Calibrator calibrator(options);
    weft_set_threads(thread_count(options.threads));
    Ceilings ceilings;
    std::vector<Sample> samples;
    calibrator.say("ceilings");
    ceilings.measure();
    for (const compile::RunConfig& config : configs) {
        samples.push_back(calibrator.measure(config));
        ceilings.measure();
    }
    CalibrationReport out;
    cost::Calibration& calibration = out.calibration;
    calibration.machine = machine_key(options.threads);
    calibration.ceilings = ceilings.best(SystemClock().epoch_s());
    const cost::Limits& limits = calibration.ceilings->limits;
    calibration.classes = cost::learn(without(samples, -1), limits);
    const cost::CostModel model(calibration);
    for (std::size_t i = 0; i < samples.size(); ++i) {
        cost::Calibration others = calibration;
        others.classes = cost::learn(without(samples, static_cast<std::ptrdiff_t>(i)), limits);
        StepTiming timing = samples[i].timing;
        timing.predicted = model.predict(samples[i].work);
        timing.transferred = cost::CostModel(others).predict(samples[i].work);
        timing.utilisation = samples[i].model_flops /
                             (timing.measured_ms / 1e3 * model.peak_flops(samples[i].dtype));
        out.steps.push_back(std::move(timing));
    }
    out.classes = class_table(samples, calibration);
    return out;
}

} // namespace weft::train
