// SPDX-License-Identifier: Apache-2.0
#include "core/train/control/live_settings.h"

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

std::string set_cadence(Cadence& into, const Json& value, std::string_view path) {
    const auto cadence = read_cadence(value);
    if (!cadence) {
        return std::string(path) + " must look like {\"steps\": 100}, with a number above 0";
    }
    into = *cadence;
    return {};
}

} // namespace

LiveSettings live_settings_of(const compile::RunConfig& config) {
    LiveSettings settings;
    settings.length = config.length;
    settings.evaluation_every = config.evaluation_every;
    settings.checkpoint_every = config.checkpoint_every;
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
    if (path == "learning_rate_multiplier") {
        const double factor = value.is_number() ? value.get<double>() : 0.0;
        if (!(factor > 0.0) || !std::isfinite(factor)) {
            return "learning_rate_multiplier must be a number above 0";
        }
        settings.learning_rate_multiplier = factor;
        return {};
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
           "training.length, evaluation.every, checkpoint.every. Fork the run to change the rest";
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
    return Json{{"learning_rate_multiplier", settings.learning_rate_multiplier},
                {"length", cadence_json(settings.length)},
                {"extra_steps", settings.extra_steps},
                {"evaluation_every", cadence_json(settings.evaluation_every)},
                {"checkpoint_every", settings.checkpoint_every
                                         ? cadence_json(*settings.checkpoint_every)
                                         : Json(nullptr)}};
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
          std::pair{"checkpoint_every", "checkpoint.every"}}) {
        if (std::string problem = set(key, path); !problem.empty()) {
            return problem;
        }
    }
    if (const auto extra = json.find("extra_steps"); extra != json.end()) {
        if (!extra->is_number_integer() || extra->get<std::int64_t>() < 0 ||
            extra->get<std::int64_t>() > kMostSteps) {
            return "extra_steps must be a whole number from 0 on";
        }
        settings.extra_steps = extra->get<std::int64_t>();
    }
    return {};
}

} // namespace weft::train
