// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/plan/mesh_search.h"

#include "core/base/error.h"
#include "core/compile/mesh/mesh_config.h"
#include "core/compile/mesh/stage_config.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/plan/pipeline_chart.h"

namespace weft::ui {
namespace {

config::Json fixedPart(const compile::RunConfig& config) {
    config::Json out = config.document;
    for (const char* key : {"axes", "strategy", "zero_stage"}) {
        out["mesh"].erase(key);
    }
    out["mesh"]["pipeline"].erase("schedule");
    for (const char* key : {"recompute", "micro_batch_size"}) {
        out["training"].erase(key);
    }
    return out;
}

/// As a title, without what can be done.
QString errorSentence(const Error& error) {
    QString text = toQString(error.text());
    if (!error.where().empty()) {
        return toQString(error.where()) + QStringLiteral(": ") + text;
    }
    return text.left(1).toUpper() + text.mid(1);
}

MeshWay wayOf(const compile::RunConfig& config, plan::Alternative alternative) {
    MeshWay out;
    if (const auto changed = compile::with_overrides(config, alternative.overrides)) {
        out.mesh = compile::placement_of(changed->section("mesh")).mesh.to_text();
        if (const auto stages = compile::stage_choice(*changed)) {
            out.bubble = evenChart(stages->schedule, EvenCost{}).bubbles;
        }
    }
    out.way = std::move(alternative);
    return out;
}

} // namespace

bool sameSearch(const MeshRun& a, const MeshRun& b) {
    return a.hardware == b.hardware && fixedPart(a.config) == fixedPart(b.config);
}

MeshSearch::MeshSearch(Planner::Meshes meshes, QObject* parent)
    : QObject(parent), meshes_(std::move(meshes)) {}

MeshSearch::Found MeshSearch::search(const Planner::Meshes& meshes, const MeshRun& run,
                                     const plan::ExecutionPlan& plan, const std::stop_token& stop,
                                     std::atomic<int>& planned) {
    Found out;
    try {
        advise::MeshAdvice advice =
            meshes(run.config, run.hardware, plan, stop, [&] { planned.fetch_add(1); });
        for (plan::Alternative& one : advice.ways) {
            out.ways.push_back(wayOf(run.config, std::move(one)));
        }
        out.others = std::move(advice.others);
        out.candidates = advice.candidates;
    } catch (const Error& error) {
        out.problem = errorSentence(error);
        out.hint = toQString(error.hint()).remove('`');
    }
    return out;
}

void MeshSearch::start(const MeshRun& run, std::shared_ptr<const plan::ExecutionPlan> plan) {
    planned_ = std::make_shared<std::atomic<int>>(0);
    job_.start(
        [meshes = meshes_, run, plan = std::move(plan), planned = planned_](
            const std::stop_token& stop) { return search(meshes, run, *plan, stop, *planned); },
        [this, run](Found found) {
            problem_ = found.problem;
            hint_ = found.hint;
            if (problem_.isEmpty()) {
                done_ = true;
                run_ = run;
                ways_ = std::move(found.ways);
                others_ = std::move(found.others);
                candidates_ = found.candidates;
            }
            emit changed();
        });
    emit changed();
}

void MeshSearch::cancel() {
    if (isSearching()) {
        job_.drop();
        emit changed();
    }
}

} // namespace weft::ui
