// SPDX-License-Identifier: Apache-2.0
#include "core/compile/mesh/mesh_config.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/cost/hardware.h"
#include "core/ir/text.h"
#include "core/sharding/strategies/strategy_list.h"

#include <algorithm>
#include <charconv>

namespace weft::compile {
namespace {

using config::Diagnostics;
using config::Json;
using config::Severity;
using sharding::Axis;

constexpr std::int64_t kMostDevices = 1024; // threads of one process
constexpr std::int64_t kMostGpus = 64;      // of one machine
constexpr std::int64_t kCountable = 1ll << 40;

/// The product of two numbers from 1 on, `most` where it is larger.
std::int64_t times_up_to(std::int64_t most, std::int64_t a, std::int64_t b) {
    return b > most / a ? most : a * b;
}

/// The axes as given, or the strategy's own where the default was left.
std::vector<Axis> wanted_axes(const Json& mesh) {
    const sharding::StrategyDef* strategy =
        sharding::find_strategy(mesh.at("strategy").get<std::string>());
    const Json& given = mesh.at("axes");
    if (strategy != nullptr && given == Json::array({Json::array({"data", -1})})) {
        return strategy->axes;
    }
    std::vector<Axis> out;
    for (const Json& axis : given) {
        out.push_back({axis[0].get<std::string>(), axis[1].get<std::int64_t>()});
    }
    return out;
}

std::string product_text(const std::vector<Axis>& axes) {
    std::string out;
    for (const Axis& axis : axes) {
        out += (out.empty() ? "" : " x ") + axis.name + "=" +
               (axis.size < 0 ? "?" : std::to_string(axis.size));
    }
    return out;
}

/// Fills the size that is -1 in. Empty text: done.
std::string resolve(std::vector<Axis>& axes, std::int64_t devices) {
    std::int64_t known = 1; // more than the devices: one more, however many
    Axis* open = nullptr;
    for (Axis& axis : axes) {
        if (axis.size == -1 && open == nullptr) {
            open = &axis;
        } else if (axis.size == -1) {
            return "only one axis may be -1";
        } else {
            known = times_up_to(devices + 1, known, axis.size);
        }
    }
    if (open != nullptr && devices % known == 0) {
        open->size = devices / known;
        return {};
    }
    return open == nullptr && known == devices
               ? ""
               : "the axes " + product_text(axes) + " do not make up " + std::to_string(devices) +
                     (devices == 1 ? " device" : " devices");
}

std::vector<std::string> axis_names(const Json& value) {
    std::vector<std::string> out;
    if (value.is_string()) {
        out.push_back(value.get<std::string>());
    } else if (value.is_array()) {
        for (const Json& name : value) {
            out.push_back(name.get<std::string>());
        }
    }
    return out;
}

bool is_rule(const Json& rule) {
    const auto names = [](const Json& value) {
        return value.is_null() || value.is_string() ||
               (value.is_array() && std::all_of(value.begin(), value.end(),
                                                [](const Json& name) { return name.is_string(); }));
    };
    return rule.is_array() && rule.size() == 2 && rule[0].is_string() && names(rule[1]);
}

/// None: the text is something else than digits.
std::optional<std::int64_t> whole_number(std::string_view digits) {
    std::int64_t number = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const bool sound = read.ec == std::errc() && read.ptr == digits.data() + digits.size();
    return sound && number >= 0 ? std::optional(number) : std::nullopt;
}

class Checker {
public:
    Checker(const Json& mesh, const std::string& pointer, Diagnostics& out)
        : mesh_(mesh), pointer_(pointer), out_(out) {}

