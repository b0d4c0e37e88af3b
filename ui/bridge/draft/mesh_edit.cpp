// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/draft/mesh_edit.h"

#include "core/compile/mesh/mesh_config.h"
#include "core/compile/programs/programs.h"
#include "core/ir/text.h"
#include "core/sharding/strategies/strategy_list.h"
#include "ui/bridge/draft/rule_edit.h"

#include <algorithm>
#include <limits>

namespace weft::ui {
namespace {

using config::Json;

constexpr int kMostListedGpus = 64; // more are not one machine's, and the draft says so

/// Sizes that are typed may make up more devices than can be counted: then as many as can be.
int times(int a, int b) {
    return static_cast<int>(
        std::min<std::int64_t>(std::int64_t{a} * b, std::numeric_limits<int>::max()));
}

int product(const std::vector<MeshAxis>& axes) {
    int out = 1;
    for (const MeshAxis& axis : axes) {
        out = times(out, axis.size);
    }
    return out;
}

/// Deals devices out over the axes of a strategy: each wants its own size, the open one the rest.
std::vector<MeshAxis> dealt(const sharding::StrategyDef& strategy, int devices) {
    std::vector<MeshAxis> out;
    int left = devices;
    for (const sharding::Axis& axis : strategy.axes) {
        int size = 1;
        if (axis.size > 0) {
            // As large as it wants to be, or the largest below that divides what is left.
            size = static_cast<int>(std::min<std::int64_t>(axis.size, left));
            while (left % size != 0) {
                --size;
            }
            left /= size;
        }
        out.push_back({axis.name, size});
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (strategy.axes[i].size < 0) {
            out[i].size = left;
            left = 1;
        }
    }
    if (!out.empty()) {
        out.front().size *= left;
    }
    return out;
}

bool names(const std::vector<sharding::Rule>& rules, const std::string& axis) {
    return std::ranges::any_of(
        rules, [&](const sharding::Rule& rule) { return std::ranges::count(rule.axes, axis) > 0; });
}

/// What an axis of a usual name splits, and where it stands among others: near devices last.
struct UsualAxis {
    const char* name;
    std::vector<std::string> logical;
};

const std::vector<UsualAxis>& usualAxes() {
    static const std::vector<UsualAxis> kAxes = [] {
        std::vector<std::string> tensor;
        for (const sharding::Rule& rule : sharding::tensor_rules("model")) {
            tensor.push_back(rule.logical);
        }
        return std::vector<UsualAxis>{
            {"replica", {"batch"}},          {"data", {"batch"}},       {"fsdp", {"batch"}},
            {"pipeline", {"layers"}},        {"context", {"sequence"}}, {"sequence", {"sequence"}},
            {"expert", {"batch", "expert"}}, {"model", tensor}};
    }();
    return kAxes;
}

std::ptrdiff_t usualPlace(const std::string& name) {
    const auto& usual = usualAxes();
    return std::ranges::find(usual, name, &UsualAxis::name) - usual.begin();
}

/// Gives the axis something to split, behind what splits it already. Layers go to one axis only.
void addUsualRules(MeshEdit& edit, const std::string& name) {
    const auto place = static_cast<std::size_t>(usualPlace(name));
    if (place == usualAxes().size() || names(edit.rules, name)) {
        return;
    }
    for (const std::string& logical : usualAxes()[place].logical) {
        const auto found = std::ranges::find(edit.rules, logical, &sharding::Rule::logical);
        if (found == edit.rules.end()) {
            edit.rules.push_back({logical, {name}});
        } else if (logical != "layers" || found->axes.empty()) {
            found->axes.push_back(name);
        }
    }
}

/// A strategy that does what `def` does and knows the axis as well; null: none.
const sharding::StrategyDef* strategyKnowing(const sharding::StrategyDef& def,
                                             const std::string& axis) {
    const auto holds = [&](const sharding::StrategyDef* other) {
        return names(other->rules, axis) &&
               std::ranges::all_of(def.rules, [&](const sharding::Rule& rule) {
                   return std::ranges::any_of(other->rules, [&](const sharding::Rule& wider) {
                       return wider.logical == rule.logical &&
                              std::ranges::all_of(rule.axes, [&](const std::string& one) {
                                  return std::ranges::count(wider.axes, one) > 0;
                              });
                   });
               });
    };
    const auto all = sharding::all_strategies();
    const auto found = std::ranges::find_if(all, holds);
    return found == all.end() ? nullptr : *found;
}

/// Makes room for two or more devices along a new axis: its size.
int takeFactor(MeshEdit& edit) {
    for (MeshAxis& axis : edit.axes) {
        for (int factor = 2; factor * factor <= axis.size; ++factor) {
            if (axis.size % factor == 0) {
                axis.size /= factor;
                return factor;
            }
        }
    }
    edit.devices = times(edit.devices, 2);
    return 2;
}

/// Leaves the names of axes out of overrides that the mesh lacks; one that loses all of them goes.
Json fittingSpecs(const MeshEdit& edit, const Json& specs) {
    Json out = Json::object();
    for (const auto& [pattern, text] : specs.items()) {
        ir::Spec spec = ir::parse_spec(text.get<std::string>());
        bool left = false;
        bool lost = false;
        for (std::vector<std::string>& dim : spec.dims) {
            lost |=
                std::erase_if(dim, [&](const std::string& name) {
                    return std::ranges::find(edit.axes, name, &MeshAxis::name) == edit.axes.end();
                }) > 0;
            left |= !dim.empty();
        }
        if (!lost) {
            out[pattern] = text;
        } else if (left) {
            out[pattern] = ir::to_text(spec);
        }
    }
    return out;
}

} // namespace

MeshEdit MeshEdit::of(const compile::RunConfig& config) {
    MeshEdit out;
    const Json& mesh = config.section("mesh");
    const sharding::Placement placement = compile::placement_of(mesh);
    out.devices = static_cast<int>(placement.mesh.devices());
    out.strategy = mesh.at("strategy").get<std::string>();
    out.zero_stage = placement.zero_stage;
    const auto named = mesh.at("devices").get<std::string>();
    out.gpus = compile::gpus_named(named);
    out.kind = !out.gpus.empty()                     ? "cuda"
               : compile::is_planned_hardware(named) ? named.substr(0, named.find(':'))
                                                     : "cpu";
    for (const sharding::Axis& axis : placement.mesh.axes) {
        out.axes.push_back({axis.name, static_cast<int>(axis.size)});
    }
    out.rules.assign(placement.rules.begin(),
                     placement.rules.begin() +
                         static_cast<std::ptrdiff_t>(mesh.at("rules").size()));
    return out;
}

MeshEdit exampleMesh() {
    return withStrategy({4, "2d", {}, 0}, "2d");
}

MeshEdit withStrategy(const MeshEdit& edit, const std::string& strategy) {
    MeshEdit out = edit;
    out.strategy = strategy;
    const sharding::StrategyDef* def = sharding::find_strategy(strategy);
    if (def != nullptr && !def->axes.empty()) {
        out.axes = dealt(*def, edit.devices);
        out.zero_stage = def->zero_stage;
    }
    return out;
}

MeshEdit withZeroStage(const MeshEdit& edit, int stage) {
    MeshEdit out = edit;
    const sharding::StrategyDef* own = sharding::find_strategy(edit.strategy);
    if (own != nullptr && stage < own->zero_stage) {
        const auto strategies = sharding::all_strategies();
        const auto less = std::ranges::find_if(strategies, [&](const auto* other) {
            return other->axes == own->axes && other->rules == own->rules &&
                   other->zero_stage <= stage;
        });
        if (less != strategies.end()) {
            out.strategy = (*less)->name;
        } else {
            out = asCustom(edit);
        }
    }
    out.zero_stage = stage;
    return out;
}

MeshEdit withDevices(const MeshEdit& edit, int devices) {
    MeshEdit out = edit;
    out.devices = devices;
    const int first = edit.axes.empty() ? 1 : edit.axes.front().size;
    const int others = product(edit.axes) / std::max(1, first);
    if (!out.axes.empty() && devices % others == 0) {
        out.axes.front().size = devices / others;
        return out;
    }
    const int zero_stage = edit.zero_stage;
    out = withStrategy(out, edit.strategy);
    out.zero_stage = zero_stage;
    return out;
}

MeshEdit withGpus(const MeshEdit& edit, const std::vector<int>& gpus) {
    MeshEdit out = edit;
    out.kind = gpus.empty() ? "cpu" : "cuda";
    out.gpus = gpus;
    const auto count = static_cast<int>(gpus.size());
    return gpus.empty() || count == edit.devices ? out : withDevices(out, count);
}

std::string devicesText(const MeshEdit& edit) {
    const std::string count = std::to_string(edit.devices);
    if (edit.kind != "cuda" || edit.devices > kMostListedGpus) {
        return edit.kind + ":" + count;
    }
    std::vector<int> gpus = edit.gpus;
    gpus.resize(std::min(gpus.size(), static_cast<std::size_t>(edit.devices)));
    for (int number = 0; gpus.size() < static_cast<std::size_t>(edit.devices); ++number) {
        if (std::ranges::count(gpus, number) == 0) {
            gpus.push_back(number);
        }
    }
    std::string list;
    bool first_ones = true;
    for (std::size_t i = 0; i < gpus.size(); ++i) {
        first_ones = first_ones && gpus[i] == static_cast<int>(i);
        list += (i == 0 ? "" : ",") + std::to_string(gpus[i]);
    }
    return first_ones ? "cuda:" + count : "cuda:" + list + (gpus.size() == 1 ? "," : "");
}

MeshEdit withAxisSize(const MeshEdit& edit, std::size_t axis, int size) {
    MeshEdit out = edit;
    out.axes.at(axis).size = size;
    out.devices = product(out.axes);
    return out;
}

MeshEdit withAxisMoved(const MeshEdit& edit, std::size_t from, std::size_t to) {
    MeshEdit out = edit;
    const MeshAxis moved = out.axes.at(from);
    out.axes.erase(out.axes.begin() + static_cast<std::ptrdiff_t>(from));
    out.axes.insert(out.axes.begin() + static_cast<std::ptrdiff_t>(std::min(to, out.axes.size())),
                    moved);
    return out;
}

std::vector<AxisOffer> axisOffers() {
    std::vector<AxisOffer> out;
    for (const UsualAxis& axis : usualAxes()) {
        std::string splits;
        for (const std::string& logical : axis.logical) {
            splits += (splits.empty() ? "" : ", ") + logical;
        }
        out.push_back({axis.name, std::move(splits)});
    }
    return out;
}

MeshEdit withAxisAdded(const MeshEdit& edit, const std::string& name) {
    MeshEdit out = edit;
    const int size = takeFactor(out);
    const auto behind = std::ranges::find_if(
        out.axes, [&](const MeshAxis& axis) { return usualPlace(axis.name) > usualPlace(name); });
    out.axes.insert(behind, {name, size});
    const sharding::StrategyDef* own = sharding::find_strategy(edit.strategy);
    if (own == nullptr || names(own->rules, name) || names(out.rules, name)) {
        return out;
    }
    const sharding::StrategyDef* wider =
        own == &sharding::kCustom ? nullptr : strategyKnowing(*own, name);
    out.zero_stage = std::max(edit.zero_stage, own->zero_stage);
    if (wider != nullptr) {
        out.strategy = wider->name;
        out.zero_stage = std::max(out.zero_stage, wider->zero_stage);
    } else {
        out = asCustom(out);
        addUsualRules(out, name);
    }
    if (name == "fsdp") {
        out.zero_stage = 3;
    }
    return out;
}

std::string axisNameProblem(const MeshEdit& edit, const std::string& name) {
    if (name.empty() || name.find_first_of(", '\"") != std::string::npos) {
        return "an axis is named with one word";
    }
    return std::ranges::find(edit.axes, name, &MeshAxis::name) != edit.axes.end()
               ? "the mesh has an axis " + name
               : "";
}

MeshEdit withAxisRemoved(const MeshEdit& edit, std::size_t axis) {
    if (edit.axes.size() < 2) {
        return edit;
    }
    MeshEdit out = edit;
    out.axes.erase(out.axes.begin() + static_cast<std::ptrdiff_t>(axis));
    out.axes.front().size = times(out.axes.front().size, edit.axes.at(axis).size);
    out.rules = fittingRules(out);
    return out;
}

namespace {

/// Along the axes that split `logical`. The edit may be of more devices than there can be, which
/// the draft says.
int devicesAlong(const MeshEdit& edit, const char* logical) {
    sharding::Placement placement;
    for (const MeshAxis& axis : edit.axes) {
        placement.mesh.axes.push_back({axis.name, axis.size});
    }
    placement.rules = fittingRules(edit);
    if (const sharding::StrategyDef* own = sharding::find_strategy(edit.strategy)) {
        placement.rules.insert(placement.rules.end(), own->rules.begin(), own->rules.end());
    }
    int out = 1;
    for (const int axis : placement.axes_of(logical)) {
        out = times(out, edit.axes[static_cast<std::size_t>(axis)].size);
    }
    return out;
}

} // namespace

std::vector<std::string> assignmentsOf(const MeshEdit& edit, const compile::RunConfig& config) {
    Json mesh = config.section("mesh");
    mesh["devices"] = devicesText(edit);
    mesh["strategy"] = edit.strategy;
    mesh["zero_stage"] = edit.zero_stage;
    mesh["axes"] = Json::array();
    for (const MeshAxis& axis : edit.axes) {
        mesh["axes"].push_back(Json::array({axis.name, axis.size}));
    }
    if (const auto rules = fittingRules(edit); rules != MeshEdit::of(config).rules) {
        mesh["rules"] = jsonOf(rules);
    }
    mesh["specs"] = fittingSpecs(edit, mesh.at("specs"));
    const sharding::Placement before = compile::placement_of(config.section("mesh"));
    const std::int64_t stages = devicesAlong(edit, "layers");
    if (before.mesh.size(before.axes_of("layers")) != stages) {
        mesh["pipeline"]["stages"] = nullptr; // both are made for a number of stages
        mesh["pipeline"]["file"] = nullptr;
    }
    std::vector<std::string> out;
    for (const char* field : {"devices", "strategy", "axes", "zero_stage"}) {
        out.push_back("mesh." + std::string(field) + "=" + mesh.at(field).dump());
    }
    for (const char* field : {"rules", "specs", "pipeline"}) {
        if (mesh.at(field) != config.section("mesh").at(field)) {
            out.push_back("mesh." + std::string(field) + "=" + mesh.at(field).dump());
        }
    }
    const std::int64_t ranks = devicesAlong(edit, "batch");
    const std::int64_t samples = config.global_batch_size;
    if (samples % ranks != 0) { // an uneven batch is taken in one microstep
        out.emplace_back("training.micro_batch_size=null");
    } else if (stages > 1 && compile::plan_batch(config).accumulation_steps < stages) {
        // As many microbatches as fill the pipeline twice, of those that divide a rank's samples.
        const std::int64_t share = samples / ranks;
        std::int64_t micro = std::max<std::int64_t>(1, share / (2 * stages));
        while (share % micro != 0) {
            --micro;
        }
        out.push_back("training.micro_batch_size=" + std::to_string(micro));
    }
    return out;
}

std::vector<std::string> oneDeviceAssignments(const compile::RunConfig& config) {
    const MeshEdit one{1, "data_parallel", {{"data", 1}}, 0};
    std::vector<std::string> out{"mesh.devices=\"auto\"", "mesh.strategy=\"data_parallel\"",
                                 "mesh.axes=[[\"data\",-1]]", "mesh.zero_stage=0"};
    for (const std::string& assignment : assignmentsOf(one, config)) {
        for (const char* field : {"mesh.rules=", "mesh.specs=", "mesh.pipeline="}) {
            if (assignment.starts_with(field)) {
                out.push_back(assignment);
            }
        }
    }
    return out;
}

} // namespace weft::ui
