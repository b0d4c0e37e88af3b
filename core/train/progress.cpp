// SPDX-License-Identifier: Apache-2.0
#include "core/train/progress.h"

#include "core/base/error.h"
#include "core/checkpoint/array_reader.h"
#include "core/compile/programs/programs.h"
#include "core/optim/groups.h"
#include "core/train/ranks/rank_shards.h"
#include "core/train/slot_blocks.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace weft::train {
namespace {

using config::Json;

// JSON has no NaN; such a metric is left out of the record.
Json finite_json(const Metrics& metrics) {
    Json out = Json::object();
    for (const auto& [name, value] : metrics) {
        if (std::isfinite(value)) {
            out[name] = value;
        }
    }
    return out;
}

Metrics metrics_of(const Json& json) {
    Metrics out;
    for (const auto& [name, value] : json.items()) {
        if (value.is_number()) {
            out.emplace_back(name, value.get<double>());
        }
    }
    return out;
}

std::string list_of(const std::vector<std::string>& names) {
    std::string out;
    for (std::size_t i = 0; i < names.size() && i < 5; ++i) {
        out += (i == 0 ? "" : ", ") + names[i];
    }
    return names.size() > 5 ? out + " and " + std::to_string(names.size() - 5) + " more" : out;
}

[[noreturn]] void incompatible(const checkpoint::Manifest& manifest, const std::string& text) {
    throw Error(
        ErrorKind::checkpoint, manifest.path.string(), text,
        "the configuration must describe the model that was saved; see config.json of the run");
}

/// Fills every device's part of a slot; padding becomes zero.
void restore_slot(exec::Executor& executor, const plan::StateSlot& slot,
                  const checkpoint::TensorInfo& tensor, checkpoint::ArrayReader& reader,
                  std::vector<std::int64_t>& read_bytes) {
    const sharding::Mesh& mesh = executor.plan().mesh;
    const bool padded = sharding::padding_bytes(slot.whole, slot.placement, mesh) != 0;
    std::vector<exec::HostPart> parts;
    std::vector<checkpoint::Destination> destinations;
    for (int device = 0; device < mesh.devices(); ++device) {
        if (!slot.placement.holds(mesh, device)) {
            continue;
        }
        const exec::HostPart& part =
            parts.emplace_back(executor.slot(slot.name, device, exec::HostPart::Use::fill));
        if (padded) {
            std::memset(part.data(), 0, part.size());
        }
        for (const sharding::Placed& block : blocks_of(slot, mesh, device)) {
            destinations.push_back({block, part});
            read_bytes[static_cast<std::size_t>(device)] +=
                block.box.elements() * ir::dtype_bytes(tensor.type.dtype);
        }
    }
    reader.read(tensor, destinations);
    for (exec::HostPart& part : parts) {
        part.store();
    }
}

[[noreturn]] void wrong_counters(const std::string& text) {
    throw Error(ErrorKind::checkpoint, "the checkpoint's counters", text,
                "resume from another checkpoint");
}

std::int64_t counted(const Json& counters, const char* key) {
    const Json& value = counters.at(key);
    // Unsigned numbers above the largest signed one come out negative.
    if (!value.is_number_integer() || value.get<std::int64_t>() < 0) {
        wrong_counters(std::string(key) + " is " + value.dump() + ", not a whole number from 0 on");
    }
    return value.get<std::int64_t>();
}

double spent_seconds(const Json& counters) {
    const double seconds = counters.value("seconds", 0.0);
    if (!(seconds >= 0) || !std::isfinite(seconds)) {
        wrong_counters("seconds is not a number from 0 on");
    }
    return seconds;
}

std::optional<Best> read_best(const Json& counters, const checkpoint::Goal& goal,
                              std::int64_t step) {
    const auto found = counters.find("best");
    if (found == counters.end() || !found->is_object()) {
        return std::nullopt;
    }
    const Json metrics = found->value("metrics", Json::object());
    const auto score = checkpoint::score_in(metrics, goal, counted(*found, "step"));
    if (score && score->step > step) {
        wrong_counters("the best step is later than the checkpoint's");
    }
    return score ? std::optional(Best{*score, metrics_of(metrics)}) : std::nullopt;
}

Json plateaus_json(const std::vector<optim::Plateau>& plateaus) {
    Json out = Json::array();
    for (const optim::Plateau& one : plateaus) {
        out.push_back({{"factor", one.factor},
                       {"best", one.best ? Json(*one.best) : Json()},
                       {"bad", one.bad},
                       {"cooling", one.cooling}});
    }
    return out;
}

std::vector<optim::Plateau> plateaus_of(const Json& json) {
    std::vector<optim::Plateau> out;
    for (const Json& one : json) {
        optim::Plateau plateau;
        plateau.bad = counted(one, "bad");
        plateau.cooling = counted(one, "cooling");
        plateau.factor = one.at("factor").get<double>();
        if (!(plateau.factor >= 0 && plateau.factor <= 1)) {
            wrong_counters("a plateau's factor is not from 0 to 1");
        }
        if (!one.at("best").is_null()) {
            plateau.best = one.at("best").get<double>();
        }
        out.push_back(plateau);
    }
    return out;
}

/// What a resume takes over; what the record lacks stays as it is given.
Progress progress_of(const checkpoint::Record& record, Progress progress) {
    try {
        const Json& counters = record.counters;
        progress.step = record.step;
        progress.cursor.epoch = counted(counters.at("cursor"), "epoch");
        progress.cursor.position = counted(counters.at("cursor"), "position");
        progress.samples = counted(counters, "samples");
        progress.seconds = spent_seconds(counters);
        progress.evaluated_step = record.metric_step;
        if (record.metric_step < -1 || record.metric_step > record.step) {
            wrong_counters("the metrics are of step " + std::to_string(record.metric_step) +
                           ", the checkpoint is of step " + std::to_string(record.step));
        }
        if (counters.contains("random") && counted(counters["random"], "step") != record.step) {
            wrong_counters("the random keys are of another step");
        }
        progress.last_metrics = metrics_of(record.metrics);
        progress.best = read_best(counters, checkpoint::goal_of(record.config), record.step);
        if (counters.contains("stall")) {
            const Json& stall = counters["stall"];
            progress.stall = Stall{stall.at("best").get<double>(), counted(stall, "step"),
                                   counted(stall, "evaluations")};
        }
        if (counters.contains("training")) {
            progress.training = {metrics_of(counters["training"].at("sums")),
                                 counted(counters["training"], "steps")};
        }
        if (counters.contains("moments_since")) {
            const auto since = counters["moments_since"].get<std::vector<std::int64_t>>();
            if (since.size() == progress.moments_since.size()) { // a fork may have other groups
                progress.moments_since = since;
            }
        }
        if (counters.contains("plateaus")) {
            const auto plateaus = plateaus_of(counters["plateaus"]);
            if (plateaus.size() == progress.plateaus.size()) { // a fork may have other groups
                progress.plateaus = plateaus;
            }
        }
        progress.skipped = skipped_in(record);
        if (counters.contains("passed_over")) {
            progress.passed_over = counters["passed_over"].get<std::set<std::int64_t>>();
        }
        if (counters.contains("left_out")) {
            progress.left_out = counters["left_out"].get<LeftOutSamples>();
        }
        progress.left_to_base = left_to_base(record);
        if (counters.contains("live")) {
            const std::string problem = read_live_settings(counters["live"], progress.live);
            if (!problem.empty()) {
                wrong_counters(problem);
            }
        }
    } catch (const Json::exception& fault) {
        wrong_counters(std::string("cannot be read: ") + fault.what());
    }
    return progress;
}

} // namespace

