// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/queue/sweep_panel.h"

#include "ui/bridge/convert.h"
#include "ui/models/sweep_model.h"
#include "ui/pages/drawings.h"
#include "ui/pages/table.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"
#include "widgets/views/parallel_view.h"

#include <QComboBox>
#include <QHeaderView>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSortFilterProxyModel>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

using config::Json;
using queue::State;

constexpr int kBestSlot = 1; // a colour unlike that of the many

enum SweepSheet { SweepTableSheet, SweepParallelSheet };

QString methodWords(queue::Method method) {
    switch (method) {
    case queue::Method::grid: return SweepPanel::tr("Grid");
    case queue::Method::random: return SweepPanel::tr("Random draws");
    case queue::Method::halving: return SweepPanel::tr("Successive halving");
    case queue::Method::asha: return SweepPanel::tr("Asynchronous halving");
    }
    return {};
}

/// Of the best trial at the furthest rung that it has reached.
QString bestWords(const queue::SweepTable& table) {
    for (const queue::TrialRow& row : table.rows) {
        for (std::size_t i = row.best ? row.at.size() : 0; i-- > 0;) {
            if (row.at[i]) {
                return SweepPanel::tr("best %1 of trial %2")
                    .arg(formatMetric(*row.at[i]))
                    .arg(row.entry->trial);
            }
        }
    }
    return SweepPanel::tr("no value yet");
}

widgets::ParallelAxis settingAxis(const queue::SweepTable& table, const std::string& path) {
    widgets::ParallelAxis axis;
    axis.name = shortSettingName(path, table.settings);
    std::vector<Json> values;
    for (const queue::TrialRow& row : table.rows) {
        values.push_back(row.entry->settings.value(path, Json(nullptr)));
        axis.texts.push_back(toQString(queue::value_text(values.back())));
    }
    const bool numbers = std::all_of(values.begin(), values.end(),
                                     [](const Json& value) { return value.is_number(); });
    if (!numbers) {
        for (const QString& text : axis.texts) {
            if (!axis.categories.contains(text)) {
                axis.categories << text;
            }
        }
        axis.categories.sort();
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        axis.values.push_back(numbers
                                  ? values[i].get<double>()
                                  : static_cast<double>(axis.categories.indexOf(axis.texts[i])));
    }
    return axis;
}

/// An axis without a value would say nothing.
bool isReached(const queue::SweepTable& table, std::size_t rung) {
    return std::any_of(table.rows.begin(), table.rows.end(),
                       [rung](const queue::TrialRow& row) { return row.at[rung].has_value(); });
}

widgets::ParallelAxis rungAxis(const queue::SweepTable& table, std::size_t rung) {
    widgets::ParallelAxis axis;
    axis.name = metricWords(table.sweep->metric) + QLatin1Char(' ') + rungText(*table.sweep, rung);
    axis.result = true;
    for (const queue::TrialRow& row : table.rows) {
        axis.values.push_back(row.at[rung]);
        axis.texts.push_back(row.at[rung] ? formatMetric(*row.at[rung]) : QString());
    }
    return axis;
}

} // namespace

SweepPanel::SweepPanel(QWidget* parent) : Surface(widgets::Role::Surface, parent) {
    setObjectName("sweepPanel");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(createHeader());
    summary_ = new widgets::TextLabel({}, widgets::TextStyle::Caption, widgets::Role::Muted);
    summary_->setObjectName("sweepSummary");
    summary_->setWordWrap(true);
    summary_->setContentsMargins(widgets::space::kGroup, widgets::space::kTight,
                                 widgets::space::kGroup, widgets::space::kTight);
    column->addWidget(summary_);
    stack_ = new QStackedWidget;
    createTable();
    stack_->addWidget(table_);
    parallel_ = new widgets::ParallelView;
    parallel_->setObjectName("sweepParallel");
    parallel_->setAccessibleName(tr("Trials of the sweep as parallel coordinates"));
    stack_->addWidget(parallel_);
    column->addWidget(stack_, 1);
    connect(views_, &widgets::SegmentedControl::currentIndexChanged, this, [this](int index) {
        stack_->setCurrentIndex(index == 0 ? SweepTableSheet : SweepParallelSheet);
        export_->setVisible(index != 0);
    });
}

