// SPDX-License-Identifier: GPL-3.0-or-later
// How wide the columns of the table of runs are while nobody sized them by hand: as their texts
// need it, and narrower in turn where they would not fit into the table together.
#pragma once

#include "ui/models/run_table_model.h"

#include <vector>

namespace weft::ui {

struct ColumnNeed {
    int least = 0;   // to be told apart from others
    int wanted = 0;  // for what it holds now
    int claimed = 0; // of room that is left over
    bool says_nothing = false; // of any run: goes where not all columns fit
};

/// What a column of the model needs in the fonts of the theme.
ColumnNeed columnNeed(const RunTableModel& model, int column);

/// Widths that fill `room` if the needs allow it: wider in all only where the least do not fit.
std::vector<int> shareWidth(const std::vector<ColumnNeed>& needs, int room);

} // namespace weft::ui
