// SPDX-License-Identifier: Apache-2.0
#include "core/train/warm_start.h"

#include "core/base/crc32c.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/checkpoint/export.h"
#include "core/checkpoint/fetch_weights.h"
#include "core/compile/programs/model_programs.h"
#include "core/foreign/adapters.h"
#include "core/foreign/describe.h"
#include "core/train/engine.h"

#include <algorithm>
#include <iomanip>
#include <map>
#include <memory>
#include <sstream>

namespace weft::train {
namespace {

namespace fs = std::filesystem;
using foreign::Fate, foreign::MatchRow, foreign::Tensor;

} // namespace

bool evaluates_average(const checkpoint::Manifest& manifest) {
    const auto is_average = [](const checkpoint::TensorInfo& tensor) {
        return tensor.name.starts_with(kAveragePrefix);
    };
    const config::Json::json_pointer setting("/evaluation/use_ema");
    const config::Json& config = manifest.record.config;
    return std::any_of(manifest.tensors.begin(), manifest.tensors.end(), is_average) &&
           (!config.contains(setting) || config.at(setting) != false);
}

namespace {

std::string named_list(const std::vector<std::string>& names) {
    constexpr std::size_t kNamed = 8;
    std::vector<std::string> shown(
        names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kNamed)));
    const std::string text = join(shown, ", ");
    return names.size() > kNamed ? text + " and " + std::to_string(names.size() - kNamed) + " more"
                                 : text;
}

/// The names of the rows of one fate, ours where there is one; of misfits with both types.
std::vector<std::string> names_of(const foreign::Match& match, Fate fate, bool parameters_only) {
    std::vector<std::string> out;
    for (const MatchRow* row : match.of(fate)) {
        if (fate == Fate::misfit) {
            out.push_back(row->ours + " (" + row->there + " there, " + row->here + " here)");
        } else if (row->parameter || !parameters_only) {
            out.push_back(row->ours.empty() ? row->theirs : row->ours);
        }
    }
    return out;
}

/// A parameter that checkpoints leave to the weights of init.from.
bool is_left_to_base(const plan::StateSlot& slot) {
    return slot.category == plan::Category::parameters && !slot.saved;
}

/// What init.from can fill: factors of adapters start as their layers say.
bool is_weight(const plan::StateSlot& slot) {
    return (slot.saved || is_left_to_base(slot)) && slot.category != plan::Category::optimizer &&
           !slot.name.starts_with(kAveragePrefix) && !nn::adapted_by(slot.name);
}

std::string hex(std::uint32_t crc) {
    std::ostringstream out;
    out << "crc32c:" << std::hex << std::setw(8) << std::setfill('0') << crc;
    return out.str();
}

void check_fingerprint(const LeftToBase& left, const std::string& found,
                       const std::filesystem::path& weights, const checkpoint::Manifest& manifest) {
    if (found != left.fingerprint) {
        throw Error(ErrorKind::checkpoint, weights.string(),
                    "these weights are not those that the factors of " + manifest.path.string() +
                        " were trained beside: " + found + ", " + left.fingerprint + " then",
                    "put the weights of then back at this place");
    }
}

