// SPDX-License-Identifier: GPL-3.0-or-later
// What each pass made of each program of a configuration, as text; and any part of a text as a
// graph. Made off the GUI thread; immutable.
#pragma once

#include "core/compile/config/run_config.h"
#include "core/cost/hardware.h"
#include "widgets/views/graph_layout.h"

#include <QString>
#include <QStringList>

#include <memory>
#include <stop_token>
#include <vector>

namespace weft::ui {

/// A program after one pass.
struct PassText {
    QString pass; // "as built" before the first
    double ms = 0;
    QStringList lines;
    std::vector<bool> fresh;   // per line: it is not in the text before
    int added = 0;             // lines that the text before does not have
    int removed = 0;           // lines that it had
    bool numbers_only = false; // the same but for the numbers of values
};

struct ProgramTrace {
    QString program;
    std::vector<PassText> passes;
};

/// Throws weft::Error; stops with weft::Error{runtime}. `hardware` null: this machine.
std::vector<ProgramTrace> traceProgram(const compile::RunConfig& config,
                                       const cost::Hardware* hardware, const std::stop_token& stop);

/// The layers that a text names, with those around them: "blocks", "blocks.0", "blocks.0.mlp", ...
QStringList layersOf(const QStringList& lines);
/// Whether a line's op was made by this layer or one inside it; empty: always.
bool isOfLayer(const QString& line, const QString& layer);

/// The ops of a layer with what flows between them; values from outside are dashed nodes. Throws
/// weft::Error when the text is no program.
widgets::Graph programGraph(const QString& text, const QString& layer);

} // namespace weft::ui
