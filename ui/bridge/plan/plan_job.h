// SPDX-License-Identifier: GPL-3.0-or-later
// One plan, made in the background: of a run that stands beside the draft. The newest wins; work
// for an older one is stopped.
#pragma once

#include "ui/bridge/newest_job.h"
#include "ui/bridge/plan/mesh_search.h"

namespace weft::ui {

class PlanJob : public QObject {
    Q_OBJECT
public:
    explicit PlanJob(Planner::Plan plan, QObject* parent = nullptr);

    void start(const MeshRun& run);
    /// Takes over a plan that is known.
    void take(std::shared_ptr<const PlanDigest> digest);
    void clear();
    bool isPlanning() const { return job_.isRunning(); }
    /// Null while there is none, or it cannot be made.
    std::shared_ptr<const PlanDigest> digest() const { return digest_; }
    QString problem() const { return problem_; }

signals:
    void changed();

private:
    Planner::Plan plan_;
    NewestJob job_{this};
    std::shared_ptr<const PlanDigest> digest_;
    QString problem_;
};

} // namespace weft::ui
