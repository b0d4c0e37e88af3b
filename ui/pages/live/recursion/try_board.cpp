// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/recursion/try_board.h"

#include "core/base/error.h"
#include "core/train/boards/board_text.h"
#include "ui/bridge/convert.h"
#include "ui/pages/live/recursion/board_parts.h"
#include "widgets/boards/board_view.h"
#include "widgets/boards/cycle_slider.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"
#include "widgets/views/probability_bars.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QPushButton>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

using Solutions = data::BoardJudgement::Solutions;
using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

constexpr int kShownShares = 3;

BoardLook look_of(const data::BoardForm& form) {
    const QString symbols = toQString(form.symbols);
    return {static_cast<int>(form.rows),
            static_cast<int>(form.columns),
            static_cast<int>(form.box_rows),
            static_cast<int>(form.box_columns),
            symbols,
            symbols.at(form.blank)};
}

/// Digits: what may be typed into a cell, without what pads and what is blank.
QString typed_symbols(const data::BoardForm& form) {
    QString out;
    for (std::size_t i = 1; i < form.symbols.size(); ++i) {
        if (static_cast<std::int32_t>(i) != form.blank) {
            out += QLatin1Char(form.symbols[i]);
        }
    }
    return out;
}

} // namespace

TryBoard::TryBoard(QWidget* parent) : QWidget(parent), job_(this) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    auto* line = new QHBoxLayout;
    facts_ = new TextLabel({}, TextStyle::Caption);
    facts_->setObjectName("boardFacts");
    line->addWidget(facts_, 1);
    const auto button = [&](const QString& text, const char* name) {
        auto* made = new QPushButton(text);
        made->setObjectName(name);
        widgets::setCompact(made);
        line->addWidget(made);
        return made;
    };
    auto* paste_button = button(tr("Paste"), "boardPaste");
    paste_button->setToolTip(tr("A board as text: its cells row by row, blank ones as . or 0"));
    auto* clear = button(tr("Clear"), "boardClear");
    column->addLayout(line);
    view_ = new widgets::BoardView;
    view_->setObjectName("tryBoard");
    view_->setAccessibleName(tr("Your puzzle"));
    column->addWidget(view_);
    rules_ = new TextLabel({}, TextStyle::Caption, Role::Muted);
    rules_->setObjectName("boardRules");
    rules_->setWordWrap(true);
    column->addWidget(rules_);
    auto* buttons = new QHBoxLayout;
    solve_ = new QPushButton(tr("Solve"));
    solve_->setObjectName("boardSolve");
    widgets::setButtonKind(solve_, widgets::ButtonKind::Primary);
    step_ = new QPushButton(tr("One cycle"));
    step_->setObjectName("boardCycle");
    step_->setToolTip(tr("What the model says after the next cycle"));
    buttons->addWidget(solve_, 2);
    buttons->addWidget(step_, 1);
    column->addLayout(buttons);
    slider_ = new widgets::CycleSlider;
    slider_->setObjectName("tryCycles");
    column->addWidget(slider_);
    said_ = new TextLabel({}, TextStyle::Caption);
    said_->setObjectName("boardSaid");
    said_->setWordWrap(true);
    column->addWidget(said_);
    bars_ = new widgets::ProbabilityBars;
    bars_->setObjectName("boardShares");
    bars_->setRows(kShownShares);
    column->addWidget(bars_);
    connect(view_, &widgets::BoardView::typed, this, &TryBoard::edit);
    connect(view_, &widgets::BoardView::pasted, this, &TryBoard::paste);
    connect(view_, &widgets::BoardView::chosenChanged, this, &TryBoard::updateCell);
    connect(paste_button, &QPushButton::clicked, this, &TryBoard::paste);
    connect(clear, &QPushButton::clicked, this,
            [this] { setGiven(QString(look_.cells(), look_.blank)); });
    connect(solve_, &QPushButton::clicked, this, [this] {
        one_cycle_ = false;
        emit wanted(given_);
    });
    connect(step_, &QPushButton::clicked, this, &TryBoard::oneCycle);
    connect(slider_, &widgets::CycleSlider::chosenChanged, this, &TryBoard::refresh);
}

void TryBoard::setForm(const data::BoardForm& form) {
    form_ = form;
    look_ = look_of(form);
    view_->setTyped(typed_symbols(form));
    setGiven(QString(look_.cells(), look_.blank));
}

void TryBoard::setBlocked(const QString& reason) {
    blocked_ = reason;
    showJudgement(judged_);
}

void TryBoard::edit(int cell, QChar symbol) {
    QString next = given_;
    next[cell] = symbol.isNull() ? look_.blank : symbol;
    setGiven(next);
}

void TryBoard::paste() {
    const QString text = QGuiApplication::clipboard()->text();
    if (text.trimmed().isEmpty()) {
        rules_->setText(tr("The clipboard holds no text."));
        rules_->setRole(Role::Error);
        return;
    }
    take(text);
}

void TryBoard::take(const QString& text) {
    try {
        setGiven(
            toQString(train::board_text(form_, train::parse_board(form_, text.toStdString()))));
    } catch (const Error& error) {
        rules_->setText(
            tr("Not pasted: %1. %2").arg(toQString(error.text()), toQString(error.hint())));
        rules_->setRole(Role::Error);
    }
}

void TryBoard::setGiven(const QString& given) {
    given_ = given;
    solved_.reset();
    refresh();
    judge();
}

