// SPDX-License-Identifier: Apache-2.0
#include "core/train/engine.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/machine.h"
#include "core/base/text.h"
#include "core/checkpoint/pointer.h"
#include "core/compile/mesh/mesh_config.h"
#include "core/config/pointer.h"
#include "core/nn/loss_def.h"
#include "core/train/planning.h"
#include "core/train/program_io.h"
#include "core/train/record/run_folder.h"
#include "core/train/run_length.h"
#include "core/train/warm_start.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace weft::train {
namespace {

namespace fs = std::filesystem;

std::vector<checkpoint::Entry> usable_entries(const fs::path& run) {
    std::vector<checkpoint::Entry> entries = checkpoint::list_checkpoints(run / "checkpoints");
    std::erase_if(entries, [](const auto& entry) { return !entry.problem.empty(); });
    return entries;
}

[[noreturn]] void no_such_checkpoint(const fs::path& run, const std::string& from,
                                     const std::vector<checkpoint::Entry>& entries) {
    std::string steps;
    for (const checkpoint::Entry& entry : entries) {
        steps += (steps.empty() ? "" : ", ") + std::to_string(entry.step);
    }
    throw Error(ErrorKind::checkpoint, run.string(),
                entries.empty() ? "the run has no usable checkpoint"
                                : "there is no checkpoint '" + shown(from) + "'",
                entries.empty()
                    ? "see `weft checkpoint list`; without folders in checkpoints/ a run "
                      "begins anew"
                    : "there are: latest, best, " + steps);
}

/// Settings that a configuration of an earlier version lacks mean what the run did then.
config::Json as_it_was(config::Json document) {
    if (document.is_object() && document.contains("optimizer") &&
        document["optimizer"].is_object() && !document["optimizer"].contains("weight_decay_on")) {
        document["optimizer"]["weight_decay_on"] = "all";
    }
    return document;
}

/// The same mesh on simulated devices: what looks at a model needs no GPU.
compile::RunConfig on_host(const compile::RunConfig& config) {
    const auto devices = config.section("mesh").at("devices").get<std::string>();
    const auto count = compile::devices_named(devices);
    const auto changed = compile::with_overrides(
        config, {"mesh.devices=\"cpu:" + std::to_string(count.value_or(1)) + "\""});
    WEFT_CHECK(changed.has_value(), "the host simulates any devices");
    return *changed;
}

constexpr std::int64_t kCheckedSamples = 64;

/// What is wrong with a target; empty: nothing.
std::string wrong_target(const nn::LossDef& loss, const config::Json& settings, float target) {
    const double most = loss.of_shares ? 1.0 : static_cast<double>(loss.symbols(settings) - 1);
    const bool fits = loss.of_shares ? target >= 0.0F : target == std::trunc(target);
    if (fits && static_cast<double>(target) <= most) {
        return {};
    }
    return "a target is " + config::number_text(target) + ", but loss " + std::string(loss.name) +
           " takes " +
           (loss.of_shares
                ? "targets from 0 to 1"
                : "whole numbers below its symbols, " + std::to_string(loss.symbols(settings)));
}

/// Calls `look(targets, place)` with some samples' targets, all over the source.
template <class Look>
void look_at_targets(const data::Source& source, const Look& look) {
    const data::SampleInfo& info = source.info();
    std::vector<std::byte> input(static_cast<std::size_t>(info.input.bytes()));
    std::vector<float> targets(static_cast<std::size_t>(info.target.shape.elements()));
    const std::int64_t count = std::min(kCheckedSamples, source.samples());
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t index = i * source.samples() / count;
        try {
            source.read(index, input, std::as_writable_bytes(std::span(targets)));
        } catch (const data::DamagedSample&) {
            continue; // the loader names it
        }
        look(targets, source.place_of(index));
    }
}

/// Where the loss takes targets for shares from 0 to 1 or for symbols.
void check_targets(const compile::RunConfig& config, const data::Source& source) {
    const config::Json& settings = config.section("loss");
    const nn::LossDef* loss = nn::find_loss(settings.at("type").get<std::string>());
    if (loss == nullptr || (!loss->of_shares && loss->symbols == nullptr) ||
        source.info().target.dtype != ir::DType::f32) {
        return;
    }
    look_at_targets(source, [&](const std::vector<float>& targets, const std::string& place) {
        for (const float target : targets) {
            if (std::string wrong = wrong_target(*loss, settings, target); !wrong.empty()) {
                throw Error(ErrorKind::data, place, std::move(wrong),
                            loss->of_shares
                                ? "Use mse or another loss of numbers, or scale the targets."
                                : "Number the symbols from 1, or raise /loss/symbols.");
            }
        }
    });
}

/// Positions that a model puts out for symbols; 0: it does not.
std::int64_t positions_of(const plan::ExecutionPlan& plan) {
    for (const plan::PlannedProgram& program : plan.programs) {
        for (const plan::PlannedPort& port : program.results) {
            if (port.name == compile::kPathPort) {
                return port.whole.shape[1];
            }
        }
    }
    return 0;
}

} // namespace

int thread_count(int threads) {
    return std::min(threads > 0 ? threads : read_machine().usable_cores, weft_thread_limit());
}

