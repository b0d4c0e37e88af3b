// SPDX-License-Identifier: Apache-2.0
// weft runs layers RUN: norms, updates, activations and dead units of each layer, where the run
// looked inside its network (log.inside_every).
#include "app/cli/commands/commands.h"
#include "app/cli/json_output.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/checkpoint/pointer.h"
#include "core/train/inside/inside_file.h"
#include "core/train/record/run_folder.h"

#include <algorithm>
#include <cstdio>

namespace weft::cli {
namespace {

namespace fs = std::filesystem;
using config::Json;

struct LayersOptions {
    std::string run;
    std::optional<std::int64_t> step;
    bool json = false;
};

Json spread_json(const train::WrittenSpread& spread) {
    if (spread.count == 0) {
        return nullptr; // not known
    }
    return {
        {"count", spread.count}, {"zeros", spread.zeros},         {"not_finite", spread.not_finite},
        {"mean", spread.mean},   {"deviation", spread.deviation}, {"low", spread.low},
        {"high", spread.high},   {"norm", spread.norm},           {"first_bin", spread.first_bin},
        {"bins", spread.bins}};
}

Json shape_json(const ir::Shape& shape) {
    return std::vector<std::int64_t>(shape.begin(), shape.end());
}

Json layers_json(const train::InsideHistory& history, std::size_t at) {
    Json parameters = Json::array();
    for (const train::ParameterHistory& one : history.parameters) {
        const auto& point = one.points[at];
        parameters.push_back({{"name", one.name},
                              {"layer", one.layer},
                              {"shape", shape_json(one.shape)},
                              {"weights", spread_json(point.weights)},
                              {"gradients", spread_json(point.gradients)},
                              {"updates", spread_json(point.updates)},
                              {"update_norm", point.update_norm},
                              {"update_ratio", point.update_ratio}});
    }
    Json activations = Json::array();
    for (const train::ActivationHistory& one : history.activations) {
        const auto& point = one.points[at];
        activations.push_back({{"layer", one.layer},
                               {"kind", one.kind},
                               {"shape", shape_json(one.shape)},
                               {"values", spread_json(point.spread)},
                               {"units", one.units > 0 ? Json(one.units) : Json(nullptr)},
                               {"dead", one.units > 0 ? Json(point.dead) : Json(nullptr)}});
    }
    return {{"step", history.steps[at]},
            {"samples", history.samples[at]},
            {"steps", history.steps},
            {"parameters", std::move(parameters)},
            {"activations", std::move(activations)}};
}

std::string figure(const train::WrittenSpread& spread, double value) {
    return spread.count == 0 ? "-" : format_short(value);
}

void print_layers(const train::InsideHistory& history, std::size_t at) {
    std::printf("Step %s, of %s samples\n\n", format_thousands(history.steps[at]).c_str(),
                format_thousands(history.samples[at]).c_str());
    std::size_t width = 10;
    for (const train::ParameterHistory& one : history.parameters) {
        width = std::max(width, one.name.size());
    }
    for (const train::ActivationHistory& one : history.activations) {
        width = std::max(width, one.layer.size());
    }
    const int name = static_cast<int>(width);
    std::printf("%-*s  %11s %11s %11s %11s\n", name, "parameter", "weight", "gradient", "update",
                "upd/weight");
    for (const train::ParameterHistory& one : history.parameters) {
        const auto& point = one.points[at];
        std::printf("%-*s  %11s %11s %11s %11s\n", name, one.name.c_str(),
                    figure(point.weights, point.weights.norm).c_str(),
                    figure(point.gradients, point.gradients.norm).c_str(),
                    figure(point.updates, point.update_norm).c_str(),
                    figure(point.updates, point.update_ratio).c_str());
    }
    std::printf("\n%-*s  %11s %11s %11s %11s\n", name, "activation", "mean", "deviation", "zeros",
                "dead units");
    for (const train::ActivationHistory& one : history.activations) {
        const auto& point = one.points[at];
        const std::string dead =
            one.units == 0 || point.spread.count == 0
                ? "-"
                : format_thousands(point.dead) + " of " + format_thousands(one.units);
        std::printf("%-*s  %11s %11s %10s%% %11s\n", name, one.layer.c_str(),
                    figure(point.spread, point.spread.mean).c_str(),
                    figure(point.spread, point.spread.deviation).c_str(),
                    format_short(100 * point.spread.zero_share()).c_str(), dead.c_str());
    }
    std::printf("\nNorms over all elements; gradients before clipping. Dead: above 0 for none of "
                "these samples.\n");
}

int show_layers(const LayersOptions& options, const Context& context) {
    fs::path run = checkpoint::follow_pointer(options.run);
    run = train::is_run_folder(run) ? run : context.runs_root / options.run;
    if (!train::is_run_folder(run)) {
        throw Error(ErrorKind::usage, options.run, "is no run",
                    "Name a run's folder, or its name.");
    }
    train::InsideReader reader(run);
    reader.read_on();
    const train::InsideHistory& history = reader.history();
    if (history.is_empty()) {
        throw Error(ErrorKind::usage, run.string(), "never looked inside its network",
                    "Train it with log.inside_every=50, or while it trains: weft tell RUN set "
                    "log.inside_every=50.");
    }
    const std::int64_t step = options.step.value_or(history.steps.back());
    const auto found = std::find(history.steps.begin(), history.steps.end(), step);
    if (found == history.steps.end()) {
        throw Error(ErrorKind::usage, "--step", "the run did not look inside at this step",
                    "The newest of " + std::to_string(history.steps.size()) + " is " +
                        std::to_string(history.steps.back()) + ", the first " +
                        std::to_string(history.steps.front()) + ".");
    }
    const auto at = static_cast<std::size_t>(found - history.steps.begin());
    if (options.json) {
        print_json(layers_json(history, at));
    } else {
        print_layers(history, at);
    }
    return 0;
}

} // namespace

void add_layers(Command runs, Context& context) {
    auto options = std::make_shared<LayersOptions>();
    const Command command = runs.subcommand(
        "layers", "weights, gradients, updates and activations by layer, dead units");
    command.positional("RUN", &options->run, "a run's folder, or its name").required();
    command.option("--step", &options->step, "at this step (default: the last one)").positive();
    command.flag("--json", &options->json, "print JSON, with histograms");
    command.callback([options, &context] { context.exit_code = show_layers(*options, context); });
}

} // namespace weft::cli
