// SPDX-License-Identifier: Apache-2.0
// weft bench [SUITE]: measurements, each beside a ceiling of the same run.
#include "app/cli/commands/commands.h"
#include "app/cli/json_output.h"
#include "app/cli/signals.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/train/measure/busy_core.h"
#include "core/train/measure/calibrate.h"
#include "core/train/planning.h"

#include <cmath>

#include <unistd.h>

namespace weft::cli {
namespace {

namespace fs = std::filesystem;
using config::Json;

// What a prediction on the machine that it was calibrated on must keep to.
constexpr double kGoodPrediction = 0.15;
constexpr double kSmallShare = 0.005; // of a step: classes below are summed up in the page

/// A preset and the data that stands in for its own where that is not installed: the same shapes,
/// made on the fly.
struct Preset {
    const char* file;
    const char* data;
};
constexpr const char* kPictures =
    R"(data.train={"type":"synthetic","kind":"images","shape":[28,28,1],"classes":10,"samples":2000})";
constexpr const char* kBytes =
    R"(data.train={"type":"synthetic","kind":"tokens","vocab":256,"samples":200})";
constexpr Preset kPresets[] = {{"fashion-mlp.json", kPictures},
                               {"fashion-cnn.json", kPictures},
                               {"tiny-gpt.json", kBytes},
                               {"gpt-6x384.json", kBytes}};

/// share/weft/presets beside an installed program, else the source tree that it was built from.
fs::path presets_folder() {
    std::error_code problem;
    const fs::path program = fs::read_symlink("/proc/self/exe", problem);
    const fs::path installed = program.parent_path() / "../share/weft/presets";
    return fs::is_directory(installed, problem) ? installed : fs::path(WEFT_SOURCE_PRESETS);
}

compile::RunConfig read_preset(const Preset& preset, const std::vector<std::string>& overrides) {
    const fs::path file = presets_folder() / preset.file;
    compile::CheckedRun checked = compile::read_run_config_file(file, overrides);
    if (!checked.ok()) {
        throw Error(ErrorKind::usage, file.string(), config::to_text(checked.diagnostics.front()),
                    "the presets of this version belong beside the program, in "
                    "share/weft/presets");
    }
    return std::move(checked.config);
}

bool has_its_data(const compile::RunConfig& config) {
    try {
        train::outline_run_data(config, {});
        return true;
    } catch (const Error&) {
        return false;
    }
}

std::vector<compile::RunConfig> preset_configs() {
    std::vector<compile::RunConfig> out;
    for (const Preset& preset : kPresets) {
        out.push_back(read_preset(preset, {}));
        if (!has_its_data(out.back())) {
            const std::string name = out.back().name;
            out.back() = read_preset(preset, {preset.data, "data.validation=null", "data.test=null",
                                              "name=" + name + " (stand-in)"});
        }
    }
    return out;
}

double difference(const train::StepTiming& step, double predicted_ms) {
    return predicted_ms / step.measured_ms - 1;
}

bool is_good(const train::StepTiming& step) {
    return std::abs(difference(step, step.predicted.ms)) <= kGoodPrediction;
}

Json prediction_json(const train::StepTiming& step, const cost::Prediction& prediction) {
    return {{"ms", prediction.ms},
            {"error", prediction.error},
            {"difference", difference(step, prediction.ms)}};
}

Json report_json(const train::CalibrationReport& report, const fs::path& file, double seconds) {
    const cost::Ceilings& ceilings = *report.calibration.ceilings;
    Json classes = Json::array();
    for (const train::ClassTiming& one : report.classes) {
        classes.push_back({{"name", one.name},
                           {"factor", one.correction.factor},
                           {"spread", one.correction.spread},
                           {"kernels", one.correction.samples},
                           {"share", one.share}});
    }
    Json steps = Json::array();
    for (const train::StepTiming& step : report.steps) {
        steps.push_back({{"name", step.name},
                         {"steps", step.steps},
                         {"measured_ms", step.measured_ms},
                         {"spread", step.spread},
                         {"utilisation", step.utilisation},
                         {"predicted", prediction_json(step, step.predicted)},
                         {"learnt_elsewhere", prediction_json(step, step.transferred)},
                         {"good", is_good(step)}});
    }
    return {{"suite", "machine"},
            {"cpu", report.calibration.machine.cpu},
            {"threads", report.calibration.machine.threads},
            {"kernels", report.calibration.machine.kernels},
            {"ceilings",
             {{"bf16_flops", ceilings.limits.bf16_flops},
              {"bf16_unit", ceilings.bf16_unit},
              {"f32_flops", ceilings.limits.f32_flops},
              {"bandwidth", ceilings.limits.bandwidth},
              {"overhead_s", ceilings.limits.overhead_s},
              {"spread", ceilings.spread}}},
            {"classes", std::move(classes)},
            {"steps", std::move(steps)},
            {"busy", ceilings.busy()},
            {"seconds", seconds},
            {"file", file.string()}};
}

void print_ceilings(const train::CalibrationReport& report) {
    const cost::Ceilings& ceilings = *report.calibration.ceilings;
    const cost::MachineKey& machine = report.calibration.machine;
    std::printf("%s, %d %s, %s\n\n", machine.cpu.c_str(), machine.threads,
                machine.threads == 1 ? "thread" : "threads", machine.kernels.c_str());
    std::printf("at best          bf16 products %8.1f GFLOP/s in %s\n",
                ceilings.limits.bf16_flops / 1e9, ceilings.bf16_unit.c_str());
    std::printf("                 f32 products  %8.1f GFLOP/s\n", ceilings.limits.f32_flops / 1e9);
    std::printf("                 memory        %8.1f GB/s read and written\n",
                ceilings.limits.bandwidth / 1e9);
    std::printf("                 a kernel call %8.0f ns\n\n", ceilings.limits.overhead_s * 1e9);
}

void print_classes(const train::CalibrationReport& report) {
    std::printf("%-36s %7s %18s %9s\n", "kernels", "share", "time / best time", "spread");
    double rest = 0;
    for (const train::ClassTiming& one : report.classes) {
        if (one.share < kSmallShare) {
            rest += one.share;
            continue;
        }
        std::printf("%-36s %6.1f%% %18.2f %8.0f%%\n", one.name.c_str(), one.share * 100,
                    one.correction.factor, one.correction.spread * 100);
    }
    std::printf("%-36s %6.1f%%\n\n", "others", rest * 100);
}

void print_steps(const train::CalibrationReport& report) {
    std::printf("%-23s %11s %8s %14s %7s %22s\n", "training step", "measured", "of best",
                "predicted", "off by", "learnt elsewhere, off by");
    for (const train::StepTiming& step : report.steps) {
        std::printf("%-23s %8.2f ms %7.0f%% %11.2f ms %+6.1f%% %11.2f ms %+6.1f%%%s\n",
                    step.name.c_str(), step.measured_ms, step.utilisation * 100, step.predicted.ms,
                    difference(step, step.predicted.ms) * 100, step.transferred.ms,
                    difference(step, step.transferred.ms) * 100,
                    is_good(step) ? "" : "  not within 15%");
    }
    const cost::Ceilings& ceilings = *report.calibration.ceilings;
    if (ceilings.busy()) {
        std::printf(
            "\nThis machine was busy with other things (ceilings measured again came out up to "
            "%.0f%% lower): measure once more when it is quiet.\n",
            ceilings.spread * 100);
    }
}

/// Measures as `context` says. A measurement that is stopped leaves nothing behind.
template <typename Options, typename Measure>
auto measure(const Context& context, const Measure& measure) {
    SignalWatcher signals;
    std::stop_source stop;
    Options options;
    options.threads = context.threads;
    options.stop = stop.get_token();
    options.progress = [](const std::string& what) {
        std::fprintf(stderr, "measuring %s\n", what.c_str());
    };
    const fs::path cache = context.calibration_file.parent_path();
    make_directories(cache); // rather now than after a minute
    options.folder = cache / ("bench-" + std::to_string(getpid()));
    signals.start([&stop](const train::Command& command) {
        if (command.kind != train::CommandKind::checkpoint) {
            stop.request_stop();
        }
    });
    auto report = measure(preset_configs(), options);
    signals.stop();
    return report;
}

void bench_machine(const Context& context, bool json) {
    const SystemClock clock;
    const double start_s = clock.steady_s();
    const auto report = measure<train::CalibrateOptions>(context, train::calibrate);
    cost::write_calibration(context.calibration_file, report.calibration);
    const double seconds = clock.steady_s() - start_s;
    if (json) {
        print_json(report_json(report, context.calibration_file, seconds));
        return;
    }
    print_ceilings(report);
    print_classes(report);
    print_steps(report);
    std::printf("\n%s, kept in %s\n", format_duration(seconds).c_str(),
                context.calibration_file.c_str());
}

Json timing_json(const train::BusyTiming& timing) {
    return {{"name", timing.name},
            {"alone_ms", timing.alone_ms},
            {"busy_ms", timing.busy_ms},
            {"ratio", timing.ratio()}};
}

void bench_load(const Context& context, bool json) {
    const auto report = measure<train::BusyCoreOptions>(context, train::measure_beside_busy_core);
    if (json) {
        Json steps = Json::array();
        for (const train::BusyTiming& step : report.steps) {
            steps.push_back(timing_json(step));
        }
        print_json(
            {{"suite", "load"}, {"limit", timing_json(report.limit)}, {"steps", std::move(steps)}});
        return;
    }
    std::printf("%-23s %12s %15s %7s %14s\n", "training step", "alone", "one core busy", "times",
                "of the limit");
    const auto print = [&](const train::BusyTiming& timing) {
        std::printf("%-23s %9.2f ms %12.2f ms %7.2f %14.2f\n", timing.name.c_str(), timing.alone_ms,
                    timing.busy_ms, timing.ratio(), timing.ratio() / report.limit.ratio());
    };
    for (const train::BusyTiming& step : report.steps) {
        print(step);
    }
    print(report.limit);
}

struct Suite {
    const char* name;
    const char* help;
    void (*run)(const Context& context, bool json);
};
constexpr Suite kSuites[] = {
    {"machine",
     "ceilings of this machine and how close its kernels come, by training sessions of four "
     "presets; what `weft plan` predicts times from (about a minute)",
     bench_machine},
    {"load",
     "the same training steps while another program keeps one core busy, beside threads that do "
     "not wait for each other (about a minute)",
     bench_load}};

void list_suites(bool json) {
    Json list = Json::array();
    for (const Suite& suite : kSuites) {
        list.push_back({{"name", suite.name}, {"help", suite.help}});
        if (!json) {
            std::printf("%-10s %s\n", suite.name, suite.help);
        }
    }
    if (json) {
        print_json({{"suites", std::move(list)}});
    }
}

} // namespace

void add_bench(Command app, Context& context) {
    auto suite = std::make_shared<std::string>();
    auto json = std::make_shared<bool>(false);
    const Command command = app.subcommand("bench", "measure this machine");
    command.positional("SUITE", suite.get(), "machine or load; without one the suites are listed");
    command.flag("--json", json.get(), "print JSON");
    command.callback([suite, json, &context] {
        if (suite->empty()) {
            list_suites(*json);
            return;
        }
        std::vector<std::string> names;
        for (const Suite& one : kSuites) {
            if (*suite == one.name) {
                one.run(context, *json);
                return;
            }
            names.emplace_back(one.name);
        }
        throw Error(ErrorKind::usage, "weft bench", "there is no suite '" + shown(*suite) + "'",
                    name_hint(*suite, names));
    });
}

} // namespace weft::cli
