// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/runs/compare_panel.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/run/run_facts.h"
#include "ui/models/run_compare_model.h"
#include "ui/pages/chart_controls.h"
#include "ui/pages/drawings.h"
#include "ui/pages/runs/axes.h"
#include "ui/pages/table.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/icon_button.h"
#include "widgets/controls/messages.h"
#include "widgets/curves/line_chart.h"
#include "widgets/look/icon.h"
#include "widgets/look/menu_text.h"
#include "widgets/look/style.h"
#include "widgets/views/parallel_view.h"

#include <QComboBox>
#include <QHeaderView>
#include <QMenu>
#include <QPushButton>
#include <QSet>
#include <QSlider>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

enum RunsCompareTab { CurvesTab, SettingsTab, ParallelTab };
enum RunsCompareSheet { RunsCompareMessageSheet, CurvesSheet, SettingsSheet, ParallelSheet };

constexpr std::size_t kComparePanelPointsAtOnce = 65536;
constexpr int kMostAxes = 9; // besides the result; more are named in the menu

std::vector<const train::RunSummary*> pointers(const std::vector<train::RunSummary>& runs) {
    std::vector<const train::RunSummary*> out;
    for (const train::RunSummary& run : runs) {
        out.push_back(&run);
    }
    return out;
}

/// What can be an axis. Where all runs that have a setting agree, a line would say only that others
/// have none.
std::vector<VaryingSetting> axis_settings(const std::vector<train::RunSummary>& runs) {
    std::vector<VaryingSetting> all = varyingSettings(pointers(runs));
    std::erase_if(all, [](const VaryingSetting& setting) {
        QSet<QString> values(setting.values.begin(), setting.values.end());
        values.remove(QString());
        return values.size() < 2;
    });
    return all;
}

/// As much of the end of a path as no other axis ends with: "learning_rate", "train.type".
QString short_name(const QString& path, const std::vector<VaryingSetting>& all) {
    for (int parts = 1;; ++parts) {
        const QString name = path.section('.', -parts);
        const auto alike = std::count_if(all.begin(), all.end(), [&](const VaryingSetting& other) {
            return other.path.section('.', -parts) == name;
        });
        if (alike < 2 || name == path) {
            return name;
        }
    }
}

} // namespace

ComparePanel::ComparePanel(RunCurves& curves, QWidget* parent) : QWidget(parent), curves_(curves) {
    setObjectName("comparePanel");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    header_ = new widgets::SectionHeader(tr("Compare"));
    metric_ = new QComboBox;
    metric_->setObjectName("compareMetric");
    metric_->setAccessibleName(tr("Metric"));
    metric_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    metric_->setMaximumWidth(260);
    widgets::setCompact(metric_);
    header_->addControl(metric_);
    controls_ = new ChartControls(*header_, {XAxis::Step});
    controls_->smoothingSlider()->setObjectName("compareSmoothing");
    axes_ = new QPushButton(tr("Axes"));
    axes_->setObjectName("parallelAxes");
    axes_->setToolTip(tr("Settings that have an axis"));
    widgets::setCompact(axes_);
    connect(axes_, &QPushButton::clicked, this, &ComparePanel::chooseAxes);
    header_->addControl(axes_);
    export_ = widgets::iconButton("export", "compareExport", tr("Export what is shown"));
    connect(export_, &QPushButton::clicked, this, &ComparePanel::exportView);
    header_->addControl(export_);
    tab_ = new widgets::SegmentedControl({tr("Curves"), tr("Settings"), tr("Parallel")});
    tab_->setObjectName("compareTab");
    tab_->setAccessibleName(tr("How to compare"));
    tab_->setCompact(true);
    header_->addControl(tab_);
    column->addWidget(header_);
    column->addWidget(new widgets::Hairline);

    stack_ = new QStackedWidget;
    empty_ = new widgets::EmptyState("compare");
    stack_->addWidget(empty_);
    chart_ = new widgets::LineChart;
    chart_->setObjectName("compareChart");
    chart_->setAccessibleName(tr("Curves of the chosen runs"));
    offerExport(
        *chart_, [this] { return "runs-" + metric_->currentText(); },
        [this](bool well, const QString& text) { emit exported(well, text); });
    chart_->setNamesShown(true);
    controls_->take(*chart_);
    stack_->addWidget(chart_);
    differences_ = new RunCompareModel(this);
    table_ =
        createTable(differences_, "compareTable", tr("Settings in which the chosen runs differ"));
    table_->setHorizontalScrollBarPolicy(Qt::ScrollBarAsNeeded); // as many columns as runs
    table_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    stack_->addWidget(table_);
    parallel_ = new widgets::ParallelView;
    parallel_->setObjectName("parallelView");
    stack_->addWidget(parallel_);
    column->addWidget(stack_, 1);

    feeding_.setSingleShot(true);
    feeding_.setInterval(0);
    connect(&feeding_, &QTimer::timeout, this, &ComparePanel::feed);
    connect(tab_, &widgets::SegmentedControl::currentIndexChanged, this, &ComparePanel::refresh);
    connect(metric_, &QComboBox::activated, this, [this] {
        chosen_metric_ = metric_->currentText();
        refresh();
    });
    connect(&curves_, &RunCurves::arrived, this, [this] {
        if (tab_->currentIndex() == CurvesTab) {
            feeding_.start();
        }
    });
    refresh();
}