QWidget* SweepPanel::createHeader() {
    header_ = new widgets::SectionHeader(tr("Sweep"));
    chooser_ = new QComboBox;
    chooser_->setObjectName("sweepChooser");
    chooser_->setAccessibleName(tr("The sweep that is shown"));
    chooser_->setToolTip(tr("The sweep that is shown"));
    chooser_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    chooser_->setMaximumWidth(220);
    widgets::setCompact(chooser_);
    connect(chooser_, &QComboBox::activated, this,
            [this](int index) { showSweep(chooser_->itemText(index)); });
    header_->addControl(chooser_);
    views_ = new widgets::SegmentedControl({tr("Table"), tr("Parallel")});
    views_->setObjectName("sweepView");
    views_->setAccessibleName(tr("How the trials are shown"));
    views_->setCompact(true);
    header_->addControl(views_);
    const auto button = [this](const char* name, const QString& text, const QString& tip) {
        auto* out = new QPushButton(text);
        out->setObjectName(name);
        out->setToolTip(tip);
        widgets::setCompact(out);
        header_->addControl(out);
        return out;
    };
    export_ = button("sweepExport", tr("Export…"), tr("Write the picture to a file"));
    export_->hide();
    connect(export_, &QPushButton::clicked, this, [this] {
        exportDrawing(*parallel_, "sweep-parallel",
                      [this](bool well, const QString& text) { emit exported(well, text); });
    });
    stop_ = button("stopSweep", tr("Stop sweep"),
                   tr("End the sweep; trials that are under way save first"));
    connect(stop_, &QPushButton::clicked, this, [this] { emit stopRequested(name_); });
    remove_ = button("removeSweep", tr("Remove"),
                     tr("Take the sweep and its trials out of the queue; their runs stay"));
    connect(remove_, &QPushButton::clicked, this, [this] { emit removeRequested(name_); });
    return header_;
}

void SweepPanel::createTable() {
    model_ = new SweepModel(this);
    sorted_ = new QSortFilterProxyModel(this);
    sorted_->setSourceModel(model_);
    sorted_->setSortRole(SweepModel::kSortRole);
    table_ = ui::createTable(sorted_, "sweepTable", tr("Trials of the sweep"));
    table_->setSortingEnabled(true);
    table_->sortByColumn(-1, Qt::AscendingOrder); // by trial, as they come
    connect(table_, &QTableView::activated, this, [this](const QModelIndex& index) {
        const int row = sorted_->mapToSource(index).row();
        const queue::Entry& entry = *model_->table().rows[static_cast<std::size_t>(row)].entry;
        if (!entry.run.empty()) {
            emit runRequested(entry.run);
        }
    });
}

void SweepPanel::setLook(const std::shared_ptr<const QueueLook>& look) {
    look_ = look;
    fillChooser();
    refresh();
}

void SweepPanel::showSweep(const QString& name) {
    if (name != name_ && look_ && look_->book.find_sweep(name.toStdString()) != nullptr) {
        name_ = name;
        fillChooser();
        refresh();
    }
}

// The newest, where the one that was shown is gone.
void SweepPanel::fillChooser() {
    QStringList names;
    for (const queue::Sweep& sweep : look_->book.sweeps) {
        names << toQString(sweep.name);
    }
    if (!names.contains(name_)) {
        name_ = names.isEmpty() ? QString() : names.last();
    }
    QStringList listed;
    for (int i = 0; i < chooser_->count(); ++i) {
        listed << chooser_->itemText(i);
    }
    const QSignalBlocker blocker(chooser_);
    if (listed != names) {
        chooser_->clear();
        chooser_->addItems(names);
    }
    chooser_->setCurrentText(name_);
    chooser_->setVisible(names.size() > 1);
}

void SweepPanel::refresh() {
    const queue::Sweep* sweep = look_->book.find_sweep(name_.toStdString());
    if (sweep == nullptr) {
        model_->clear();
        parallel_->setContent({}, {});
        drawn_.clear();
        return;
    }
    const queue::SweepTable table = queue::table_of(look_->book, *sweep);
    model_->setTable(std::shared_ptr<const queue::Book>(look_, &look_->book), table);
    header_->setTitle(name_);
    summary_->setText(tr("%1 by %2; %3 of %4 trials ended; %5")
                          .arg(methodWords(sweep->method), metricWords(sweep->metric))
                          .arg(table.ended)
                          .arg(table.rows.size())
                          .arg(bestWords(table)));
    const bool runs = std::any_of(table.rows.begin(), table.rows.end(), [](const auto& row) {
        return row.entry->state == State::running;
    });
    stop_->setEnabled(table.ended < table.rows.size());
    remove_->setEnabled(!runs);
    scrollColumns(table_, model_->columnCount() - 1);
    showParallel(table);
}

void SweepPanel::showParallel(const queue::SweepTable& table) {
    std::string drawn = queue::to_json(table).dump();
    if (drawn == drawn_) {
        return; // who looks at a line goes on looking at it
    }
    drawn_ = std::move(drawn);
    std::vector<widgets::ParallelAxis> axes;
    for (const std::string& path : table.settings) {
        axes.push_back(settingAxis(table, path));
    }
    for (std::size_t rung = 0; rung < table.sweep->rungs.size(); ++rung) {
        if (isReached(table, rung)) {
            axes.push_back(rungAxis(table, rung));
        }
    }
    std::vector<widgets::ParallelLine> lines;
    int best = -1;
    for (const queue::TrialRow& row : table.rows) {
        best = row.best ? static_cast<int>(lines.size()) : best;
        lines.push_back({row.best ? tr("trial %1, best").arg(row.entry->trial)
                                  : tr("trial %1").arg(row.entry->trial),
                         row.best ? kBestSlot : -1});
    }
    parallel_->setContent(std::move(axes), std::move(lines));
    parallel_->setCursorItem(best); // until another one is looked at
}

} // namespace weft::ui
