// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/draft/stage_edit.h"

#include "core/base/error.h"
#include "core/compile/mesh/mesh_config.h"
#include "core/compile/mesh/stage_config.h"
#include "core/stages/stage_map.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/draft/rule_edit.h"

#include <QObject>

#include <algorithm>
#include <map>

namespace weft::ui {
namespace {

constexpr const char* kLayers = "layers";

/// Walks forward steps in the order of the model and notes the layers they belong to.
class LayerCollector {
public:
    explicit LayerCollector(StageEdit& out) : out_(out) {}

    void beginPart() { out_.counts.push_back(0); }

    /// Steps of one action; empty: of a step without a pipeline.
    void visit(const std::vector<plan::Step>& steps, const std::string& action, double times) {
        for (const plan::Step& step : steps) {
            if (step.op.action != action || step.op.phase != ir::Phase::forward) {
                if (!step.is_loop() || !action.empty()) {
                    continue;
                }
            }
            if (step.is_loop()) {
                visit(step.steps, action, times * static_cast<double>(step.count));
            } else if (!step.op.path.empty()) {
                add(std::string(stages::layer_of_path(step.op.path)), step.flops * times);
            }
        }
    }

private:
    /// What has no number goes with the layer before it, what is before all with the first.
    void add(const std::string& path, double flops) {
        const auto found = index_.find(path);
        if (found != index_.end()) {
            out_.layers[found->second].flops += flops;
        } else if (path.find('.') != std::string::npos) {
            index_.emplace(path, out_.layers.size());
            out_.layers.push_back({path, flops + before_});
            ++out_.counts.back();
            before_ = 0;
        } else if (out_.layers.empty()) {
            before_ += flops;
        } else {
            out_.layers.back().flops += flops;
        }
    }

    StageEdit& out_;
    std::map<std::string, std::size_t> index_;
    double before_ = 0;
};

} // namespace

StageEdit stageEdit(const plan::ExecutionPlan& plan) {
    StageEdit out;
    LayerCollector collector(out);
    if (!plan.pipeline) {
        collector.beginPart();
        if (const plan::PlannedProgram* step = plan.find("train_step")) {
            collector.visit(step->steps, {}, 1);
        }
        return out;
    }
    out.stages = plan.pipeline->stages;
    const int chunks = plan.pipeline->chunks;
    for (int part = 0; part < out.stages * chunks; ++part) {
        collector.beginPart();
        const std::string chunk = chunks > 1 ? "." + std::to_string(part / out.stages) : "";
        if (const plan::PlannedProgram* step = plan.find("train_step", part % out.stages)) {
            collector.visit(step->steps, "F0" + chunk, 1); // one microbatch is as good as all
        }
    }
    return out;
}

std::string pipelineAxis(const compile::RunConfig& config) {
    const sharding::Placement placement = compile::placement_of(config.section("mesh"));
    const std::vector<int> axes = placement.axes_of(kLayers);
    return axes.empty() ? std::string()
                        : placement.mesh.axes[static_cast<std::size_t>(axes.front())].name;
}

bool hasOwnStages(const compile::RunConfig& config) {
    return !config.section("mesh").at("pipeline").at("stages").is_null();
}

std::string stagesAssignment(const std::optional<std::vector<int>>& counts) {
    return "mesh.pipeline.stages=" + (counts ? config::Json(*counts) : config::Json()).dump();
}

std::string scheduleAssignment(const std::string& schedule) {
    return "mesh.pipeline.schedule=" + config::Json(schedule).dump();
}

std::string scheduleFileAssignment(const std::string& file) {
    return "mesh.pipeline.file=" + (file.empty() ? config::Json() : config::Json(file)).dump();
}

QString pipelineProblem(const compile::RunConfig& config, const std::string& axis, int layers) {
    const sharding::Placement placement = compile::placement_of(config.section("mesh"));
    const int index = placement.mesh.find(axis);
    const QString name = toQString(axis);
    if (index < 0) {
        return QObject::tr("The mesh has no axis %1.").arg(name);
    }
    const std::int64_t size = placement.mesh.size(index);
    if (size == 1) {
        return QObject::tr("%1 has one device: that is one stage.").arg(name);
    }
    if (pipelineAxis(config) == axis) {
        return QObject::tr("The layers lie along %1 already.").arg(name);
    }
    return size > layers ? QObject::tr("%1 layers do not make %2 stages.").arg(layers).arg(size)
                         : QString();
}

std::vector<std::string> withPipelineAlong(const compile::RunConfig& config,
                                           const std::string& axis) {
    MeshEdit edit = MeshEdit::of(config);
    const auto splitsElse = [&](const sharding::Rule& rule) {
        return rule.logical != kLayers && std::ranges::count(rule.axes, axis) > 0;
    };
    if (std::ranges::any_of(effectiveRules(edit),
                            [&](const EffectiveRule& one) { return splitsElse(one.rule); })) {
        edit = asCustom(edit); // a strategy's rules stay what they are
        for (sharding::Rule& rule : edit.rules) {
            std::erase_if(rule.axes,
                          [&](const std::string& own) { return own == axis && splitsElse(rule); });
        }
    }
    return assignmentsOf(withRule(edit, {kLayers, {axis}}), config);
}

QString problemOf(const compile::RunConfig& config, const std::vector<std::string>& assignments) {
    const compile::CheckedRun checked =
        compile::read_run_config(config.document, config.base_dir, assignments);
    for (const config::Diagnostic& one : checked.diagnostics) {
        if (one.severity == config::Severity::error) {
            return toQString(one.message) +
                   (one.hint.empty() ? QString() : " " + toQString(one.hint));
        }
    }
    try {
        compile::stage_choice(checked.config); // reads the file of a schedule
    } catch (const Error& fault) {
        return toQString(fault.text()) +
               (fault.hint().empty() ? QString() : " " + toQString(fault.hint()));
    }
    return {};
}

} // namespace weft::ui