checkpoint::Record to_record(const Progress& progress, const compile::RunConfig& config,
                             double epoch, const Json& environment) {
    checkpoint::Record record;
    record.step = progress.step;
    record.epoch = epoch;
    record.counters["cursor"] = {{"epoch", progress.cursor.epoch},
                                 {"position", progress.cursor.position}};
    record.counters["samples"] = progress.samples;
    record.counters["seconds"] = progress.seconds;
    // Keys are a function of these and the step: nothing else of the generators is state.
    record.counters["random"] = {{"seed", config.seed}, {"step", progress.step}};
    record.counters["live"] = to_json(progress.live);
    record.counters["moments_since"] = progress.moments_since;
    if (std::any_of(progress.plateaus.begin(), progress.plateaus.end(),
                    [](const optim::Plateau& one) { return one != optim::Plateau(); })) {
        record.counters["plateaus"] = plateaus_json(progress.plateaus);
    }
    record.counters["best"] = nullptr;
    if (progress.best) {
        record.counters["best"] = {{"value", progress.best->score.value},
                                   {"step", progress.best->score.step},
                                   {"metrics", finite_json(progress.best->metrics)}};
    }
    if (progress.stall) {
        record.counters["stall"] = {{"best", progress.stall->best},
                                    {"step", progress.stall->step},
                                    {"evaluations", progress.stall->evaluations}};
    }
    if (progress.training.steps > 0) {
        record.counters["training"] = {{"steps", progress.training.steps},
                                       {"sums", finite_json(progress.training.metrics)}};
    }
    if (progress.skipped > 0) {
        record.counters["skipped"] = progress.skipped;
    }
    if (!progress.passed_over.empty()) {
        record.counters["passed_over"] = progress.passed_over;
    }
    if (!progress.left_out.empty()) {
        record.counters["left_out"] = progress.left_out;
    }
    if (progress.left_to_base) {
        Json arrays = Json::array();
        for (const auto& [name, type] : progress.left_to_base->arrays) {
            arrays.push_back(
                {{"name", name},
                 {"dtype", ir::dtype_name(type.dtype)},
                 {"shape", std::vector<std::int64_t>(type.shape.begin(), type.shape.end())}});
        }
        record.counters["left_to_base"] = {{"fingerprint", progress.left_to_base->fingerprint},
                                           {"arrays", std::move(arrays)}};
    }
    record.metrics = finite_json(progress.last_metrics);
    record.metric_step = progress.evaluated_step;
    record.environment = environment;
    record.config = config.document;
    return record;
}

