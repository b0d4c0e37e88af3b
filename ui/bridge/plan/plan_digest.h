// SPDX-License-Identifier: GPL-3.0-or-later
// A plan in the shape in which the studio shows it: one row per op of the training step, bytes
// alive over the ops, tensors with their lifetimes. Made off the GUI thread; immutable, and it
// keeps its plan.
#pragma once

#include "core/pipeline/schedule.h"
#include "core/plan/plan.h"
#include "widgets/look/number_style.h"
#include "widgets/mesh/device_set.h"
#include "widgets/views/memory_timeline.h"

#include <QString>

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

namespace weft::ui {

/// One step of the program; figures are over all its executions in one call.
struct PlanOp {
    QString kind; // "matmul", "fused add, gelu", "repeat"
    QString path;
    QString phase;
    QString action; // of a pipeline's schedule: "F3"; else empty
    QString kernel; // empty when none was chosen
    std::int64_t times = 1;
    bool is_loop = false; // its figures are those of its body
    double flops = 0;
    double bytes = 0;
    double ms = 0;    // 0 without a prediction
    double share = 0; // of the step's time; without a prediction, of its FLOPs
};

/// Something that takes memory while ops `first` to `last` run.
struct PlanTensor {
    QString name;
    widgets::MemoryCategory category = widgets::MemoryCategory::Activations;
    std::int64_t bytes = 0;
    int first = 0;
    int last = 0;
    bool whole_step = false; // state, and what the host keeps: alive before and after too
};

struct CollectiveRows;
class StepMoments;

struct PlanDigest {
    std::shared_ptr<const plan::ExecutionPlan> plan;
    int stage = 0;           // of a pipeline, whose step this is: the one that needs most memory
    std::vector<PlanOp> ops; // index = linear position in the program
    std::vector<PlanTensor> tensors;
    widgets::TimelineData timeline;
    std::vector<qint64> totals;  // bytes alive per op
    int peak = -1;               // op with most bytes alive; -1 in a plan without a training step
    std::int64_t peak_bytes = 0; // what the memory must hold: ExecutionPlan::memory_bytes
    bool timed = false;          // shares are of predicted time
    std::shared_ptr<const pipeline::Schedule> schedule; // of a pipeline; else null
    std::shared_ptr<const CollectiveRows> collectives;  // of the training step
    std::shared_ptr<const widgets::DeviceSet> devices; // null on one, and before there are programs
    std::shared_ptr<const void> step; // the same in digests that show the same training step
    /// Of this digest, which they refer to.
    std::shared_ptr<const StepMoments> moments;

    /// Indices of the tensors alive at an op, largest first.
    std::vector<int> aliveAt(int op) const;
};

/// Of the program "train_step", or of the largest when there is none. `step`: a digest of a plan
/// that this one completes. A digest is taken apart off the GUI thread, with the plan.
std::shared_ptr<const PlanDigest> digestPlan(std::shared_ptr<const plan::ExecutionPlan> plan,
                                             const PlanDigest* step = nullptr);
/// Whether there is nothing else to see of the training step.
bool sameStep(const std::shared_ptr<const PlanDigest>& a,
              const std::shared_ptr<const PlanDigest>& b);

/// Writes the document of `weft plan --json`. Returns what went wrong; empty: nothing. Off the GUI
/// thread.
QString writePlan(const plan::ExecutionPlan& plan, const std::filesystem::path& file);

/// "matmul blocks.3.mlp.up, backward"
QString opTitle(const PlanOp& op);
/// "232.0 G", "1.18 T": FLOPs, short.
QString formatFlops(double flops);
/// "0.382", "21.8", "1,204": milliseconds.
QString formatMilliseconds(double ms);
/// Of a column of them: to the microsecond where they are short.
widgets::NumberStyle millisecondStyle(std::vector<double> ms);
/// "+5.1", "−0.4" by `text` of the size: a difference with its sign.
QString withSign(double value, const QString& text);
/// The layer with its numbers replaced, for rows that stand for many: "blocks.*.mlp.up".
QString withoutNumbers(const QString& path);
/// Without the layers' own prefix and the name of what everybody knows to be a weight:
/// "mlp.down is split over its rows" of "blocks.*.mlp.down.weight is split over its rows".
QString withoutPrefix(const QString& text);

} // namespace weft::ui
