// SPDX-License-Identifier: GPL-3.0-or-later
// The search for better meshes, when it is asked for: in the background, with how far it is, until
// it ends or is cancelled. What it found stays until the next search, and knows of which run it is.
#pragma once

#include "ui/bridge/newest_job.h"
#include "ui/bridge/plan/plan_preview.h"

#include <atomic>

namespace weft::ui {

/// A run on a mesh, and what it is planned for; `hardware` null: what it names, or this machine.
struct MeshRun {
    compile::RunConfig config;
    const cost::Hardware* hardware = nullptr;
};

/// Whether what was found for one run is true of another: they differ at most in what the search
/// tries, which is mesh axes, strategy, ZeRO stage, schedule, recompute and micro batch.
bool sameSearch(const MeshRun& a, const MeshRun& b);

/// A mesh that was found.
struct MeshWay {
    plan::Alternative way;
    std::string mesh;             // "data=8 x pipeline=2 x model=8"
    std::optional<double> bubble; // of a pipeline of even stages, 0 to 1
};

class MeshSearch : public QObject {
    Q_OBJECT
public:
    explicit MeshSearch(Planner::Meshes meshes, QObject* parent = nullptr);

    /// Searches anew; what was found before is forgotten when this ends. `plan` is of the run.
    void start(const MeshRun& run, std::shared_ptr<const plan::ExecutionPlan> plan);
    /// What was found before stays.
    void cancel();
    bool isSearching() const { return job_.isRunning(); }
    /// Made by the search that is going on.
    int plansMade() const { return planned_->load(); }

    /// Something was found, or nothing is to be found: the results are of run().
    bool isDone() const { return done_; }
    const MeshRun& run() const { return run_; }
    const std::vector<MeshWay>& ways() const { return ways_; } // fastest first
    const plan::Rejections& others() const { return others_; }
    int candidates() const { return candidates_; }
    /// Why the last search failed; empty when it did not.
    QString problem() const { return problem_; }
    QString hint() const { return hint_; }

signals:
    void changed();

private:
    struct Found {
        std::vector<MeshWay> ways;
        plan::Rejections others;
        int candidates = 0;
        QString problem, hint;
    };

    static Found search(const Planner::Meshes& meshes, const MeshRun& run,
                        const plan::ExecutionPlan& plan, const std::stop_token& stop,
                        std::atomic<int>& planned);

    Planner::Meshes meshes_;
    std::shared_ptr<std::atomic<int>> planned_ = std::make_shared<std::atomic<int>>(0);
    NewestJob job_{this};
    bool done_ = false;
    MeshRun run_;
    std::vector<MeshWay> ways_;
    plan::Rejections others_;
    int candidates_ = 0;
    QString problem_, hint_;
};

} // namespace weft::ui