void ComparePanel::setRuns(std::vector<train::RunSummary> selected,
                           std::vector<train::RunSummary> listed) {
    const auto same = [](const auto& a, const auto& b, const auto& what) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                          [&](const auto& x, const auto& y) { return what(x) == what(y); });
    };
    const auto stamp = [](const train::RunSummary& run) { return run.folder.string() + run.stamp; };
    const auto folder = [](const train::RunSummary& run) { return run.folder; };
    if (same(selected, selected_, stamp) && same(listed, listed_, stamp)) {
        return;
    }
    const bool grown = same(selected, selected_, folder) && drawn_.size() == selected.size() &&
                       stack_->currentIndex() == CurvesSheet;
    for (std::size_t i = 0; grown && i < drawn_.size(); ++i) {
        drawn_[i].stale = drawn_[i].stale || stamp(selected[i]) != stamp(selected_[i]);
    }
    selected_ = std::move(selected);
    listed_ = std::move(listed);
    if (grown) {
        feed(); // the chart keeps what the user has zoomed to
        return;
    }
    drawn_.clear(); // a curve that arrives later finds nothing of the runs before
    fillMetrics();
    refresh();
}

// What most of the runs have stands first; what somebody chose stays while any of them has it.
void ComparePanel::fillMetrics() {
    metric_->clear();
    for (const std::string& name : metricsByUse(selected_.empty() ? listed_ : selected_)) {
        metric_->addItem(toQString(name));
    }
    metric_->setCurrentIndex(std::max(0, metric_->findText(chosen_metric_)));
}

std::string ComparePanel::metric() const {
    return metric_->currentText().toStdString();
}

void ComparePanel::refresh() {
    const int tab = tab_->currentIndex();
    metric_->setVisible(tab != SettingsTab && metric_->count() > 0);
    controls_->setVisible(tab == CurvesTab);
    axes_->setVisible(tab == ParallelTab);
    header_->setTitle(tr("Compare"));
    header_->setSubtitle({}); // how many are selected stands above their table
    if (tab == ParallelTab) {
        showParallel();
    } else if (selected_.empty()) {
        say(tr("No run selected"),
            tr("Select a run to see its curve, or 2 to %1 to compare them.").arg(kMostRuns));
    } else if (selected_.size() > kMostRuns) {
        say(tr("%1 runs are selected").arg(selected_.size()),
            tr("Up to %1 can be told apart. Parallel coordinates show more.").arg(kMostRuns));
    } else if (tab == CurvesTab) {
        showCurves();
    } else {
        showCompare();
    }
    export_->setEnabled(stack_->currentIndex() == CurvesSheet ||
                        stack_->currentIndex() == ParallelSheet);
}

void ComparePanel::say(const QString& title, const QString& text) {
    empty_->setTitle(title);
    empty_->setText(text);
    stack_->setCurrentIndex(RunsCompareMessageSheet);
}

void ComparePanel::showCurves() {
    if (metric_->count() == 0) {
        say(tr("Nothing measured yet"), tr("The selected runs have no numbers."));
        return;
    }
    chart_->clearAll();
    chart_->setAxisNames(tr("step"), metric_->currentText());
    chart_->setOverlayText({});
    drawn_.clear();
    for (std::size_t i = 0; i < selected_.size(); ++i) {
        const ComparedLine line = comparedLine(i);
        const QString name = nameOf(selected_[i]);
        const auto form =
            selected_.size() == 1 ? widgets::SeriesForm::Smoothed : widgets::SeriesForm::Thin;
        drawn_.push_back({chart_->addSeries({name, name, line.slot, form, line.dash}), nullptr, 0});
    }
    stack_->setCurrentIndex(CurvesSheet);
    feed();
}