    void run() {
        const auto devices = devices_named(mesh_.at("devices").get<std::string>());
        if (!devices) {
            error("/devices",
                  "'" + shown(mesh_.at("devices").get<std::string>()) +
                      "' is not available in this version",
                  "Use auto, cpu, cpu:N with N up to " + std::to_string(kMostDevices) +
                      ", cuda, cuda:N, or GPUs by number as in cuda:0,2 or cuda:1,; to plan only, "
                      "hardware of the catalogue such as h200:8.");
            return;
        }
        if (!axes_are_pairs()) {
            error("/axes", "expected a list of pairs [name, size]", "Write [[\"data\", -1]].");
            return;
        }
        std::vector<Axis> axes = wanted_axes(mesh_);
        if (axes.size() > static_cast<std::size_t>(sharding::kMostAxes)) {
            error("/axes",
                  "the mesh has " + std::to_string(axes.size()) + " axes; it can have at most " +
                      std::to_string(sharding::kMostAxes),
                  "Join axes that split the same dimensions.");
            return;
        }
        names_are_sound(axes);
        if (const std::string wrong = resolve(axes, *devices); !wrong.empty()) {
            error("/axes", wrong, axes_hint(axes, *devices));
            return;
        }
        const sharding::Mesh mesh{axes};
        rules_name_axes(mesh);
        specs_name_axes(mesh);
    }

private:
    void error(const std::string& where, std::string message, std::string hint) {
        out_.push_back({pointer_ + where, Severity::error, std::move(message), std::move(hint)});
    }

    std::string axes_hint(const std::vector<Axis>& axes, std::int64_t devices) const {
        std::int64_t product = 1;
        std::int64_t open = 0;
        for (const Axis& axis : axes) {
            product = axis.size == -1 ? product : times_up_to(kCountable, product, axis.size);
            open += axis.size == -1 ? 1 : 0;
        }
        if (open > 0) {
            return open > 1 ? "Give all sizes but one."
                            : "The sizes given must divide " + std::to_string(devices) + ".";
        }
        if (product == kCountable) {
            return "Give smaller sizes, or let one size be -1.";
        }
        const auto named = mesh_.at("devices").get<std::string>();
        const std::string kind =
            is_planned_hardware(named) ? named.substr(0, named.find(':')) : "cpu";
        return "Set mesh.devices to \"" + kind + ":" + std::to_string(product) +
               "\", or let one size be -1.";
    }

    bool axes_are_pairs() const {
        const Json& axes = mesh_.at("axes");
        return axes.is_array() && !axes.empty() &&
               std::all_of(axes.begin(), axes.end(), [](const Json& axis) {
                   return axis.is_array() && axis.size() == 2 && axis[0].is_string() &&
                          axis[1].is_number_integer() && (axis[1] == -1 || axis[1] >= 1);
               });
    }

    void names_are_sound(const std::vector<Axis>& axes) {
        for (std::size_t i = 0; i < axes.size(); ++i) {
            const bool twice =
                std::any_of(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(i),
                            [&](const Axis& a) { return a.name == axes[i].name; });
            if (axes[i].name.empty() || axes[i].name.find_first_of(", '\"") != std::string::npos) {
                error("/axes/" + std::to_string(i), "'" + shown(axes[i].name) + "' names no axis",
                      "Use a word such as data or model.");
            } else if (twice) {
                error("/axes/" + std::to_string(i), "axis '" + axes[i].name + "' is there twice",
                      "Give each axis a name of its own.");
            }
        }
    }

    void rules_name_axes(const sharding::Mesh& mesh) {
        const Json& rules = mesh_.at("rules");
        if (!rules.is_array()) {
            error("/rules", "expected a list of pairs [logical axis, mesh axis or null]",
                  "Write [[\"mlp\", \"model\"]].");
            return;
        }
        for (std::size_t i = 0; i < rules.size(); ++i) {
            const std::string where = "/rules/" + std::to_string(i);
            if (!is_rule(rules[i])) {
                error(where, "a rule is a pair [logical axis, mesh axis or null]",
                      "Write [\"mlp\", \"model\"].");
                continue;
            }
            for (const std::string& name : axis_names(rules[i][1])) {
                if (mesh.find(name) < 0) {
                    error(where, "the mesh has no axis '" + shown(name) + "'",
                          "Its axes are " + product_text(mesh.axes) + ".");
                }
            }
        }
    }

