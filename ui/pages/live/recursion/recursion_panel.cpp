// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/recursion/recursion_panel.h"

#include "ui/bridge/convert.h"
#include "ui/pages/live/recursion/board_parts.h"
#include "widgets/boards/board_strip.h"
#include "widgets/boards/board_view.h"
#include "widgets/boards/cycle_slider.h"
#include "widgets/boards/halting_chart.h"
#include "widgets/boards/share_curves.h"
#include "widgets/controls/card.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"
#include "widgets/views/step_dots.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr int kPlayMs = 350; // a cycle
constexpr int kMostMoments = 8;

using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

QString wrongWords(int wrong) {
    return wrong == 0 ? QObject::tr("solved") : QObject::tr("%n wrong", "cells of a board", wrong);
}

QString changedWords(const widgets::Board& board, int cycle) {
    const int changed = board.changedCells();
    return cycle == 0     ? QObject::tr("first guess")
           : changed == 0 ? QObject::tr("nothing changed")
                          : QObject::tr("%n changed", "cells of a board", changed);
}

} // namespace

RecursionPanel::RecursionPanel(BoardSamples& samples, QWidget* parent)
    : QWidget(parent), samples_(samples) {
    auto* whole = new QVBoxLayout(this);
    whole->setContentsMargins(0, 0, 0, 0);
    pages_ = new QStackedWidget;
    hint_ = new widgets::EmptyState;
    pages_->addWidget(hint_);
    auto* content = new QWidget;
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(12, 8, 12, 8);
    column->setSpacing(8);
    column->addWidget(createHeader());
    strip_ = new widgets::BoardStrip;
    strip_->setObjectName("boardStrip");
    column->addWidget(strip_);
    slider_ = new widgets::CycleSlider;
    slider_->setObjectName("cycleSlider");
    column->addWidget(slider_);
    column->addWidget(new widgets::Hairline);
    auto* lower = new QHBoxLayout;
    lower->setSpacing(widgets::space::kMargin);
    lower->addWidget(createBoardSide(), 0, Qt::AlignTop);
    lower->addWidget(createCharts(), 1);
    column->addLayout(lower, 1);
    pages_->addWidget(content);
    whole->addWidget(pages_);
    timer_.setInterval(kPlayMs);
    connect(&timer_, &QTimer::timeout, this, &RecursionPanel::tick);
    connect(&samples_, &BoardSamples::stepsChanged, this, &RecursionPanel::updateSteps);
    connect(&samples_, &BoardSamples::shownChanged, this, &RecursionPanel::updateShown);
    connect(&samples_, &BoardSamples::boardChanged, this, &RecursionPanel::updateBoard);
    connect(evaluations_, &widgets::StepDots::chosenChanged, &samples_, &BoardSamples::choose);
    connect(slider_, &widgets::CycleSlider::chosenChanged, this, &RecursionPanel::showCycle);
    connect(strip_, &widgets::BoardStrip::capacityChanged, this, [this] {
        updateMoments();
        showCycle(slider_->chosen());
    });
    connect(strip_, &widgets::BoardStrip::itemActivated, this,
            [this](int index) { slider_->setChosen(moments_[static_cast<std::size_t>(index)]); });
    updateSteps();
    updateShown();
}

QWidget* RecursionPanel::createHeader() {
    auto* header = new QWidget;
    auto* line = new QHBoxLayout(header);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(8);
    puzzle_ = new TextLabel({}, TextStyle::Strong);
    puzzle_->setObjectName("recursionPuzzle");
    line->addWidget(puzzle_);
    givens_ = new TextLabel({}, TextStyle::Caption, Role::Muted);
    line->addWidget(givens_);
    play_ = new QPushButton(tr("Play"));
    play_->setObjectName("playCycles");
    play_->setIcon(widgets::icon("play"));
    widgets::setCompact(play_);
    connect(play_, &QPushButton::clicked, this, &RecursionPanel::play);
    line->addWidget(play_);
    line->addStretch(1);
    weights_ = new TextLabel({}, TextStyle::Caption, Role::Muted);
    weights_->setObjectName("recursionWeights");
    line->addWidget(weights_);
    evaluations_ = new widgets::StepDots;
    evaluations_->setObjectName("recursionStep");
    evaluations_->setAccessibleName(tr("Step of the weights"));
    evaluations_->setMaximumWidth(220);
    line->addWidget(evaluations_, 1);
    return header;
}

