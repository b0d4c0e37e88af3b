// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/inside/inside_panel.h"

#include "ui/bridge/convert.h"
#include "ui/pages/table.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"
#include "widgets/spread/spread_map.h"
#include "widgets/views/step_dots.h"

#include <QHeaderView>
#include <QPushButton>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>
#include <cstdlib>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

constexpr std::int64_t kUsualEvery = 50;
constexpr int kCourseWidth = 150;
constexpr int kInsideLeastName = 150;
constexpr int kInsideRowHeight = 26;

} // namespace

InsidePanel::InsidePanel(RunModel& run, QWidget* parent) : QWidget(parent), run_(run), looks_(run) {
    setObjectName("insidePanel");
    auto* whole = new QVBoxLayout(this);
    whole->setContentsMargins(0, 0, 0, 0);
    sheets_ = new QStackedWidget;
    empty_ = new widgets::EmptyState("model");
    empty_->setObjectName("insideEmpty");
    begin_ = empty_->addButton(tr("Look every %1 steps").arg(kUsualEvery));
    begin_->setObjectName("insideBegin");
    connect(begin_, &QPushButton::clicked, this, [this] { emit lookRequested(kUsualEvery); });
    sheets_->addWidget(empty_);
    auto* content = new QWidget;
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(12, 8, 12, 8);
    column->setSpacing(widgets::space::kControl);
    column->addLayout(createHead());
    auto* splitter = new widgets::ThinSplitter(Qt::Vertical, "insideSplitter");
    table_ = createTable(&model_, "insideTable", tr("Layers"));
    table_->setItemDelegateForColumn(
        LayerModel::CourseColumn, new widgets::SparklineDelegate(LayerModel::kCourseRole, table_));
    table_->setTextElideMode(Qt::ElideLeft); // names differ at their ends
    table_->setMinimumHeight(4 * kInsideRowHeight);
    splitter->addWidget(table_);
    splitter->addWidget(createMap());
    splitter->setStretchFactor(0, 1);
    splitter->setStretchFactor(1, 1);
    column->addWidget(splitter, 1);
    sheets_->addWidget(content);
    whole->addWidget(sheets_);
    connect(&looks_, &InsideLooks::changed, this, &InsidePanel::update);
    connect(&run_, &RunModel::changed, this, &InsidePanel::showState);
    connect(kinds_, &widgets::SegmentedControl::currentIndexChanged, this, &InsidePanel::showRows);
    connect(axis_, &widgets::SegmentedControl::currentIndexChanged, this, &InsidePanel::showMap);
    connect(steps_, &widgets::StepDots::chosenChanged, this, &InsidePanel::showRows);
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& now) {
                if (now.isValid()) {
                    chosen_ = model_.row(now.row()).name;
                    showMap();
                }
            });
    update();
}

QLayout* InsidePanel::createHead() {
    auto* head = new QHBoxLayout;
    head->setSpacing(widgets::space::kControl);
    kinds_ = new widgets::SegmentedControl(
        {tr("Weights"), tr("Gradients"), tr("Updates"), tr("Activations")});
    kinds_->setObjectName("insideKind");
    kinds_->setAccessibleName(tr("Numbers to look at"));
    kinds_->setCompact(true);
    head->addWidget(kinds_);
    head->addStretch(1);
    step_ = new TextLabel({}, TextStyle::Caption, Role::Muted);
    step_->setObjectName("insideStep");
    head->addWidget(step_);
    steps_ = new widgets::StepDots;
    steps_->setObjectName("insideSteps");
    steps_->setAccessibleName(tr("Step of the look"));
    steps_->setMaximumWidth(260);
    head->addWidget(steps_, 1);
    stop_ = new QPushButton(tr("Stop looking"));
    stop_->setObjectName("insideStop");
    widgets::setCompact(stop_);
    connect(stop_, &QPushButton::clicked, this,
            [this] { emit lookRequested(looks_.every() > 0 ? 0 : kUsualEvery); });
    head->addWidget(stop_);
    return head;
}

QWidget* InsidePanel::createMap() {
    auto* part = new QWidget;
    auto* column = new QVBoxLayout(part);
    column->setContentsMargins(0, widgets::space::kControl, 0, 0);
    column->setSpacing(widgets::space::kTight);
    auto* line = new QHBoxLayout;
    line->setSpacing(widgets::space::kControl);
    array_ = new TextLabel({}, TextStyle::Strong);
    array_->setObjectName("insideArray");
    line->addWidget(array_);
    figures_ = new widgets::ElidedLabel({}, TextStyle::Caption, Role::Muted);
    figures_->setObjectName("insideFigures");
    line->addWidget(figures_, 1);
    axis_ = new widgets::SegmentedControl({tr("Linear"), tr("Logarithmic")});
    axis_->setObjectName("insideAxis");
    axis_->setAccessibleName(tr("Axis of the numbers"));
    axis_->setCompact(true);
    line->addWidget(axis_);
    column->addLayout(line);
    map_ = new widgets::SpreadMap;
    map_->setObjectName("insideMap");
    map_->setAccessibleName(tr("Spread over the steps"));
    column->addWidget(map_, 1);
    pointed_ = new TextLabel({}, TextStyle::Caption, Role::Muted);
    pointed_->setObjectName("insidePointed");
    column->addWidget(pointed_);
    connect(map_, &widgets::SpreadMap::pointed, this, [this](const QString& words) {
        pointed_->setText(
            words.isEmpty()
                ? tr("The stronger its colour, the more numbers; a column for each look.")
                : words);
    });
    connect(map_, &widgets::SpreadMap::itemActivated, steps_, &widgets::StepDots::setChosen);
    connect(map_, &widgets::SpreadMap::itemActivated, this, &InsidePanel::showRows);
    pointed_->setText(tr("The stronger its colour, the more numbers; a column for each look."));
    return part;
}