/// The arrays that a checkpoint leaves to the weights of init.from, beside its own.
foreign::Arrays with_base(foreign::Arrays own, const checkpoint::Manifest& manifest) {
    const auto left = left_to_base(manifest.record);
    if (!left) {
        return own;
    }
    const compile::CheckedRun run = read_saved_config(manifest);
    std::vector<Tensor> wanted;
    for (const auto& [name, type] : left->arrays) {
        wanted.push_back({name, type});
    }
    if (!run.ok() || run.config.section("init").at("from").is_null()) {
        throw Error(ErrorKind::checkpoint, manifest.path.string(),
                    "it leaves parameters to weights that its configuration does not name",
                    "resume it once with the configuration that it was trained with");
    }
    const auto base = std::make_shared<WarmStart>(match_start_weights(run.config, wanted));
    std::map<std::string, const foreign::Link*> links;
    std::uint32_t crc = 0;
    for (const foreign::Link& link : base->match.links) {
        links[wanted[link.wanted].name] = &link;
        crc = crc32c(foreign::read_linked(base->arrays, link, wanted[link.wanted].type), crc);
    }
    check_fingerprint(*left, hex(crc), base->source, manifest);
    std::map<std::string, ir::Type> types(left->arrays.begin(), left->arrays.end());
    for (const auto& [name, type] : types) {
        own.list.push_back({name, type, ir::to_text(type)});
    }
    std::sort(own.list.begin(), own.list.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    own.read = [base, links = std::move(links), types = std::move(types),
                read = std::move(own.read)](const std::string& name, std::span<std::byte> into) {
        const auto found = links.find(name);
        if (found == links.end()) {
            read(name, into);
            return;
        }
        const auto bytes = foreign::read_linked(base->arrays, *found->second, types.at(name));
        std::copy(bytes.begin(), bytes.end(), into.begin());
    };
    return own;
}

} // namespace

