// SPDX-License-Identifier: Apache-2.0
// A run's value by name: a fact ("state"), a setting ("optimizer.learning_rate") or a metric at its
// best or last ("validation/loss:best"); and tables of such columns as CSV.
#pragma once

#include "core/train/record/run_names.h"

#include <string>
#include <string_view>
#include <vector>

namespace weft::compare {

struct RunColumn {
    enum class Kind : std::uint8_t { fact, setting, metric };
    Kind kind = Kind::fact;
    std::string name;
    bool best = false; // metric: where it was best; else its last value

    /// As find_column takes it.
    std::string text() const;
    friend bool operator==(const RunColumn&, const RunColumn&) = default;
};

/// What a column may be called besides settings and metrics.
const std::vector<std::string>& fact_names();

/// The column of this name. Settings and metrics may be cut short in front, as in a filter. Throws
/// weft::Error{usage} that says what there is.
RunColumn find_column(std::string_view text, const train::RunNames& names);

/// Null where the run has no such value; texts are strings, times seconds of the UTC epoch.
config::Json value_of(const train::RunSummary& run, const RunColumn& column);
/// NaN where it has none or it is no number.
double number_of(const train::RunSummary& run, const RunColumn& column);

/// Comma-separated (RFC 4180), with a line of names; numbers as exactly as they are, in the C
/// locale.
std::string to_csv(const std::vector<const train::RunSummary*>& runs,
                   const std::vector<RunColumn>& columns);
/// A cell of it.
std::string csv_cell(std::string_view text);

} // namespace weft::compare