std::int64_t skipped_in(const checkpoint::Record& record) {
    return record.counters.contains("skipped") ? counted(record.counters, "skipped") : 0;
}

std::optional<LeftToBase> left_to_base(const checkpoint::Record& record) {
    const auto found = record.counters.find("left_to_base");
    if (found == record.counters.end()) {
        return std::nullopt;
    }
    LeftToBase out;
    try {
        out.fingerprint = found->at("fingerprint").get<std::string>();
        for (const Json& array : found->at("arrays")) {
            const auto dtype = ir::parse_dtype(array.at("dtype").get_ref<const std::string&>());
            const auto extents = array.at("shape").get<std::vector<std::int64_t>>();
            const bool sound =
                dtype && extents.size() <= ir::Shape::kMaxRank &&
                std::all_of(extents.begin(), extents.end(), [](auto e) { return e > 0; });
            if (!sound) {
                wrong_counters("left_to_base has an array of no type");
            }
            out.arrays.emplace_back(array.at("name").get<std::string>(),
                                    ir::Type{*dtype, ir::Shape(std::span(extents))});
        }
    } catch (const Json::exception& fault) {
        wrong_counters(std::string("left_to_base cannot be read: ") + fault.what());
    }
    return out;
}

Progress first_progress(const compile::RunConfig& config) {
    Progress progress;
    progress.live = live_settings_of(config);
    progress.moments_since.assign(optim::resolve_groups(config.section("optimizer")).size(), 0);
    progress.plateaus.resize(compile::learning_rates(config).size());
    return progress;
}

Progress read_progress(const checkpoint::Record& record, const compile::RunConfig& config) {
    return progress_of(record, first_progress(config));
}

