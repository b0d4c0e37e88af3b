// SPDX-License-Identifier: Apache-2.0
#include "core/train/measure/calibrate.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/compile/predict.h"
#include "core/train/engine.h"
#include "core/train/measure/machine_cost.h"
#include "core/train/measure/timed_session.h"

#include <algorithm>
#include <array>
#include <map>

namespace weft::train {
namespace {

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
        const TimedSteps timed = time_session(config, {.folder = options_.folder,
                                                       .threads = options_.threads,
                                                       .seconds = options_.seconds_each,
                                                       .stop = options_.stop});
        Sample out;
        out.timing.name = config.name;
        out.timing.steps = timed.steps;
        out.timing.spread = timed.spread;
        out.timing.measured_ms = timed.step_s * 1e3;
        out.model_flops = timed.plan->model_flops_per_step;
        out.dtype = config.compute_dtype();
        double beside_s = timed.step_s;
        for (const Leaf& leaf : leaves_of(*timed.plan)) {
            const double all_s = timed.kernel_s.at(static_cast<std::size_t>(leaf.position));
            add(leaf.work, all_s / leaf.work.times, out);
            beside_s -= all_s;
        }
        add(compile::work_beside_kernels(*timed.plan->find("train_step")), beside_s, out);
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
    static void add(const cost::Work& work, double seconds, Sample& out) {
        out.work.push_back(work);
        out.measurements.push_back({work, seconds});
        out.measurements.back().work.times /= out.timing.measured_ms / 1e3;
    }

    const CalibrateOptions& options_;
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
