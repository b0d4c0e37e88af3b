// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/plan/plan_job.h"

#include "core/base/error.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"

namespace weft::ui {

PlanJob::PlanJob(Planner::Plan plan, QObject* parent) : QObject(parent), plan_(std::move(plan)) {}

PlanJob::~PlanJob() {
    stop_.request_stop();
}

void PlanJob::stop() {
    stop_.request_stop();
    stop_ = std::stop_source();
    ++job_;
    planning_ = false;
    problem_.clear();
}

void PlanJob::start(const MeshRun& run) {
    struct Made {
        std::shared_ptr<const PlanDigest> digest;
        QString problem;
    };
    stop();
    planning_ = true;
    runInBackground(
        this,
        [plan = plan_, run, token = stop_.get_token()]() -> Made {
            try {
                return {token.stop_requested() ? nullptr
                                               : digestPlan(plan(run.config, run.hardware, token)),
                        {}};
            } catch (const Error& error) {
                return {nullptr, toQString(error.message())};
            }
        },
        [this, job = job_](Made made) {
            if (job == job_) {
                planning_ = false;
                digest_ = std::move(made.digest);
                problem_ = made.problem;
                emit changed();
            }
        });
    emit changed();
}

void PlanJob::take(std::shared_ptr<const PlanDigest> digest) {
    stop();
    digest_ = std::move(digest);
    emit changed();
}

void PlanJob::clear() {
    take(nullptr);
}

} // namespace weft::ui
