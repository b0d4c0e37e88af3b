// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/plan/plan_job.h"

#include "core/base/error.h"
#include "ui/bridge/convert.h"

namespace weft::ui {

PlanJob::PlanJob(Planner::Plan plan, QObject* parent) : QObject(parent), plan_(std::move(plan)) {}

void PlanJob::start(const MeshRun& run) {
    struct Made {
        std::shared_ptr<const PlanDigest> digest;
        QString problem;
    };
    problem_.clear();
    job_.start(
        [plan = plan_, run](const std::stop_token& stop) -> Made {
            try {
                return {stop.stop_requested() ? nullptr
                                              : digestPlan(plan(run.config, run.hardware, stop)),
                        {}};
            } catch (const Error& error) {
                return {nullptr, toQString(error.message())};
            }
        },
        [this](Made made) {
            digest_ = std::move(made.digest);
            problem_ = made.problem;
            emit changed();
        });
    emit changed();
}

void PlanJob::take(std::shared_ptr<const PlanDigest> digest) {
    job_.drop();
    problem_.clear();
    digest_ = std::move(digest);
    emit changed();
}

void PlanJob::clear() {
    take(nullptr);
}

} // namespace weft::ui
