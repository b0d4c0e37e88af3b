// SPDX-License-Identifier: GPL-3.0-or-later
// Sets of data that are there without anybody bringing one: made on the fly, or installed.
#pragma once

#include "core/config/field.h"

#include <QString>

#include <vector>

namespace weft::ui {

struct BuiltIn {
    QString title;
    QString name;        // of the run, and for tests
    config::Json source; // "train" of the "data" section
};

/// Those that this machine has, the most telling first. Looks at names of files only.
std::vector<BuiltIn> builtInSets();

} // namespace weft::ui