std::vector<std::string> verify_checkpoint(const std::filesystem::path& folder,
                                           const checkpoint::Progress& progress) {
    const checkpoint::Manifest manifest = checkpoint::read_manifest(folder);
    std::vector<std::string> problems = checkpoint::verify(manifest, progress);
    try {
        progress_of(manifest.record, Progress());
    } catch (const Error& fault) {
        problems.push_back(fault.where() + ": " + fault.text());
    }
    return problems;
}

std::shared_ptr<const std::string> saved_tokenizer(const data::SampleInfo& info) {
    const bool saved = info.tokenizer != nullptr && !info.tokenizer->document().empty();
    return saved ? std::shared_ptr<const std::string>(info.tokenizer, &info.tokenizer->document())
                 : nullptr;
}

SavedTensors saved_tensors(exec::Executor& executor, const RankSaves* ranks) {
    const sharding::Mesh& mesh = executor.plan().mesh;
    SavedTensors out;
    out.are_copies = !executor.on_host();
    const auto bytes_of = [&](const plan::StateSlot& slot, int device) {
        return std::span<const std::byte>(out.parts.emplace_back(executor.slot(slot.name, device)));
    };
    for (const plan::StateSlot& slot : executor.plan().state_slots) {
        if (!slot.saved) {
            continue;
        }
        auto& view = out.views.emplace_back(checkpoint::TensorView{
            slot.name, std::string(plan::category_name(slot.category)), slot.whole});
        view.spec = spec_text(slot, mesh);
        if (mesh.single()) {
            view.data = bytes_of(slot, 0);
            continue;
        }
        for (const OwnedBlock& owned : owned_blocks(slot, mesh)) {
            view.pieces.push_back({owned.place,
                                   ranks != nullptr && ranks->writers().contains(owned.device)
                                       ? std::span<const std::byte>()
                                       : bytes_of(slot, owned.device),
                                   owned.device});
        }
    }
    return out;
}

const checkpoint::TensorInfo* find_saved(const checkpoint::Manifest& manifest,
                                         const plan::StateSlot& slot) {
    const checkpoint::TensorInfo* tensor = slot.saved ? manifest.find(slot.name) : nullptr;
    if (tensor != nullptr && !(tensor->type == slot.whole)) {
        incompatible(manifest, "the tensor " + slot.name + " is " + ir::to_text(tensor->type) +
                                   " there and " + ir::to_text(slot.whole) + " in this model");
    }
    return tensor;
}

Restored restore_tensors(exec::Executor& executor, const checkpoint::Manifest& manifest,
                         Missing missing) {
    const plan::ExecutionPlan& plan = executor.plan();
    std::vector<std::string> absent;
    std::vector<std::string> started;
    for (const plan::StateSlot& slot : plan.state_slots) {
        if (slot.saved && find_saved(manifest, slot) == nullptr) {
            const bool tolerable =
                missing == Missing::keeps_init && slot.category != plan::Category::parameters;
            (tolerable ? started : absent).push_back(slot.name);
        }
    }
    if (!absent.empty()) {
        incompatible(manifest, "the checkpoint lacks " + list_of(absent));
    }
    Restored out;
    out.read_bytes.resize(static_cast<std::size_t>(plan.mesh.devices()));
    checkpoint::ArrayReader reader(manifest);
    for (const plan::StateSlot& slot : plan.state_slots) {
        if (const checkpoint::TensorInfo* tensor = find_saved(manifest, slot)) {
            restore_slot(executor, slot, *tensor, reader, out.read_bytes);
        }
    }
    out.file_bytes = reader.bytes_read();
    for (const std::string& name : started) {
        if (name.starts_with(kAveragePrefix)) {
            executor.write_slot(name, executor.read_slot(name.substr(kAveragePrefix.size())));
        }
    }
    if (!started.empty()) {
        out.notes.push_back("the checkpoint lacks " + list_of(started) + ": these start fresh");
    }
    out.fresh = {started.begin(), started.end()};
    return out;
}

} // namespace weft::train
