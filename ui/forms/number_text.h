// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers as people type them, whatever their language: with a decimal point or comma, with groups
// of thousands, with "KiB" for bytes. What could mean two numbers is refused with a reason: a
// number never becomes another one silently. Shown they are as in the file: decimal point, no
// groups.
#pragma once

#include "core/config/field.h"

#include <QString>

#include <optional>

namespace weft::ui {

struct TypedNumber {
    std::optional<config::Json> value; // an integer where there is no fraction, else a real
    QString problem;                   // why there is none
};

/// "0,001", "1e-3", "12,500,000", "8 GiB" (where the field counts bytes).
TypedNumber readNumber(const QString& typed, const config::Field& field);

/// "3e-4", "0.95", "512".
QString numberText(const config::Json& value);

/// The value of any setting in a few words, for lists of what differs: "500 steps",
/// "data=4 × model=2", "adamw"; "0.9, 0.999"; "–" for null.
QString settingText(const config::Json& value);

/// A learning rate to three places, as axes write it: "1e-3", "2.77e-3", "0.05".
QString rateText(double rate);

/// The number one step up (+1) or down (-1) of this one: integers by one, reals by one in their
/// first digit. Kept within the field's limits.
config::Json steppedNumber(const config::Json& value, const config::Field& field, int steps);

} // namespace weft::ui
