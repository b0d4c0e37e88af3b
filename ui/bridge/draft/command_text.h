// SPDX-License-Identifier: GPL-3.0-or-later
// The command line that does in a terminal what the studio would do.
#pragma once

#include "ui/bridge/draft/draft.h"

#include <QString>

namespace weft::ui {

/// "weft train run.json --set seed=4": the draft's file, and what of the draft is not saved in it.
/// The draft is valid and has a file.
QString trainCommand(const Draft& draft);

/// A word for a POSIX shell.
QString shellQuoted(const QString& word);

} // namespace weft::ui
