// SPDX-License-Identifier: Apache-2.0
#include "core/advise/finding_fixes.h"

#include "core/base/text.h"
#include "core/compile/mesh/mesh_config.h"
#include "core/compile/programs/programs.h"
#include "core/ir/text.h"
#include "core/plan/op_table.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace weft::advise {
namespace {

using config::Json;
using sharding::Finding;
using sharding::FindingFix;

/// "optimizer.m/NAME" lies as NAME does.
std::string owner_of(const std::string& array) {
    return array.substr(array.find('/') + 1);
}

std::string along(int dim, int rank) {
    return rank == 1  ? ""
           : rank > 2 ? " along dimension " + std::to_string(dim)
           : dim == 0 ? " along its rows"
                      : " along its columns";
}

class Fixer {
public:
    Fixer(const compile::RunConfig& config, const plan::ExecutionPlan& plan, const Finding& finding)
        : config_(config), mesh_(config.section("mesh")), finding_(finding),
          placement_(compile::placement_of(mesh_)), slot_(plan.find_slot(owner_of(finding.array))) {
    }

    std::vector<FindingFix> run() {
        if (finding_.pointer == "/training/global_batch_size") {
            batch();
        } else if (slot_ != nullptr && finding_.dim >= 0 &&
                   finding_.pointer != "/mesh/zero_stage") {
            if (finding_.pointer == "/mesh/rules") {
                other_axis_size();
            }
            other_dimension();
            whole();
        }
        return std::move(out_);
    }

private:
    void add(std::string change, std::vector<std::string> overrides) {
        out_.push_back({std::move(change), std::move(overrides)});
    }

    /// The nearest batches whose samples divide over the devices, in as many microsteps.
    void batch() {
        const compile::BatchPlan now = compile::plan_batch(config_);
        const std::int64_t unit = finding_.devices * now.accumulation_steps;
        const std::int64_t below = now.global_batch_size / unit * unit;
        for (const std::int64_t size : {below + unit, below}) {
            if (finding_.dim == 1 && size > 0 && size != now.global_batch_size) {
                add("a batch of " + format_thousands(size) + " instead of " +
                        format_thousands(now.global_batch_size),
                    {"training.global_batch_size=" + std::to_string(size)});
            }
        }
    }

    /// Fewer devices along the axis, so many that the units divide; the samples get the rest.
    void other_axis_size() {
        const std::vector<int> ranks = placement_.axes_of("batch");
        const int axis = placement_.mesh.find(finding_.axes.front());
        if (finding_.axes.size() != 1 || finding_.units == 0 || ranks.empty() ||
            ranks.front() == axis) {
            return;
        }
        const std::int64_t size = placement_.mesh.size(axis);
        const std::int64_t fitting = std::gcd(finding_.units, size);
        const std::int64_t all_ranks = placement_.mesh.size(ranks) * (size / fitting);
        if (fitting <= 1 || fitting == size || config_.global_batch_size % all_ranks != 0) {
            return;
        }
        std::vector<sharding::Axis> axes = placement_.mesh.axes;
        axes[static_cast<std::size_t>(axis)].size = fitting;
        axes[static_cast<std::size_t>(ranks.front())].size *= size / fitting;
        Json list = Json::array();
        std::string text;
        for (const sharding::Axis& one : axes) {
            list.push_back(Json::array({one.name, one.size}));
            text += (text.empty() ? "" : " x ") + one.name + "=" + std::to_string(one.size);
        }
        add("a mesh of " + text, {"mesh.axes=" + list.dump(), "training.micro_batch_size=null"});
    }

    /// The axes that rules or spec give to a dimension.
    ir::Spec asked() const {
        const std::size_t rank = static_cast<std::size_t>(slot_->whole.shape.rank());
        ir::Spec out;
        for (const auto& [pattern, spec] : placement_.specs) {
            if (glob_match(pattern, slot_->name)) {
                out = spec;
                out.dims.resize(rank);
                return out;
            }
        }
        out.dims.resize(rank);
        for (std::size_t dim = 0; dim < std::min(rank, slot_->logical_axes.size()); ++dim) {
            const auto logical = sharding::parse_logical_axis(slot_->logical_axes[dim]);
            for (const int axis : placement_.axes_of(logical.name)) {
                const std::string& name = placement_.mesh.axes[static_cast<std::size_t>(axis)].name;
                const bool taken = std::any_of(
                    out.dims.begin(), out.dims.end(), [&](const std::vector<std::string>& names) {
                        return std::find(names.begin(), names.end(), name) != names.end();
                    });
                if (!taken) {
                    out.dims[dim].push_back(name);
                }
            }
        }
        return out;
    }

    /// mesh.specs with one more, before all others.
    std::string specs_with(const ir::Spec& spec) const {
        const std::string pattern = plan::any_layer(slot_->name);
        Json specs = Json::object();
        specs[pattern] = ir::to_text(spec);
        for (const auto& [other, text] : mesh_.at("specs").items()) {
            if (other != pattern) {
                specs[other] = text;
            }
        }
        return "mesh.specs=" + specs.dump();
    }

    /// Along a dimension that divides, where nothing splits it yet.
    void other_dimension() {
        ir::Spec spec = asked();
        const auto from = static_cast<std::size_t>(finding_.dim);
        for (int dim = 0; dim < slot_->whole.shape.rank(); ++dim) {
            const auto to = static_cast<std::size_t>(dim);
            if (dim != finding_.dim && spec.dims[to].empty() &&
                slot_->whole.shape[dim] % finding_.devices == 0) {
                spec.dims[from].clear();
                spec.dims[to] = finding_.axes;
                add("split " + plan::any_layer(slot_->name) +
                        along(dim, slot_->whole.shape.rank()) + " instead",
                    {specs_with(spec)});
                return;
            }
        }
    }

    void whole() {
        ir::Spec spec = asked();
        spec.dims[static_cast<std::size_t>(finding_.dim)].clear();
        add((finding_.kind == Finding::Kind::uneven ? "keep " : "ask for ") +
                plan::any_layer(slot_->name) + " whole" +
                along(finding_.dim, slot_->whole.shape.rank()),
            {specs_with(spec)});
    }

    const compile::RunConfig& config_;
    const Json& mesh_;
    const Finding& finding_;
    const sharding::Placement placement_;
    const plan::StateSlot* slot_;
    std::vector<FindingFix> out_;
};

} // namespace

std::vector<FindingFix> finding_fixes(const compile::RunConfig& config,
                                      const plan::ExecutionPlan& plan, const Finding& finding) {
    return Fixer(config, plan, finding).run();
}

void add_finding_fixes(const compile::RunConfig& config, plan::ExecutionPlan& plan) {
    // Layers are alike, and what belongs to a parameter is fixed with it.
    std::map<std::tuple<std::string, std::string, int, std::int64_t>, std::vector<FindingFix>>
        known;
    for (Finding& finding : plan.findings) {
        const auto [found, is_new] =
            known.try_emplace({plan::any_layer(owner_of(finding.array)), finding.pointer,
                               finding.dim, finding.units});
        if (is_new) {
            found->second = finding_fixes(config, plan, finding);
        }
        finding.fixes = found->second;
    }
}

} // namespace weft::advise
