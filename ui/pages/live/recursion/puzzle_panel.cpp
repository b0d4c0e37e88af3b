// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/recursion/puzzle_panel.h"

#include "ui/bridge/convert.h"
#include "ui/pages/live/recursion/board_parts.h"
#include "widgets/boards/puzzle_list.h"
#include "widgets/controls/card.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/text_label.h"

#include <QFormLayout>
#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>
#include <numeric>

namespace weft::ui {

using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

namespace {

constexpr std::ptrdiff_t kNewestSteps = 100; // rows that begin together also end together

} // namespace

PuzzlePanel::PuzzlePanel(RunModel& run, BoardSamples& samples, QWidget* parent)
    : QWidget(parent), run_(run), samples_(samples) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 8, 0, 8);
    column->setSpacing(8);
    solved_ = new TextLabel({}, TextStyle::Caption, Role::Muted);
    solved_->setObjectName("puzzlesSolved");
    solved_->setContentsMargins(12, 0, 12, 0);
    column->addWidget(solved_);
    list_ = new widgets::PuzzleList;
    list_->setObjectName("puzzles");
    area_ = widgets::verticalScroll(list_);
    column->addWidget(area_, 1);
    hint_ = new widgets::EmptyState;
    hint_->setText(tr("The puzzles of the validation set that are looked at appear here after each "
                      "evaluation."));
    column->addWidget(hint_, 1);
    column->addWidget(new widgets::Hairline);
    auto* figures = new QFormLayout;
    figures->setContentsMargins(12, 0, 12, 0);
    figures->setSpacing(4);
    const auto figure = [&](const QString& name, const char* object) {
        auto* value = new TextLabel({}, TextStyle::MonoSmall);
        value->setObjectName(object);
        value->setAlignment(Qt::AlignRight);
        figures->addRow(new TextLabel(name, TextStyle::Caption, Role::Muted), value);
        return value;
    };
    dropped_ = figure(tr("Rows dropped in training"), "rowsDropped");
    dropped_->setToolTip(tr("Of the rows of the last 100 batches, those whose new puzzle was not "
                            "taken: the row still worked on the one before."));
    halting_ = figure(tr("Says rightly whether it is solved"), "haltingRight");
    column->addLayout(figures);
    connect(list_, &widgets::PuzzleList::chosenChanged, &samples_, &BoardSamples::chooseBoard);
    connect(&samples_, &BoardSamples::boardChanged, this,
            [this] { list_->setChosen(samples_.board()); });
    connect(&samples_, &BoardSamples::shownChanged, this, &PuzzlePanel::updateRows);
    connect(&run_, &RunModel::changed, this, &PuzzlePanel::updateFigures);
    connect(&run_, &RunModel::reset, this, &PuzzlePanel::updateFigures);
    updateRows();
    updateFigures();
}

void PuzzlePanel::updateRows() {
    const SaidBoards* shown = samples_.shown();
    area_->setVisible(shown != nullptr);
    hint_->setVisible(shown == nullptr);
    solved_->setVisible(shown != nullptr);
    if (shown == nullptr) {
        list_->setRows({});
        return;
    }
    std::vector<widgets::PuzzleRow> rows;
    for (const SaidBoard& board : shown->boards) {
        rows.push_back(puzzleRow(*shown, board));
    }
    const auto solved = std::count_if(rows.begin(), rows.end(),
                                      [](const widgets::PuzzleRow& row) { return row.solved(); });
    solved_->setText(tr("%1 of %2 solved by the weights of step %3")
                         .arg(solved)
                         .arg(rows.size())
                         .arg(formatCount(shown->step)));
    list_->setRows(std::move(rows));
    list_->setChosen(samples_.board());
}

void PuzzlePanel::updateFigures() {
    QString dropped = tr("–");
    for (const MetricColumn& column : run_.steps().metrics) {
        if (column.name == "train/rows_dropped" && !column.value.empty()) {
            const auto count = std::min<std::ptrdiff_t>(kNewestSteps, std::ssize(column.value));
            const double sum = std::accumulate(column.value.end() - count, column.value.end(), 0.0);
            dropped = tr("%1 %").arg(100.0 * sum / static_cast<double>(count), 0, 'f', 1);
        }
    }
    dropped_->setText(dropped);
    const auto right = run_.lastMetric("validation/halting_accuracy");
    halting_->setText(right ? widgets::formatNumber(*right) : tr("–"));
}

} // namespace weft::ui