QWidget* RecursionPanel::createBoardSide() {
    auto* side = new QWidget;
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(6);
    auto* line = new QHBoxLayout;
    moment_ = new TextLabel({}, TextStyle::Strong);
    line->addWidget(moment_);
    line->addStretch(1);
    state_ = new TextLabel({}, TextStyle::Caption, Role::Muted);
    state_->setObjectName("recursionState");
    line->addWidget(state_);
    column->addLayout(line);
    view_ = new widgets::BoardView;
    view_->setObjectName("recursionBoard");
    view_->setFixedWidth(view_->sizeHint().width());
    column->addWidget(view_);
    auto* legend = new TextLabel(tr("Bold: given · tinted: changed · corner: wrong"),
                                 TextStyle::Caption, Role::Muted);
    column->addWidget(legend);
    cell_ = new TextLabel({}, TextStyle::Caption);
    cell_->setObjectName("recursionCell");
    column->addWidget(cell_);
    connect(view_, &widgets::BoardView::chosenChanged, this,
            [this] { showCycle(slider_->chosen()); });
    return side;
}

QWidget* RecursionPanel::createCharts() {
    auto* charts = new QWidget;
    auto* column = new QVBoxLayout(charts);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    halting_title_ =
        new widgets::SectionHeader(tr("Halting"), widgets::SectionHeader::Level::Inline);
    column->addWidget(halting_title_);
    halting_ = new widgets::HaltingChart;
    halting_->setObjectName("haltingChart");
    column->addWidget(halting_, 1);
    curve_title_ =
        new widgets::SectionHeader(tr("Solved by step"), widgets::SectionHeader::Level::Inline);
    column->addWidget(curve_title_);
    curves_ = new widgets::ShareCurves;
    curves_->setObjectName("solvedByStep");
    column->addWidget(curves_, 1);
    return charts;
}

const SaidBoard* RecursionPanel::board() const {
    const SaidBoards* shown = samples_.shown();
    return shown == nullptr ? nullptr : &shown->boards[static_cast<std::size_t>(samples_.board())];
}

void RecursionPanel::updateSteps() {
    const std::vector<qint64> steps = samples_.steps();
    if (steps.empty()) {
        hint_->setText(tr("Puzzles of the validation set appear here, filled cycle by cycle, after "
                          "each evaluation."));
    }
    evaluations_->setSteps(steps);
}

void RecursionPanel::updateShown() {
    const SaidBoards* shown = samples_.shown();
    pages_->setCurrentIndex(shown == nullptr ? 0 : 1);
    timer_.stop();
    play_->setText(tr("Play"));
    if (shown == nullptr) {
        if (!samples_.steps().empty()) {
            hint_->setText(tr("This evaluation kept no boards that can be shown."));
        }
        return;
    }
    weights_->setText(tr("weights of step %1").arg(formatCount(shown->step)));
    halting_->setCounts(shown->halted_right, shown->halted_wrong);
    halting_title_->setSubtitle(
        tr("step after which the model stops · %1 puzzles · mean %2 · filled: solved")
            .arg(formatCount(shown->counted), widgets::formatNumber(halting_->mean())));
    std::vector<widgets::ShareCurve> curves;
    const auto add = [&curves](const SaidBoards& boards) {
        widgets::ShareCurve curve{QObject::tr("step %1").arg(formatCount(boards.step)), {}};
        for (const qint64 right : boards.right) {
            curve.shares.push_back(boards.counted > 0 ? static_cast<double>(right) /
                                                            static_cast<double>(boards.counted)
                                                      : 0.0);
        }
        curves.push_back(std::move(curve));
    };
    for (const SaidBoards& before : samples_.earlier()) {
        if (before.steps == shown->steps) {
            add(before);
        }
    }
    add(*shown);
    curve_title_->setSubtitle(tr("share of the puzzles, by step of the model"));
    curve_title_->setTrailing(
        tr("%1 in the end").arg(widgets::formatNumber(curves.back().shares.back())));
    curves_->setCurves(std::move(curves));
    updateBoard();
}