void TryBoard::judge() {
    judged_ = {};
    judged_.givens = givenCells(look_, given_);
    showJudgement(judged_);
    const std::vector<std::int32_t> cells = train::parse_board(form_, given_.toStdString());
    job_.start([form = form_, cells] { return data::judge_board(form, cells); },
               [this](data::BoardJudgement judged) {
                   judged_ = std::move(judged);
                   showJudgement(judged_);
                   refresh();
               });
}

void TryBoard::showJudgement(const data::BoardJudgement& judged) {
    facts_->setText(tr("%n given", "cells of a board", static_cast<int>(judged.givens)));
    QString rules = tr("Type symbols; arrow keys move, Delete empties a cell.");
    bool wrong = false;
    if (!judged.problem.empty()) {
        rules = tr("This puzzle contradicts itself: %1.").arg(toQString(judged.problem));
        wrong = true;
    } else if (judged.givens > 0 && judged.solutions == Solutions::one) {
        rules = tr("One solution.");
    } else if (judged.givens > 0 && judged.solutions == Solutions::several) {
        rules = tr("Several solutions: the model was trained on puzzles that have one.");
    }
    rules_->setText(rules);
    rules_->setRole(wrong ? Role::Error : Role::Muted);
    const QString why = !blocked_.isEmpty()  ? blocked_
                        : wrong              ? tr("The puzzle contradicts itself")
                        : judged.givens == 0 ? tr("Type or paste a puzzle first")
                                             : QString();
    for (QPushButton* button : {solve_, step_}) {
        button->setEnabled(why.isEmpty());
    }
    solve_->setToolTip(why);
}

void TryBoard::oneCycle() {
    if (solved_ == nullptr) {
        one_cycle_ = true;
        emit wanted(given_);
        return;
    }
    slider_->setChosen(std::min(slider_->chosen() + 1, slider_->count() - 1));
}

void TryBoard::showSolved(std::shared_ptr<const SolvedBoard> solved) {
    if (solved != nullptr && solved->given != given_) {
        return; // it was changed meanwhile
    }
    solved_ = std::move(solved);
    if (solved_ != nullptr) {
        const train::Trace& trace = solved_->trace;
        const auto after = static_cast<int>(trace.halts_after());
        const QSignalBlocker quiet(slider_);
        slider_->setCycles(static_cast<int>(trace.steps), static_cast<int>(trace.cycles), after,
                           trace.halts());
        slider_->setChosen(one_cycle_ ? 0 : after * static_cast<int>(trace.cycles) - 1);
    }
    refresh();
}

void TryBoard::refresh() {
    const bool any = solved_ != nullptr;
    slider_->setVisible(any);
    said_->setVisible(any);
    if (!any) {
        widgets::Board board = shownBoard(look_, given_, given_, {}, {});
        for (const std::int64_t cell : judged_.clashes) {
            board.cells[static_cast<std::size_t>(cell)].wrong = true;
        }
        view_->setBoard(std::move(board));
        bars_->hide();
        return;
    }
    const int cycle = slider_->chosen();
    const QString& said = solved_->cycles[static_cast<std::size_t>(cycle)];
    const QString before =
        cycle > 0 ? solved_->cycles[static_cast<std::size_t>(cycle) - 1] : given_;
    // What is given the model should keep; what clashes is wrong whatever the answer.
    widgets::Board board = shownBoard(look_, given_, said, before, {});
    const std::vector<std::int32_t> cells = train::parse_board(form_, said.toStdString());
    for (const std::int64_t cell : data::clashing_cells(form_, cells)) {
        board.cells[static_cast<std::size_t>(cell)].wrong = true;
    }
    int kept_badly = 0;
    for (int i = 0; i < look_.cells(); ++i) {
        if (given_[i] != look_.blank && given_[i] != said[i]) {
            board.cells[static_cast<std::size_t>(i)].wrong = true;
            ++kept_badly;
        }
    }
    const bool solved =
        data::is_solution(form_, train::parse_board(form_, given_.toStdString()), cells);
    said_->setText(
        solved                   ? tr("Solved: every rule is met.")
        : kept_badly > 0         ? tr("Not solved: %n given cell(s) changed.", nullptr, kept_badly)
        : board.wrongCells() > 0 ? tr("Not solved: %n cell(s) clash.", nullptr, board.wrongCells())
                                 : tr("Not solved yet."));
    said_->setRole(solved ? Role::Success : Role::Text);
    view_->setBoard(std::move(board));
    updateCell();
}

// What the model hesitates between at the chosen cell.
void TryBoard::updateCell() {
    const int cell = view_->chosen();
    bars_->setVisible(solved_ != nullptr && cell >= 0);
    if (solved_ == nullptr || cell < 0) {
        return;
    }
    const train::Trace& trace = solved_->trace;
    std::vector<widgets::ProbabilityBar> bars;
    const auto first =
        static_cast<std::size_t>((slider_->chosen() * trace.cells + cell) * trace.classes);
    for (std::int64_t i = 0; i < trace.classes; ++i) {
        bars.push_back({look_.symbols.mid(static_cast<int>(i), 1),
                        static_cast<double>(trace.shares[first + static_cast<std::size_t>(i)])});
    }
    std::stable_sort(bars.begin(), bars.end(),
                     [](const auto& a, const auto& b) { return a.share > b.share; });
    bars.resize(std::min<std::size_t>(bars.size(), kShownShares));
    bars_->setBars(std::move(bars));
}

} // namespace weft::ui
