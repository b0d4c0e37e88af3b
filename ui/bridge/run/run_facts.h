// SPDX-License-Identifier: GPL-3.0-or-later
// What lists and tables say about a run on disk, in one way everywhere.
#pragma once

#include "core/train/record/run_summary.h"
#include "widgets/curves/sparkline.h"
#include "widgets/look/theme.h"

#include <QString>

#include <optional>
#include <span>
#include <vector>

namespace weft::ui {

/// "fashion-mlp_001"; of other programs the path below the folder that was opened.
QString nameOf(const train::RunSummary& run);
/// "TensorBoard event files"; empty for runs of Weft.
QString sourceName(train::RunSource source);

struct StateLook {
    QString text;
    widgets::Role role;
};
StateLook stateLook(const std::string& state);
widgets::SparklineData sparklineOf(const train::RunSummary& run);
/// How the run that is compared at `position` is drawn, wherever it is.
struct ComparedLine {
    int slot;
    Qt::PenStyle dash;
};
ComparedLine comparedLine(std::size_t position);
/// A process writes it now.
bool isBeingWritten(const train::RunSummary& run);

/// A setting in which runs differ.
struct VaryingSetting {
    QString path;                // "optimizer.learning_rate"
    std::vector<QString> values; // of each run; empty: it has none
    /// The same where every value that there is is a number.
    std::vector<std::optional<double>> numbers;
    bool isNumeric() const { return !numbers.empty(); }
};
/// In the order of the configuration; name, notes and tags are not settings.
std::vector<VaryingSetting> varyingSettings(std::span<const train::RunSummary* const> runs);
std::vector<VaryingSetting> varyingSettings(std::span<const config::Json* const> configs);

} // namespace weft::ui