    void specs_name_axes(const sharding::Mesh& mesh) {
        for (const auto& [pattern, text] : mesh_.at("specs").items()) {
            const std::string where = "/specs/" + pattern;
            try {
                const ir::Spec spec = ir::parse_spec(text.get<std::string>());
                const ir::Shape any(std::vector<std::int64_t>(ir::Shape::kMaxRank, 1));
                if (const std::string wrong = sharding::check_spec(spec, any, mesh);
                    !wrong.empty()) {
                    error(where, wrong, "Its axes are " + product_text(mesh.axes) + ".");
                }
            } catch (const Error& fault) {
                error(where, fault.text(), "Write P(None, 'model').");
            }
        }
    }

    const Json& mesh_;
    const std::string pointer_;
    Diagnostics& out_;
};

} // namespace

std::optional<std::int64_t> devices_named(std::string_view text) {
    if (text == "auto" || text == "cpu") {
        return 1;
    }
    if (is_planned_hardware(text)) {
        return cost::parse_hardware(text).count;
    }
    if (const auto gpus = gpus_named(text); !gpus.empty()) {
        return static_cast<std::int64_t>(gpus.size());
    }
    const auto count = text.starts_with("cpu:") ? whole_number(text.substr(4)) : std::nullopt;
    return count && *count >= 1 && *count <= kMostDevices ? count : std::nullopt;
}

std::vector<int> gpus_named(std::string_view text) {
    if (text == "cuda") {
        return {0};
    }
    if (!text.starts_with("cuda:")) {
        return {};
    }
    std::vector<int> out;
    const std::string list(text.substr(5));
    if (list.find(',') == std::string::npos) {
        const auto count = whole_number(list);
        for (int i = 0; count && *count <= kMostGpus && i < *count; ++i) {
            out.push_back(i);
        }
        return out;
    }
    const bool alone = list.ends_with(',');
    for (const std::string& one : split(alone ? list.substr(0, list.size() - 1) : list, ',')) {
        const auto number = whole_number(one);
        const bool new_number = number && *number < kMostGpus &&
                                std::find(out.begin(), out.end(), *number) == out.end();
        if (!new_number) {
            return {};
        }
        out.push_back(static_cast<int>(*number));
    }
    return out;
}

bool is_planned_hardware(std::string_view devices) {
    if (cost::find_hardware(devices.substr(0, devices.find(':'))) == nullptr) {
        return false;
    }
    try {
        cost::parse_hardware(devices);
        return true;
    } catch (const Error&) { // a count that is none
        return false;
    }
}

sharding::Placement placement_of(const Json& mesh) {
    sharding::Placement out;
    out.mesh.axes = wanted_axes(mesh);
    const auto devices = devices_named(mesh.at("devices").get<std::string>());
    const std::string wrong = resolve(out.mesh.axes, devices.value_or(1));
    WEFT_CHECK(wrong.empty(), "the mesh was checked: " + wrong);
    const sharding::StrategyDef* strategy =
        sharding::find_strategy(mesh.at("strategy").get<std::string>());
    WEFT_CHECK(strategy != nullptr, "the strategy was checked");
    for (const Json& rule : mesh.at("rules")) {
        out.rules.push_back({rule[0].get<std::string>(), axis_names(rule[1])});
    }
    out.rules.insert(out.rules.end(), strategy->rules.begin(), strategy->rules.end());
    out.zero_stage = std::max(strategy->zero_stage, mesh.at("zero_stage").get<int>());
    out.zero_axes = strategy->zero_axes;
    if (out.zero_axes.empty()) { // rules of one's own: whatever splits the batch
        for (const int axis : out.axes_of("batch")) {
            out.zero_axes.push_back(out.mesh.axes[static_cast<std::size_t>(axis)].name);
        }
    }
    for (const auto& [pattern, text] : mesh.at("specs").items()) {
        out.specs.emplace_back(pattern, ir::parse_spec(text.get<std::string>()));
    }
    return out;
}

std::int64_t data_ranks(const Json& mesh) {
    const sharding::Placement placement = placement_of(mesh);
    return placement.mesh.size(placement.axes_of("batch"));
}

std::int64_t expert_devices(const Json& mesh) {
    const sharding::Placement placement = placement_of(mesh);
    return placement.mesh.size(placement.axes_of("expert"));
}

void check_mesh(const Json& mesh, const std::string& pointer, Diagnostics& out) {
    Checker(mesh, pointer, out).run();
}

} // namespace weft::compile