void RecursionPanel::updateBoard() {
    const SaidBoards* shown = samples_.shown();
    const SaidBoard* one = board();
    if (one == nullptr) {
        return;
    }
    puzzle_->setText(tr("Puzzle %1").arg(formatCount(one->index)));
    givens_->setText(tr("%n given", "cells of a board", givenCells(shown->look, one->given)));
    const int before = slider_->count() > 0 ? slider_->chosen() : -1;
    {
        const QSignalBlocker quiet(slider_);
        slider_->setCycles(shown->steps, shown->cycles, one->after, one->halts);
        // Begins where the model stops.
        slider_->setChosen(before >= 0 ? before : one->after * shown->cycles - 1);
    }
    updateMoments();
    showCycle(slider_->chosen());
}

void RecursionPanel::updateMoments() {
    const SaidBoards* shown = samples_.shown();
    const SaidBoard* one = board();
    if (one == nullptr) {
        return;
    }
    const int most = std::min({kMostMoments, strip_->capacity(), slider_->count()});
    moments_ = cyclesToShow(*shown, *one, slider_->chosen(), most);
    std::vector<widgets::BoardMoment> moments;
    for (const int cycle : moments_) {
        widgets::BoardMoment moment;
        moment.board = boardAfter(*shown, *one, cycle);
        const int wrong = moment.board.wrongCells();
        moment.title = tr("Cycle %1 · step %2").arg(cycle + 1).arg(cycle / shown->cycles + 1);
        moment.state = wrongWords(wrong);
        moment.good = wrong == 0;
        moment.note = changedWords(moment.board, cycle);
        moments.push_back(std::move(moment));
    }
    strip_->setMoments(std::move(moments));
    slider_->setMarked(moments_);
}

void RecursionPanel::showCycle(int cycle) {
    const SaidBoards* shown = samples_.shown();
    const SaidBoard* one = board();
    if (one == nullptr || cycle < 0) {
        return;
    }
    if (std::find(moments_.begin(), moments_.end(), cycle) == moments_.end()) {
        updateMoments();
    }
    const auto at = std::find(moments_.begin(), moments_.end(), cycle);
    strip_->setChosen(at == moments_.end() ? -1 : static_cast<int>(at - moments_.begin()));
    widgets::Board filled = boardAfter(*shown, *one, cycle);
    const int wrong = filled.wrongCells();
    moment_->setText(
        tr("Cycle %1 of step %2").arg(cycle % shown->cycles + 1).arg(cycle / shown->cycles + 1));
    state_->setText(tr("%1 · %2").arg(wrongWords(wrong), changedWords(filled, cycle)));
    state_->setRole(wrong == 0 ? Role::Success : Role::Muted);
    const int chosen = view_->chosen();
    QString words = tr("Point at a cell to read what stands there.");
    if (chosen >= 0 && chosen < filled.cellCount()) {
        words = widgets::boardCellName(filled, chosen);
        if (filled.cells[static_cast<std::size_t>(chosen)].wrong) {
            words = tr("%1; right is %2").arg(words, one->answer.mid(chosen, 1));
        }
    }
    cell_->setText(words);
    view_->setBoard(std::move(filled));
    curves_->setMarked(cycle / shown->cycles);
}

// From the beginning once it has reached the end.
void RecursionPanel::play() {
    if (timer_.isActive()) {
        timer_.stop();
        play_->setText(tr("Play"));
        return;
    }
    if (slider_->chosen() + 1 >= slider_->count()) {
        slider_->setChosen(0);
    }
    timer_.start();
    play_->setText(tr("Stop"));
}

void RecursionPanel::tick() {
    if (slider_->chosen() + 1 >= slider_->count()) {
        timer_.stop();
        play_->setText(tr("Play"));
        return;
    }
    slider_->setChosen(slider_->chosen() + 1);
}

} // namespace weft::ui