// Hands over what has been read, a slice for each turn of the event loop.
void ComparePanel::feed() {
    bool any = false;
    bool waiting = false;
    std::size_t budget = kComparePanelPointsAtOnce;
    for (std::size_t i = 0; i < drawn_.size(); ++i) {
        Drawn& drawn = drawn_[i];
        if (drawn.curve == nullptr || drawn.stale) {
            Curve now = curves_.find(selected_[i], metric());
            if (now != drawn.curve) {
                chart_->clearSeries(drawn.series);
                drawn = {drawn.series, std::move(now), 0, false};
            }
        }
        if (drawn.curve == nullptr) {
            waiting = true;
            continue;
        }
        any = any || !drawn.curve->empty();
        std::vector<double> x;
        std::vector<double> y;
        for (; budget > 0 && drawn.points < drawn.curve->size(); --budget, ++drawn.points) {
            const train::MetricPoint& point = (*drawn.curve)[drawn.points];
            x.push_back(static_cast<double>(point.step));
            y.push_back(point.value);
        }
        chart_->append(drawn.series, x, y);
    }
    chart_->setOverlayText(any       ? QString()
                           : waiting ? tr("Reading the curves …")
                                     : tr("No points of this metric"));
    if (budget == 0) {
        feeding_.start();
    }
}

void ComparePanel::showCompare() {
    const auto runs = pointers(selected_);
    differences_->setRuns(runs);
    if (selected_.size() == 1) {
        say(tr("One run is selected"), tr("Select another one to see in what they differ."));
        return;
    }
    stack_->setCurrentIndex(SettingsSheet);
}

void ComparePanel::showParallel() {
    const bool chosen = selected_.size() > 1;
    const std::vector<train::RunSummary>& runs = chosen ? selected_ : listed_;
    if (runs.size() < 2) {
        say(tr("Nothing to compare"), tr("Parallel coordinates need two runs or more."));
        return;
    }
    std::vector<widgets::ParallelAxis> axes;
    const std::vector<VaryingSetting> settings = axis_settings(runs);
    for (const VaryingSetting& setting : settings) {
        if (!hidden_axes_.contains(setting.path) && axes.size() < kMostAxes) {
            axes.push_back(
                settingAxis(short_name(setting.path, settings), setting.values, setting.numbers));
        }
    }
    if (axes.empty()) {
        say(tr("The runs do not differ"),
            tr("No setting that has an axis varies among these %1 runs.").arg(runs.size()));
        return;
    }
    if (metric_->count() > 0) {
        axes.push_back(resultAxis(runs, metric()));
    }
    std::vector<widgets::ParallelLine> lines;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        lines.push_back(
            {nameOf(runs[i]), chosen && runs.size() <= kMostRuns ? static_cast<int>(i) : -1});
    }
    parallel_->setContent(std::move(axes), std::move(lines));
    header_->setSubtitle(chosen ? tr("%1 selected runs").arg(runs.size())
                                : tr("all %1 runs of the table").arg(runs.size()));
    stack_->setCurrentIndex(ParallelSheet);
}

void ComparePanel::chooseAxes() {
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    const std::vector<train::RunSummary>& runs = selected_.size() > 1 ? selected_ : listed_;
    int shown = 0;
    for (const VaryingSetting& setting : axis_settings(runs)) {
        QAction* entry = menu->addAction(widgets::menuText(setting.path));
        entry->setCheckable(true);
        const bool on = !hidden_axes_.contains(setting.path);
        entry->setChecked(on && shown < kMostAxes);
        entry->setEnabled(!on || shown < kMostAxes);
        shown += on ? 1 : 0;
        connect(entry, &QAction::toggled, this, [this, path = setting.path](bool checked) {
            if (checked) {
                hidden_axes_.removeAll(path);
            } else {
                hidden_axes_ << path;
            }
            refresh();
        });
    }
    if (menu->isEmpty()) {
        menu->addAction(tr("No setting varies"))->setEnabled(false);
    }
    menu->popup(axes_->mapToGlobal(QPoint(0, axes_->height() + widgets::space::kTight)));
}

void ComparePanel::exportView() {
    if (stack_->currentIndex() == CurvesSheet) {
        emit chart_->exportRequested();
    } else {
        exportDrawing(*parallel_, "runs-parallel",
                      [this](bool well, const QString& text) { emit exported(well, text); });
    }
}

} // namespace weft::ui
