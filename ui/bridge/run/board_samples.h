// SPDX-License-Identifier: GPL-3.0-or-later
// The boards that the model of the run on screen filled at its evaluations: the one that is looked
// at, and how many were right at some before it. Read in the background.
#pragma once

#include "ui/bridge/run/run_model.h"
#include "ui/bridge/run/sample_file.h"

#include <QObject>

#include <memory>

namespace weft::ui {

class BoardSamples : public QObject {
    Q_OBJECT
public:
    explicit BoardSamples(RunModel& run, QObject* parent = nullptr);

    /// Whether the model of the run works step by step: there are boards, or will be.
    bool expected() const;
    /// Steps of the evaluations that kept samples.
    std::vector<qint64> steps() const;
    /// The evaluation to look at, by its place among steps().
    void choose(int evaluation);
    /// Null before it is read, and where it cannot be.
    const SaidBoards* shown() const { return shown_.get(); }
    /// Some evaluations before the one shown, in ascending order, without their boards.
    const std::vector<SaidBoards>& earlier() const { return earlier_; }

    /// The board that is looked at, by its place; 0 to begin with.
    int board() const { return board_; }
    void chooseBoard(int board);

signals:
    void stepsChanged();
    /// Another evaluation, or none.
    void shownChanged();
    void boardChanged();

private:
    void read();

    RunModel& run_;
    int evaluation_ = -1;
    int board_ = 0;
    std::vector<std::filesystem::path> wanted_; // that are being read or shown
    std::shared_ptr<const SaidBoards> shown_;
    std::vector<SaidBoards> earlier_;
};

} // namespace weft::ui
