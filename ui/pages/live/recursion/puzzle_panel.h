// SPDX-License-Identifier: GPL-3.0-or-later
// The puzzles of an evaluation to choose from, the same each time, and what rows of training do.
#pragma once

#include "ui/bridge/run/board_samples.h"

#include <QWidget>

namespace weft::widgets {
class EmptyState;
class PuzzleList;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class PuzzlePanel : public QWidget {
    Q_OBJECT
public:
    PuzzlePanel(RunModel& run, BoardSamples& samples, QWidget* parent = nullptr);

private:
    void updateRows();
    void updateFigures();

    RunModel& run_;
    BoardSamples& samples_;
    widgets::TextLabel* solved_;
    widgets::PuzzleList* list_;
    widgets::EmptyState* hint_;
    QWidget* area_;
    widgets::TextLabel* dropped_;
    widgets::TextLabel* halting_;
};

} // namespace weft::ui