foreign::Arrays parts_of(const checkpoint::Manifest& manifest) {
    const bool averaged = evaluates_average(manifest);
    foreign::Arrays out;
    out.path = manifest.path;
    for (const checkpoint::TensorInfo& tensor : manifest.tensors) {
        if (tensor.kind != "optimizer" && !tensor.name.starts_with(kAveragePrefix)) {
            out.list.push_back({tensor.name, tensor.type, ir::to_text(tensor.type)});
        }
    }
    std::sort(out.list.begin(), out.list.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    out.read = [manifest, averaged](const std::string& name, std::span<std::byte> into) {
        const std::string average = std::string(kAveragePrefix) + name;
        const bool has_average = averaged && manifest.find(average) != nullptr;
        checkpoint::read_tensor(manifest, has_average ? average : name, into);
    };
    return with_base(std::move(out), manifest);
}

foreign::Arrays weights_of(const checkpoint::Manifest& manifest) {
    foreign::Arrays parts = parts_of(manifest);
    const auto lora = lora_of(manifest);
    return lora ? foreign::merged(parts, lora->scale()) : parts;
}

std::optional<nn::Lora> lora_of(const checkpoint::Manifest& manifest) {
    const auto init = manifest.record.config.find("init");
    return init == manifest.record.config.end() ? std::nullopt : nn::lora_settings(*init);
}

std::vector<checkpoint::ArrayToWrite> exported_weights(const checkpoint::Manifest& manifest) {
    if (!lora_of(manifest)) {
        return checkpoint::exported(manifest, checkpoint::ExportWhat::weights);
    }
    const auto weights = std::make_shared<const foreign::Arrays>(weights_of(manifest));
    std::vector<checkpoint::ArrayToWrite> out;
    for (const foreign::Array& array : weights->list) {
        out.push_back({array.name, *array.type,
                       [weights, &array] { return foreign::read_array(*weights, array); }});
    }
    return out;
}

namespace {

/// Of this machine; what lies in a store is copied here.
fs::path path_of_start(const compile::RunConfig& config, const config::Json& from) {
    const auto named = from.get<std::string>();
    return store::is_address(named)
               ? checkpoint::fetch_weights(store::parse_address(named))
               : (config.base_dir / named).lexically_normal(); // absolute stays
}

std::vector<Tensor> parameters_of(const compile::RunModel& model, bool factors) {
    std::vector<Tensor> out;
    for (const nn::Variable& variable : model.parameters) {
        if (nn::adapted_by(variable.name).has_value() == factors) {
            out.push_back({variable.name, {ir::DType::f32, variable.shape}, true});
        }
    }
    return out;
}

/// Averages start as what they are of.
void fill_averages(exec::Executor& executor) {
    for (const plan::StateSlot& slot : executor.plan().state_slots) {
        if (slot.name.starts_with(kAveragePrefix)) {
            executor.write_slot(slot.name,
                                executor.read_slot(slot.name.substr(kAveragePrefix.size())));
        }
    }
}

void fill_slots(exec::Executor& executor, const WarmStart& start,
                const std::vector<Tensor>& wanted) {
    for (const foreign::Link& link : start.match.links) {
        const Tensor& slot = wanted[link.wanted];
        executor.write_slot(slot.name, foreign::read_linked(start.arrays, link, slot.type));
    }
    fill_averages(executor);
}

} // namespace

std::vector<Tensor> start_weights_of(const compile::RunConfig& config,
                                     const data::SampleInfo& sample) {
    const compile::RunModel model = compile::declare_run(config, sample);
    std::vector<Tensor> out = parameters_of(model, false);
    for (const nn::Variable& variable : model.statistics) {
        out.push_back({variable.name, {ir::DType::f32, variable.shape}, false});
    }
    return out;
}

WarmStart match_start_weights(const compile::RunConfig& config, const std::vector<Tensor>& wanted) {
    const fs::path path = path_of_start(config, config.section("init").at("from"));
    WarmStart start;
    if (foreign::is_weights(path)) {
        start.arrays = foreign::open_weights(path);
        std::erase_if(start.arrays.list,
                      [](const auto& array) { return array.name.starts_with(kAveragePrefix); });
        if (const auto there = foreign::foreign_config(path)) {
            start.differences = foreign::differences(
                config.section("model"), foreign::read_foreign_config(*there, config.context()));
        }
    } else {
        const auto manifest = checkpoint::read_manifest(find_checkpoint(path, "latest"));
        start.arrays = weights_of(manifest);
        start.averaged = evaluates_average(manifest);
    }
    start.source = start.arrays.path;
    start.match = foreign::match(start.arrays, wanted, config.model_type());
    return start;
}

std::optional<Error> refusal_of(const WarmStart& start, bool strict) {
    const std::vector<std::string> missing = names_of(start.match, Fate::missing, true);
    const std::vector<std::string> misfits = names_of(start.match, Fate::misfit, true);
    const std::vector<std::string> unused = names_of(start.match, Fate::unused, false);
    if (strict && (!missing.empty() || !misfits.empty())) {
        std::string text;
        if (!missing.empty()) {
            text = "lacks " + named_list(missing);
        }
        if (!misfits.empty()) {
            text += (text.empty() ? "" : "; ") + std::string("has another shape: ") +
                    named_list(misfits);
        }
        if (!unused.empty()) {
            text += "; it has besides " + named_list(unused);
        }
        return Error(ErrorKind::checkpoint, start.source.string(), text,
                     "set init.strict to false to start the others anew, or use the model that "
                     "the weights were made for");
    }
    if (strict && !start.differences.empty()) {
        return Error(ErrorKind::checkpoint, start.source.string(),
                     "its weights give other numbers here: " + named_list(start.differences),
                     "take the settings from there, or set init.strict to false");
    }
    if (start.match.links.empty()) {
        return Error(ErrorKind::checkpoint, start.source.string(),
                     "none of its arrays has the name and shape of one of the model's; it has " +
                         named_list(unused),
                     "`weft checkpoint show` lists the names of a saved model");
    }
    return std::nullopt;
}

WarmStart load_start_weights(exec::Executor& executor, const compile::RunConfig& config) {
    std::vector<Tensor> wanted;
    for (const plan::StateSlot& slot : executor.plan().state_slots) {
        if (is_weight(slot)) {
            wanted.push_back({slot.name, slot.whole, slot.category == plan::Category::parameters});
        }
    }
    WarmStart start = match_start_weights(config, wanted);
    if (const auto refused = refusal_of(start, config.section("init").at("strict").get<bool>())) {
        throw Error(*refused); // before anything is overwritten
    }
    fill_slots(executor, start, wanted);
    return start;
}

std::vector<Tensor> start_factors_of(const compile::RunConfig& config,
                                     const data::SampleInfo& sample) {
    return parameters_of(compile::declare_run(config, sample), true);
}

std::optional<WarmStart> match_start_factors(const compile::RunConfig& config,
                                             const std::vector<Tensor>& wanted) {
    const config::Json& init = config.section("init");
    const auto lora = nn::lora_settings(init);
    const config::Json from = lora ? init.at("lora").value("from", config::Json()) : config::Json();
    if (from.is_null()) {
        return std::nullopt;
    }
    WarmStart start;
    start.source = path_of_start(config, from);
    start.arrays = foreign::open_peft(start.source, config.model_type(), *lora);
    start.match = foreign::match(start.arrays, wanted, "");
    return start;
}

std::optional<Error> refusal_of_factors(const WarmStart& start, bool strict) {
    const std::vector<std::string> misfits = names_of(start.match, Fate::misfit, true);
    const std::vector<std::string> unused = names_of(start.match, Fate::unused, false);
    const bool lost = !misfits.empty() || !unused.empty();
    if ((strict && lost) || start.match.links.empty()) {
        std::string text = unused.empty() ? "" : "no layer here takes " + named_list(unused);
        if (!misfits.empty()) {
            text += (text.empty() ? "" : "; ") + std::string("of another shape: ") +
                    named_list(misfits);
        }
        return Error(ErrorKind::checkpoint, start.source.string(),
                     text.empty() ? "it holds no factors" : text,
                     "name these layers in init.lora.targets, or use the model that the factors "
                     "were trained for");
    }
    return std::nullopt;
}

std::optional<WarmStart> load_start_factors(exec::Executor& executor,
                                            const compile::RunConfig& config) {
    std::vector<Tensor> wanted;
    for (const plan::StateSlot& slot : executor.plan().state_slots) {
        if (slot.category == plan::Category::parameters && nn::adapted_by(slot.name)) {
            wanted.push_back({slot.name, slot.whole, true});
        }
    }
    std::optional<WarmStart> start = match_start_factors(config, wanted);
    if (start) {
        const bool strict = config.section("init").at("strict").get<bool>();
        if (const auto refused = refusal_of_factors(*start, strict)) {
            throw Error(*refused); // before anything is overwritten
        }
        fill_slots(executor, *start, wanted);
    }
    return start;
}

std::optional<LeftToBase> left_to_base(exec::Executor& executor) {
    LeftToBase out;
    std::uint32_t crc = 0;
    for (const plan::StateSlot& slot : executor.plan().state_slots) {
        if (is_left_to_base(slot)) {
            out.arrays.emplace_back(slot.name, slot.whole);
            crc = crc32c(executor.read_slot(slot.name), crc);
        }
    }
    out.fingerprint = hex(crc);
    return out.arrays.empty() ? std::nullopt : std::optional(std::move(out));
}

void load_base(exec::Executor& executor, const compile::RunConfig& config,
               const checkpoint::Manifest& manifest) {
    const auto left = left_to_base(manifest.record);
    if (!left || config.section("init").at("from").is_null()) {
        return; // without weights to load: what is missing is told array by array
    }
    const WarmStart start = load_start_weights(executor, config);
    const auto loaded = left_to_base(executor);
    check_fingerprint(*left, loaded ? loaded->fingerprint : "none", start.source, manifest);
}

std::string to_text(const WarmStart& start) {
    const foreign::Match& match = start.match;
    std::string text = "started with " + std::to_string(match.links.size()) + " arrays of " +
                       start.source.filename().string() +
                       (start.averaged ? ", the averaged weights" : "");
    if (match.family != nullptr) {
        text += ", by the names of " + std::string(match.family->help);
    }
    const auto add = [&](const char* what, const std::vector<std::string>& names) {
        if (!names.empty()) {
            text += what + named_list(names);
        }
    };
    add("; not there, so they start anew: ", names_of(match, Fate::missing, false));
    add("; of another shape, so they start anew: ", names_of(match, Fate::misfit, false));
    add("; not used: ", names_of(match, Fate::unused, false));
    add("; other numbers there: ", start.differences);
    return text;
}

} // namespace weft::train
