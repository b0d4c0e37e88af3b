// SPDX-License-Identifier: GPL-3.0-or-later
// Two planned meshes side by side: A, what is, and B, what could be. Pure; off the GUI thread or on
// it.
#pragma once

#include "ui/bridge/plan/plan_digest.h"
#include "widgets/views/memory_bar.h"

#include <QString>

#include <optional>
#include <vector>

namespace weft::ui {

/// Which of the two is better: it takes less.
enum class Better { Neither, A, B };

/// One figure of both.
struct ComparedFigure {
    QString group; // rows of one group stand together: "memory", "all-reduce"
    QString name;
    QString a, b;
    QString difference; // B less A, with its sign; empty: they are equal or not comparable
    Better better = Better::Neither;
};

/// A tensor that a device holds otherwise.
struct ComparedTensor {
    QString name; // layers with one difference together: "blocks.*.mlp.up.weight"
    int count = 1;
    QString a_spec, b_spec; // with the stages of a pipeline where those differ
    qint64 a_bytes = 0;     // of a device, of one of them
    qint64 b_bytes = 0;
};

/// One side as its bar and its limit.
struct ComparedSide {
    std::vector<widgets::MemorySegment> segments; // of the device that needs most
    std::optional<qint64> limit;                  // of one device
};

struct PlanComparison {
    ComparedSide a, b;
    std::vector<ComparedFigure> figures;
    std::vector<ComparedTensor> tensors; // those that differ, the largest difference first
    int equal_tensors = 0;
};

PlanComparison comparePlans(const PlanDigest& a, const PlanDigest& b,
                            sharding::SpecDialect dialect);

/// "B is faster by 12 % and needs 1.2 GiB less." Empty when nothing differs that counts.
QString verdictOn(const PlanDigest& a, const PlanDigest& b);

} // namespace weft::ui
