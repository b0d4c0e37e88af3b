// SPDX-License-Identifier: GPL-3.0-or-later
// Weights of another program: what is in a file or folder of them, and what becomes of it in the
// model of a draft.
#pragma once

#include "core/compile/config/run_config.h"

#include <QString>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <vector>

namespace weft::ui {

/// One array, of the file, of the model or of both.
struct WeightsRow {
    /// In the order in which they matter to who starts from them.
    enum class Fate { Missing, Mismatched, Unexpected, Transposed, Joined, Taken, Unmatched };
    Fate fate = Fate::Unmatched; // there is no model to match with
    QString there;               // its name there; empty: missing
    QString type_there;          // "F32[768,3072]"
    QString here;                // its name in the model; empty: unexpected
    QString type_here;
};

struct WeightsMatch {
    QString problem;                  // why the weights cannot be read; the rest is then empty
    std::vector<WeightsRow> rows;     // what matters first
    std::int64_t arrays = 0;          // of the file
    std::int64_t bytes = 0;           // of their elements
    bool matched = false;             // with a draft's model
    QString names;                    // whose names they are: "Weft", "GPT-2 of transformers"
    std::vector<QString> differences; // settings that make other numbers of them
    QString refusal;                  // why a run must not start with them as it is set
    /// Rows of one fate.
    int count(WeightsRow::Fate fate) const;
};

/// "missing", "transposed", ...; empty where nothing was matched.
QString fateText(WeightsRow::Fate fate);

/// Reads names and shapes, and where there is a draft its data's shape. Never throws. For a thread
/// that may wait.
WeightsMatch matchWeights(const std::filesystem::path& weights,
                          const std::optional<compile::RunConfig>& draft,
                          const std::stop_token& stop);

} // namespace weft::ui
