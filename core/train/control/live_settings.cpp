// SPDX-License-Identifier: Apache-2.0
#include "core/train/control/live_settings.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace weft::train {
namespace {

using compile::Cadence;
using config::Json;

constexpr std::array<std::pair<std::string_view, Cadence::Unit>, 4> kCadenceUnits{
    {{"steps", Cadence::Unit::steps},
     {"epochs", Cadence::Unit::epochs},
     {"minutes", Cadence::Unit::minutes},
     {"tokens", Cadence::Unit::tokens}}};

constexpr std::int64_t kMostSteps = std::int64_t{1} << 40;
constexpr std::size_t kMostPatterns = 1000;

std::optional<Cadence> read_cadence(const Json& value) {
    if (!value.is_object() || value.size() != 1 || !value.begin()->is_number()) {
        return std::nullopt;
    }
    for (const auto& [name, unit] : kCadenceUnits) {
        const double amount = value.begin()->get<double>();
        if (value.begin().key() == name && std::isfinite(amount) && amount > 0) {
            return Cadence{unit, amount};
        }
    }
    return std::nullopt;
}

Json cadence_json(const Cadence& cadence) {
    for (const auto& [name, unit] : kCadenceUnits) {
        if (unit == cadence.unit) {
            return Json{{std::string(name), cadence.amount}};
        }
    }
    return nullptr;
}

std::string set_rate(LiveSettings& settings, const Json& value, const std::string& path) {
    const double rate = value.is_number() ? value.get<double>() : 0.0;
    const bool absolute = path == "optimizer.learning_rate";
    if (absolute && !(settings.base_learning_rate > 0)) {
        return "this optimizer has no learning rate of its own: set learning_rate_multiplier";
    }
    const double factor = absolute ? rate / settings.base_learning_rate : rate;
    if (!(rate > 0.0) || !(factor > 0.0) || !std::isfinite(factor)) {
        return path + " must be a number above 0";
    }
    settings.learning_rate_multiplier = factor;
    return {};
}

std::string set_extra_steps(LiveSettings& settings, const Json& value) {
    if (!value.is_number_integer() || value.get<std::int64_t>() < 0 ||
        value.get<std::int64_t>() > kMostSteps) {
        return "extra_steps must be a whole number from 0 on";
    }
    settings.extra_steps = value.get<std::int64_t>();
    return {};
}

std::string set_steps(std::int64_t& into, const Json& value, const std::string& path,
                      std::int64_t least) {
    if (!value.is_number_integer() || value.get<std::int64_t>() < least ||
        value.get<std::int64_t>() > kMostSteps) {
        return path + " must be a whole number of steps from " + std::to_string(least) + " on";
    }
    into = value.get<std::int64_t>();
    return {};
}

/// Why none of the layers is meant; empty: one is, or they are not known yet.
std::string unknown_layer(const LiveSettings& settings, const std::string& pattern) {
    if (settings.layers == nullptr ||
        std::any_of(settings.layers->begin(), settings.layers->end(),
                    [&](const std::string& layer) { return freezes(pattern, layer); })) {
        return {};
    }
    return "frozen: no layer of the model is called \"" + shown(pattern) + "\". " +
           name_hint(pattern, *settings.layers);
}

std::string set_frozen(LiveSettings& settings, const Json& value) {
    if (!settings.freezable) {
        return "the step of this run was not planned for frozen layers: fork it with "
               "training.freezable=true";
    }
    const bool sound =
        value.is_array() && value.size() <= kMostPatterns &&
        std::all_of(value.begin(), value.end(), [](const Json& one) { return one.is_string(); });
    if (!sound) {
        return "frozen must be a list of at most " + std::to_string(kMostPatterns) +
               " names of layers, such as [\"blocks.0\", \"*.attention*\"]; [] thaws all";
    }
    for (const Json& one : value) {
        if (std::string problem = unknown_layer(settings, one.get<std::string>());
            !problem.empty()) {
            return problem;
        }
    }
    settings.frozen = value.get<std::vector<std::string>>();
    return {};
}

std::string set_cadence(Cadence& into, const Json& value, std::string_view path) {
    const auto cadence = read_cadence(value);
    if (!cadence) {
        return std::string(path) + " must look like {\"steps\": 100}, with a number above 0";
    }
    into = *cadence;
    return {};
}

} // namespace

bool freezes(const std::string& pattern, const std::string& layer) {
    return glob_match(pattern, layer) || layer.starts_with(pattern + ".");
}

LiveSettings live_settings_of(const compile::RunConfig& config) {
    LiveSettings settings;
    settings.length = config.length;
    settings.evaluation_every = config.evaluation_every;
    settings.checkpoint_every = config.checkpoint_every;
    settings.log_every = config.section("training").at("log_every").get<std::int64_t>();
    settings.inside_every = config.section("log").at("inside_every").get<std::int64_t>();
    settings.base_learning_rate = config.section("optimizer").value("learning_rate", 0.0);
    settings.freezable = config.freezable;
    return settings;
}