InsideKind InsidePanel::kind() const {
    return static_cast<InsideKind>(kinds_->currentIndex());
}

void InsidePanel::setTraining(bool training) {
    training_ = training;
    showState();
}

void InsidePanel::showStep(std::int64_t step) {
    const std::vector<std::int64_t>& steps = looks_.history()->steps;
    if (steps.empty()) {
        return;
    }
    const auto nearest =
        std::min_element(steps.begin(), steps.end(), [step](std::int64_t a, std::int64_t b) {
            return std::abs(a - step) < std::abs(b - step);
        });
    steps_->setChosen(static_cast<int>(nearest - steps.begin()));
    showRows();
}

void InsidePanel::showEvent(QShowEvent* event) {
    looks_.setFollowing(true);
    QWidget::showEvent(event);
}

void InsidePanel::hideEvent(QHideEvent* event) {
    looks_.setFollowing(false);
    QWidget::hideEvent(event);
}

void InsidePanel::update() {
    {
        const QSignalBlocker quiet(steps_);
        const std::vector<std::int64_t>& steps = looks_.history()->steps;
        steps_->setSteps({steps.begin(), steps.end()});
    }
    showState();
    showRows();
}

// What there is to see, or how there would be.
void InsidePanel::showState() {
    sheets_->setCurrentIndex(looks_.history()->is_empty() ? 0 : 1);
    const std::int64_t every = looks_.every();
    stop_->setVisible(training_);
    stop_->setText(every > 0 ? tr("Stop looking") : tr("Look on"));
    stop_->setToolTip(every > 0 ? tr("It looks every %1 steps").arg(formatCount(every))
                                : tr("Every %1 steps, from now on").arg(kUsualEvery));
    begin_->setVisible(training_ && every == 0);
    if (!looks_.problem().isEmpty()) {
        empty_->setTitle(tr("What the run saw cannot be read"));
        empty_->setText(looks_.problem());
    } else if (!looks_.isKnown()) {
        empty_->setTitle({});
        empty_->setText(tr("Reading …"));
    } else if (run_.isForeign()) {
        empty_->setTitle(tr("Of another program"));
        empty_->setText(tr("What lies inside its network is not in its files."));
    } else if (every > 0 && training_) {
        empty_->setTitle(tr("The first look comes at step %1")
                             .arg(formatCount((run_.step() / every + 1) * every)));
        empty_->setText(
            tr("The run looks inside its network every %1 steps.").arg(formatCount(every)));
    } else {
        empty_->setTitle(tr("This run does not look inside its network"));
        empty_->setText(
            training_
                ? tr("Norms and histograms of weights, gradients, updates and activations, layer "
                     "by layer. The numbers of the run stay the same; it takes about a hundredth "
                     "of the time.")
                : tr("A run does where \"Inside every\" is set on the page Training, under Run and "
                     "records, or where it is told to here while it trains."));
    }
}

void InsidePanel::showRows() {
    const auto& history = looks_.history();
    const int at = steps_->chosen();
    if (at < 0) {
        model_.show(history, kind(), 0);
        return;
    }
    const auto step = static_cast<std::size_t>(at);
    step_->setText(
        tr("Step %1, a batch of %2")
            .arg(formatCount(history->steps[step]), formatCount(history->samples[step])));
    const int before = table_->verticalHeader()->count() > 0 ? table_->currentIndex().row() : 0;
    const QString chosen = chosen_;
    model_.show(history, kind(), step);
    fitColumns(table_, LayerModel::NameColumn, EmptyColumns::Keep, kInsideLeastName);
    table_->setColumnWidth(LayerModel::CourseColumn, kCourseWidth);
    int row = std::clamp(before, 0, std::max(0, model_.rowCount() - 1));
    for (int i = 0; i < model_.rowCount(); ++i) {
        row = model_.row(i).name == chosen ? i : row;
    }
    if (model_.rowCount() > 0) {
        table_->setCurrentIndex(model_.index(row, 0));
        chosen_ = model_.row(row).name;
    }
    showMap();
}

void InsidePanel::showMap() {
    const int row = table_->currentIndex().row();
    if (row < 0 || row >= model_.rowCount()) {
        map_->setHistory({});
        array_->clear();
        figures_->setText({});
        return;
    }
    const LayerRow& shown = model_.row(row);
    array_->setText(shown.name);
    const train::WrittenSpread& spread = *shown.spread;
    figures_->setText(spread.count == 0
                          ? tr("not known at this step")
                          : tr("%1 numbers from %2 to %3, mean %4, deviation %5")
                                .arg(formatCount(spread.count), formatMetric(spread.low),
                                     formatMetric(spread.high), formatMetric(spread.mean),
                                     formatMetric(spread.deviation)));
    const auto spreads = model_.spreads(row);
    map_->setHistory(
        spreadHistory(looks_.history()->steps, spreads,
                      axis_->currentIndex() == 0 ? SpreadAxis::Linear : SpreadAxis::Logarithmic));
    map_->setChosen(steps_->chosen());
}

} // namespace weft::ui