data::DataSet open_run_data(const compile::RunConfig& config, const std::stop_token& stop,
                            const data::OnOpening& on_opening) {
    data::OpenContext context{config.base_dir, config.context(), config.seed};
    context.stop = stop;
    context.on_opening = on_opening;
    data::DataSet out = data::open_data(config.section("data"), context);
    check_targets(config, *out.train);
    return out;
}

std::int64_t steps_of(const compile::RunConfig& config) {
    using Unit = compile::Cadence::Unit;
    if (config.length.unit == Unit::steps) {
        return static_cast<std::int64_t>(config.length.amount);
    }
    if (config.length.unit == Unit::minutes) {
        return 0;
    }
    return total_steps(config.length, pace_of(config, *open_run_data(config).train));
}

void check_room_for_symbols(const plan::ExecutionPlan& plan, const compile::RunConfig& config,
                            const data::Source& source) {
    const nn::LossDef* loss = nn::find_loss(config.section("loss").at("type").get<std::string>());
    const std::int64_t positions = positions_of(plan);
    if (loss == nullptr || loss->symbols == nullptr || positions == 0 ||
        source.info().target.dtype != ir::DType::f32) {
        return;
    }
    look_at_targets(source, [&](const std::vector<float>& symbols, const std::string& place) {
        std::int64_t needed = 0;
        for (std::size_t i = 0; i < symbols.size() && symbols[i] >= 1; ++i) {
            needed += i > 0 && symbols[i] == symbols[i - 1] ? 2 : 1;
        }
        if (needed > positions) {
            throw Error(ErrorKind::data, place,
                        "its symbols need " + std::to_string(needed) +
                            " positions, one between two that are alike, and the model puts out " +
                            std::to_string(positions),
                        "Let the model pool or stride less.");
        }
    });
}

void initialise(exec::Executor& executor, const compile::RunConfig& config) {
    write_random(executor, "init", config.seed, 0, 0);
    executor.run("init");
}

fs::path find_checkpoint(const fs::path& named, const std::string& from) {
    const fs::path path = checkpoint::follow_pointer(named);
    std::error_code problem;
    if (!is_run_folder(path)) {
        if (!fs::is_directory(path, problem)) {
            throw Error(ErrorKind::usage, path.string(), "there is no such run or checkpoint",
                        "name the folder of a run or of a checkpoint");
        }
        return path;
    }
    const auto entries = usable_entries(path);
    if (entries.empty()) {
        no_such_checkpoint(path, from, entries);
    }
    if (from == "latest") {
        return entries.back().path;
    }
    if (from == "best") {
        const checkpoint::Entry* best =
            checkpoint::best_entry(entries, checkpoint::goal_of(entries.back().record.config));
        return best != nullptr ? best->path : entries.back().path;
    }
    std::int64_t step = -1;
    const auto read = std::from_chars(from.data(), from.data() + from.size(), step);
    for (const checkpoint::Entry& entry : entries) {
        if (read.ec == std::errc() && read.ptr == from.data() + from.size() && entry.step == step) {
            return entry.path;
        }
    }
    no_such_checkpoint(path, from, entries);
}

compile::CheckedRun read_saved_config(const checkpoint::Manifest& manifest,
                                      const std::vector<std::string>& overrides) {
    // Relative paths count from where the run's configuration lay, when the run folder is still
    // around.
    fs::path base_dir = manifest.path;
    const fs::path run = manifest.path.parent_path().parent_path();
    if (is_run_folder(run)) {
        base_dir = run;
        const std::string recorded = read_run_info(run).base_dir;
        base_dir = recorded.empty() ? base_dir : fs::path(recorded);
    }
    return compile::read_run_config(as_it_was(manifest.record.config), base_dir, overrides);
}

compile::RunConfig saved_config(const checkpoint::Manifest& manifest) {
    // The tokenizer that the model was trained with, whatever became of the file.
    std::vector<std::string> overrides;
    if (!checkpoint::read_tokenizer_of(manifest).empty()) {
        const fs::path path = fs::absolute(manifest.path) / checkpoint::kTokenizerName;
        overrides.push_back("data.tokenizer=" + config::Json(path.string()).dump());
    }
    compile::CheckedRun checked = read_saved_config(manifest, overrides);
    if (!checked.ok()) {
        throw Error(ErrorKind::checkpoint, manifest.path.string(),
                    "its configuration is not valid here: " +
                        config::to_text(checked.diagnostics.front()),
                    "it may come from a newer version; give a configuration with --data");
    }
    return std::move(checked.config);
}

LoadedModel load_model(const fs::path& checkpoint_folder, const compile::RunConfig* config,
                       int threads) {
    LoadedModel model;
    model.manifest = checkpoint::read_manifest(checkpoint_folder);
    model.config = config != nullptr ? *config : saved_config(model.manifest);
    if (names_gpus(model.config)) {
        model.config = on_host(model.config);
    }
    model.data = open_run_data(model.config);
    model.plan = shared_plan(model.config, {.threads = threads}, {}, compile::Scope::use);
    model.executor = std::make_unique<exec::Executor>(
        model.plan, backends(), exec::ExecutorOptions{.threads = thread_count(threads)});
    initialise(*model.executor, model.config);
    load_base(*model.executor, model.config, model.manifest);
    restore_tensors(*model.executor, model.manifest, Missing::keeps_init);
    if (model.plan->find(compile::kHoldProgram) != nullptr) {
        model.executor->run(compile::kHoldProgram);
    }
    return model;
}

} // namespace weft::train