std::string apply_set(LiveSettings& settings, const Json& argument) {
    const auto path_of = argument.find("path");
    const auto value_of = argument.find("value");
    if (path_of == argument.end() || !path_of->is_string() || value_of == argument.end()) {
        return "set needs \"path\" and \"value\"";
    }
    const auto path = path_of->get<std::string>();
    const Json& value = *value_of;
    if (path == "learning_rate_multiplier" || path == "optimizer.learning_rate") {
        return set_rate(settings, value, path);
    }
    if (path == "extend") {
        return set_extra_steps(settings, value);
    }
    if (path == "training.log_every") {
        return set_steps(settings.log_every, value, path, 1);
    }
    if (path == "log.inside_every") {
        return set_steps(settings.inside_every, value, path, 0);
    }
    if (path == "frozen") {
        return set_frozen(settings, value);
    }
    if (path == "training.length") {
        std::string problem = set_cadence(settings.length, value, path);
        settings.extra_steps = problem.empty() ? 0 : settings.extra_steps;
        return problem;
    }
    if (path == "evaluation.every") {
        return set_cadence(settings.evaluation_every, value, path);
    }
    if (path == "checkpoint.every") {
        if (value.is_null()) {
            settings.checkpoint_every.reset();
            return {};
        }
        Cadence cadence;
        std::string problem = set_cadence(cadence, value, path);
        if (problem.empty()) {
            settings.checkpoint_every = cadence;
        }
        return problem;
    }
    return "\"" + path +
           "\" cannot change while the run goes on; what can: learning_rate_multiplier, " +
           "optimizer.learning_rate, training.length, training.log_every, log.inside_every, " +
           "evaluation.every, checkpoint.every, frozen. Fork the run to change the rest";
}

std::vector<std::pair<std::string, Json>> differences(const LiveSettings& before,
                                                      const LiveSettings& after) {
    std::vector<std::pair<std::string, Json>> out;
    const auto same = [](const Cadence& a, const Cadence& b) {
        return a.unit == b.unit && a.amount == b.amount;
    };
    if (before.learning_rate_multiplier != after.learning_rate_multiplier) {
        out.emplace_back("learning_rate_multiplier", after.learning_rate_multiplier);
    }
    if (!same(before.length, after.length)) {
        out.emplace_back("training.length", cadence_json(after.length));
    }
    if (before.extra_steps != after.extra_steps) {
        out.emplace_back("extend", after.extra_steps);
    }
    if (before.log_every != after.log_every) {
        out.emplace_back("training.log_every", after.log_every);
    }
    if (before.inside_every != after.inside_every) {
        out.emplace_back("log.inside_every", after.inside_every);
    }
    if (!same(before.evaluation_every, after.evaluation_every)) {
        out.emplace_back("evaluation.every", cadence_json(after.evaluation_every));
    }
    const auto& saves = after.checkpoint_every;
    if (before.checkpoint_every.has_value() != saves.has_value() ||
        (saves && !same(*before.checkpoint_every, *saves))) {
        out.emplace_back("checkpoint.every", saves ? cadence_json(*saves) : Json());
    }
    if (before.frozen != after.frozen) {
        out.emplace_back("frozen", after.frozen);
    }
    return out;
}

std::string apply_extend(LiveSettings& settings, const Json& argument) {
    const auto steps = argument.find("steps");
    if (steps == argument.end() || !steps->is_number_integer() || steps->get<std::int64_t>() <= 0 ||
        steps->get<std::int64_t>() > kMostSteps) {
        return "extend needs \"steps\", a whole number above 0";
    }
    if (settings.length.unit == Cadence::Unit::minutes) {
        return "the length of this run is in minutes; set training.length instead";
    }
    settings.extra_steps += steps->get<std::int64_t>();
    return {};
}

Json to_json(const LiveSettings& settings) {
    Json out{{"learning_rate_multiplier", settings.learning_rate_multiplier},
             {"length", cadence_json(settings.length)},
             {"extra_steps", settings.extra_steps},
             {"evaluation_every", cadence_json(settings.evaluation_every)},
             {"checkpoint_every",
              settings.checkpoint_every ? cadence_json(*settings.checkpoint_every) : Json(nullptr)},
             {"log_every", settings.log_every},
             {"inside_every", settings.inside_every}};
    if (!settings.frozen.empty()) {
        out["frozen"] = settings.frozen;
    }
    return out;
}

std::string read_live_settings(const Json& json, LiveSettings& settings) {
    const auto set = [&](const char* key, const char* path) {
        return json.contains(key) ? apply_set(settings, {{"path", path}, {"value", json[key]}})
                                  : std::string();
    };
    if (!json.is_object()) {
        return "the live settings are not an object";
    }
    for (const auto& [key, path] :
         {std::pair{"learning_rate_multiplier", "learning_rate_multiplier"},
          std::pair{"length", "training.length"}, std::pair{"evaluation_every", "evaluation.every"},
          std::pair{"checkpoint_every", "checkpoint.every"},
          std::pair{"log_every", "training.log_every"},
          std::pair{"inside_every", "log.inside_every"}, std::pair{"extra_steps", "extend"},
          std::pair{"frozen", "frozen"}}) {
        if (path == std::string_view("frozen") && !settings.freezable) {
            continue;
        }
        if (std::string problem = set(key, path); !problem.empty()) {
            return problem;
        }
    }
    return {};
}

} // namespace weft::train
