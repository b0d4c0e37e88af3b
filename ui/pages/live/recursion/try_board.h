// SPDX-License-Identifier: GPL-3.0-or-later
// A board of one's own: typed cell by cell or pasted, judged by the rules as it grows, filled by
// the model and looked at cycle by cycle.
#pragma once

#include "core/data/puzzles/judge_board.h"
#include "ui/bridge/newest_job.h"
#include "ui/bridge/run/sample_file.h"
#include "ui/bridge/run/trial_host.h"

#include <QWidget>

#include <memory>

class QPushButton;

namespace weft::widgets {
class BoardView;
class CycleSlider;
class ProbabilityBars;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class TryBoard : public QWidget {
    Q_OBJECT
public:
    explicit TryBoard(QWidget* parent = nullptr);

    /// What a board is; an empty one is shown.
    void setForm(const data::BoardForm& form);
    /// What the model made of the board that was wanted; null: nothing.
    void showSolved(std::shared_ptr<const SolvedBoard> solved);
    /// Why nothing can be solved; empty: it can.
    void setBlocked(const QString& reason);
    /// The board as text.
    const QString& given() const { return given_; }

signals:
    void wanted(const QString& board);

private:
    void edit(int cell, QChar symbol);
    void take(const QString& text);
    void paste();
    void setGiven(const QString& given);
    void judge();
    void showJudgement(const data::BoardJudgement& judged);
    void oneCycle();
    void refresh();
    void updateCell();

    data::BoardForm form_;
    BoardLook look_;
    QString given_;
    QString blocked_;
    data::BoardJudgement judged_;
    std::shared_ptr<const SolvedBoard> solved_;
    bool one_cycle_ = false; // the answer is shown from its first cycle on
    widgets::BoardView* view_;
    widgets::TextLabel* facts_;
    widgets::TextLabel* rules_;
    QPushButton* solve_;
    QPushButton* step_;
    widgets::CycleSlider* slider_;
    widgets::TextLabel* said_;
    widgets::ProbabilityBars* bars_;
    NewestJob job_;
};

} // namespace weft::ui
