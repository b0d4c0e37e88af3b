// SPDX-License-Identifier: GPL-3.0-or-later
// One puzzle of the validation set filled cycle by cycle, as at an evaluation: some moments beside
// each other, the chosen one large; after how many steps the model stops, and how many of all
// puzzles are solved after each.
#pragma once

#include "ui/bridge/run/board_samples.h"

#include <QTimer>
#include <QWidget>

class QPushButton;
class QStackedWidget;

namespace weft::widgets {
class BoardStrip;
class BoardView;
class CycleSlider;
class EmptyState;
class HaltingChart;
class SectionHeader;
class ShareCurves;
class StepDots;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class RecursionPanel : public QWidget {
    Q_OBJECT
public:
    explicit RecursionPanel(BoardSamples& samples, QWidget* parent = nullptr);

private:
    QWidget* createHeader();
    QWidget* createBoardSide();
    QWidget* createCharts();
    void updateSteps();
    void updateShown();
    void updateBoard();
    void updateMoments();
    void showCycle(int cycle);
    void play();
    void tick();
    const SaidBoard* board() const;

    BoardSamples& samples_;
    QTimer timer_; // between two cycles that are played
    QStackedWidget* pages_;
    widgets::EmptyState* hint_;
    widgets::TextLabel* puzzle_;
    widgets::TextLabel* givens_;
    widgets::TextLabel* weights_;
    widgets::StepDots* evaluations_;
    QPushButton* play_;
    widgets::BoardStrip* strip_;
    widgets::CycleSlider* slider_;
    widgets::TextLabel* moment_;
    widgets::TextLabel* state_;
    widgets::BoardView* view_;
    widgets::TextLabel* cell_;
    widgets::SectionHeader* halting_title_;
    widgets::HaltingChart* halting_;
    widgets::SectionHeader* curve_title_;
    widgets::ShareCurves* curves_;
    std::vector<int> moments_; // cycles of the strip
};

} // namespace weft::ui
