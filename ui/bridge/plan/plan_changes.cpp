// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/plan/plan_changes.h"

#include "core/compile/programs/programs.h"
#include "ui/bridge/convert.h"

#include <QObject>

namespace weft::ui {
namespace {

std::string assignment(const std::string& path, const config::Json& value) {
    return path + "=" + value.dump();
}

PlanChange change(const QString& group, const QString& value, const std::string& path,
                  const config::Json& json) {
    return {group + "." + value, group + " " + value, group, {assignment(path, json)}};
}

void addChoices(const compile::RunConfig& config, const QString& label, const std::string& key,
                std::vector<PlanChange>& changes) {
    const config::Field* field = config::find_field(compile::run_config_table(), "training." + key);
    const config::Json& now = config.section("training").at(key);
    for (const std::string& choice : field->choices) {
        if (now != config::Json(choice)) {
            changes.push_back(change(label, toQString(choice), "training." + key, choice));
        }
    }
}

} // namespace

std::vector<PlanChange> planChanges(const compile::RunConfig& config) {
    std::vector<PlanChange> changes;
    addChoices(config, "recompute", "recompute", changes);
    const compile::BatchPlan batch = compile::plan_batch(config);
    if (batch.micro_batch_size % 2 == 0) {
        const std::int64_t half = batch.micro_batch_size / 2;
        changes.push_back(
            change("micro batch", QString::number(half), "training.micro_batch_size", half));
    }
    if (batch.accumulation_steps % 2 == 0) {
        const std::int64_t twice = batch.micro_batch_size * 2;
        changes.push_back(
            change("micro batch", QString::number(twice), "training.micro_batch_size", twice));
    }
    addChoices(config, "precision", "precision", changes);
    changes.push_back(
        {"ema",
         config.ema_decay ? QObject::tr("no EMA of weights") : QObject::tr("EMA of weights"),
         "ema",
         {assignment("training.ema_decay",
                     config.ema_decay ? config::Json(nullptr) : config::Json(0.999))}});
    changes.push_back({"async",
                       config.checkpoint_async ? QObject::tr("wait for checkpoints")
                                               : QObject::tr("async checkpoints"),
                       "async",
                       {assignment("checkpoint.async", !config.checkpoint_async)}});
    return changes;
}

} // namespace weft::ui
