// SPDX-License-Identifier: Apache-2.0
// The settings in which runs differ.
#pragma once

#include "core/config/field.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft::compare {

struct VaryingSetting {
    std::string path; // "optimizer.learning_rate"
    /// Of each run; none: it has no such field; null: it leaves it to its default.
    std::vector<std::optional<config::Json>> values;
    bool numeric = false; // every value that there is is a number

    /// NaN where a run has none or it is no number.
    std::vector<double> numbers() const;
    /// Empty where a run has none.
    std::vector<std::string> texts() const;
};

/// A value as a table shows it: a text without quotes.
std::string value_text(const config::Json& value);

/// In the order of the configurations. Fields that were not there when a run began have their
/// defaults; lists are values as a whole; name, notes and tags are no settings.
std::vector<VaryingSetting> varying_settings(std::span<const config::Json* const> configs);

} // namespace weft::compare
