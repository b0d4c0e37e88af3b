// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/curve_panel.h"

#include "ui/pages/chart_controls.h"
#include "ui/pages/live/chart_grid.h"
#include "widgets/controls/card.h"
#include "widgets/controls/icon_button.h"
#include "widgets/controls/text_label.h"
#include "widgets/curves/line_chart.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"

#include <QAction>
#include <QComboBox>
#include <QMenu>
#include <QPushButton>
#include <QShortcut>
#include <QSlider>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace weft::ui {
namespace {

constexpr QLatin1Char kLooks('|'); // in kept layouts: before what holds for one chart

struct Preset {
    const char* name;
    QStringList metrics;
};

std::vector<Preset> presets() {
    return {{QT_TRANSLATE_NOOP("CurvePanel", "Loss"), {"loss"}},
            {QT_TRANSLATE_NOOP("CurvePanel", "Loss, rate, norm"),
             {"loss", "learning_rate", "grad_norm"}},
            // What the machine does not tell has no chart: updateMissing says so.
            {QT_TRANSLATE_NOOP("CurvePanel", "System"),
             {"system/cpu_percent", "system/process_memory_bytes", "system/data_wait_percent",
              "system/disk_write_bytes_per_s", "system/network_received_bytes_per_s",
              "system/cpu_temperature_c"}},
            {QT_TRANSLATE_NOOP("CurvePanel", "First GPU"),
             {"system/gpu0_percent", "system/gpu0_memory_bytes", "system/gpu0_power_w",
              "system/gpu0_temperature_c", "system/data_wait_percent", "system/epoch_seconds"}},
            {QT_TRANSLATE_NOOP("CurvePanel", "All"),
             {"loss", "accuracy", "learning_rate", "grad_norm", "samples_per_s", "memory_mib"}}};
}

} // namespace

CurvePanel::CurvePanel(CurveRuns& runs, QWidget* parent) : QWidget(parent), runs_(runs) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    grid_ = new ChartGrid(runs_);
    column->addWidget(createHeader());
    missing_ = new widgets::TextLabel({}, widgets::TextStyle::Caption, widgets::Role::Muted);
    missing_->setObjectName("missingSensors");
    missing_->setWordWrap(true);
    missing_->setContentsMargins(widgets::space::kGroup, widgets::space::kTight,
                                 widgets::space::kGroup, widgets::space::kTight);
    column->addWidget(missing_);
    column->addWidget(grid_, 1);
    connect(grid_, &ChartGrid::cellAdded, this, &CurvePanel::takeCell);
    connect(grid_, &ChartGrid::metricsChanged, this, [this] {
        showPreset();
        updateMissing();
        emit layoutChanged();
    });
    grid_->setMetrics(presets()[1].metrics);

    const RunModel& run = runs_.shown();
    connect(&run, &RunModel::changed, this, &CurvePanel::updateMissing);
    connect(&run, &RunModel::reset, this, &CurvePanel::updateMissing);
    connect(&run, &RunModel::reset, this, &CurvePanel::restartSmoothedLoss);
    connect(&run, &RunModel::stepsRewound, this, &CurvePanel::restartSmoothedLoss);
    connect(&run, &RunModel::stepsAppended, this, &CurvePanel::updateSmoothedLoss);
    auto* full = new QShortcut(QKeySequence(Qt::Key_F11), this);
    connect(full, &QShortcut::activated, grid_, &ChartGrid::toggleFullScreen);
    restartSmoothedLoss();
}

QWidget* CurvePanel::createHeader() {
    auto* header = new widgets::SectionHeader(tr("Curves"));
    header->setSubtitle(tr("train line, raw faint · validation rings · one colour a run"));
    controls_ = new ChartControls(
        *header, {XAxis::Step, XAxis::Epoch, XAxis::Seconds, XAxis::Wall, XAxis::RelativeStep});
    controls_->smoothingSlider()->setObjectName("smoothing");
    controls_->axisBox()->setObjectName("xAxis");
    preset_ = new QComboBox;
    for (const Preset& preset : presets()) {
        preset_->addItem(QCoreApplication::translate("CurvePanel", preset.name));
    }
    preset_->setObjectName("chartPreset");
    preset_->setAccessibleName(tr("Which charts there are"));
    widgets::setCompact(preset_);
    header->addControl(preset_);
    add_ = widgets::iconButton("plus", "addChart", tr("Add a chart"));
    header->addControl(add_);
    QPushButton* linked = controls_->createLinkButton(*grid_->link());
    linked->setObjectName("linkCharts");
    header->addControl(linked);
    header->addControl(createViewButton());

    connect(controls_, &ChartControls::smoothingChanged, this, [this] {
        restartSmoothedLoss();
        emit layoutChanged();
    });
    connect(controls_, &ChartControls::axisChanged, this, [this](XAxis axis) {
        for (ChartCell* cell : grid_->cells()) {
            cell->setXAxis(axis);
        }
        emit layoutChanged();
    });
    connect(preset_, &QComboBox::activated, this, [this](int index) {
        const auto all = presets();
        if (index < static_cast<int>(all.size())) {
            grid_->setMetrics(all[static_cast<std::size_t>(index)].metrics);
        }
    });
    connect(add_, &QPushButton::clicked, grid_, &ChartGrid::addChart);
    return header;
}

// What is off unless asked for; an entry that would change nothing is disabled.
QWidget* CurvePanel::createViewButton() {
    QPushButton* button = widgets::iconButton("eye", "chartView", tr("What the charts show"));
    auto* menu = new QMenu(button);
    whole_run_ = menu->addAction(tr("The whole planned run"));
    whole_run_->setObjectName("showWholeRun");
    whole_run_->setCheckable(true);
    connect(whole_run_, &QAction::toggled, this, [this] {
        for (ChartCell* cell : grid_->cells()) {
            cell->setSpan(span());
        }
        emit layoutChanged();
    });
    taken_back_ = menu->addAction(tr("Steps that a resume took back"));
    taken_back_->setObjectName("showAbandoned");
    taken_back_->setCheckable(true);
    taken_back_->setEnabled(false);
    connect(taken_back_, &QAction::toggled, this, [this](bool shown) {
        for (ChartCell* cell : grid_->cells()) {
            cell->setTakenBackShown(shown);
        }
    });
    connect(button, &QPushButton::clicked, menu, [button, menu] {
        menu->popup(button->mapToGlobal(QPoint(0, button->height() + widgets::space::kTight)));
    });
    return button;
}

// Charts of what this machine does not tell are left out: why, is said once for all of them. Before
// the run has told anything of its machine nobody knows.
void CurvePanel::updateMissing() {
    const RunModel& run = runs_.shown();
    QStringList missing;
    bool told = false;
    bool gpu = false;
    for (const QString& id : grid_->metrics()) {
        const CurveMetric metric = curveMetric(run, id);
        const bool said = says(run, metric);
        told |= said && id.startsWith("system/");
        // An epoch may not have ended yet.
        if (id.startsWith("system/") && id != "system/epoch_seconds" && !said) {
            missing << metric.title;
            gpu |= id.startsWith("system/gpu");
        }
    }
    missing_->setText(
        !told || missing.isEmpty() || !isConfigured(run) ? QString()
        : gpu ? tr("Not told in this run, so without a chart: %1. It has no such GPU, or "
                   "its driver does not say.")
                    .arg(missing.join(", "))
              : tr("This machine has no sensor for it, so there is no chart: %1.")
                    .arg(missing.join(", ")));
    missing_->setVisible(!missing_->text().isEmpty());
}

ChartSpan CurvePanel::span() const {
    return whole_run_->isChecked() ? ChartSpan::WholeRun : ChartSpan::Trained;
}

void CurvePanel::takeCell(ChartCell* cell) {
    controls_->take(*cell);
    cell->setSpan(span());
    cell->setXAxis(controls_->axis());
    cell->setTakenBackShown(taken_back_->isChecked());
    connect(cell, &ChartCell::takenBackChanged, this, [this] {
        const auto& cells = grid_->cells();
        taken_back_->setEnabled(std::any_of(
            cells.begin(), cells.end(), [](const ChartCell* one) { return one->hasTakenBack(); }));
    });
    connect(cell, &ChartCell::checkpointRequested, this, &CurvePanel::checkpointRequested);
    connect(cell, &ChartCell::exported, this, &CurvePanel::exported);
    connect(cell->chart(), &widgets::LineChart::logScaleChanged, this, &CurvePanel::layoutChanged);
    connect(cell->chart(), &widgets::LineChart::outliersClippedChanged, this,
            &CurvePanel::layoutChanged);
}

void CurvePanel::showStep(std::int64_t step) {
    const auto x = xOfStep(runs_.shown(), controls_->axis(), static_cast<double>(step));
    for (ChartCell* cell : grid_->cells()) {
        if (x) {
            cell->showPlace(*x);
        }
    }
}

// The preset that the charts are, or a last entry that says they are the user's own.
void CurvePanel::showPreset() {
    const auto all = presets();
    const QStringList shown = grid_->metrics();
    const auto same = std::find_if(all.begin(), all.end(),
                                   [&](const Preset& preset) { return preset.metrics == shown; });
    const int own = static_cast<int>(all.size());
    if (same == all.end() && preset_->count() == own) {
        preset_->addItem(tr("Own choice"));
    } else if (same != all.end() && preset_->count() > own) {
        preset_->removeItem(own);
    }
    preset_->setCurrentIndex(static_cast<int>(same - all.begin()));
    const bool full = static_cast<int>(shown.size()) >= ChartGrid::kMostCharts;
    add_->setEnabled(!full);
    add_->setToolTip(full ? tr("Six charts are the most") : tr("Add a chart"));
}

QString CurvePanel::layoutText() const {
    QStringList charts;
    for (const ChartCell* cell : grid_->cells()) {
        const QString looks = QString(cell->chart()->isLogScale() ? "l" : "") +
                              (cell->chart()->areOutliersClipped() ? "o" : "");
        charts << cell->metric().id + (looks.isEmpty() ? QString() : kLooks + looks);
    }
    return QString("%1 %2 %3 %4")
        .arg(controls_->smoothingSlider()->value())
        .arg(controls_->axisBox()->currentIndex())
        .arg(charts.join(','))
        .arg(whole_run_->isChecked() ? 1 : 0);
}

void CurvePanel::setLayoutText(const QString& text) {
    const QStringList parts = text.split(' ');
    if (parts.size() != 4) {
        return; // none was kept, or by another version
    }
    QComboBox* axis = controls_->axisBox();
    controls_->smoothingSlider()->setValue(parts[0].toInt());
    axis->setCurrentIndex(std::clamp(parts[1].toInt(), 0, axis->count() - 1));
    whole_run_->setChecked(parts[3] == "1");
    const QStringList charts = parts[2].split(',', Qt::SkipEmptyParts);
    if (charts.isEmpty()) {
        return;
    }
    QStringList metrics;
    for (const QString& chart : charts) {
        metrics << chart.section(kLooks, 0, 0);
    }
    grid_->setMetrics(metrics);
    const std::vector<ChartCell*>& cells = grid_->cells();
    for (std::size_t i = 0; i < std::min(cells.size(), static_cast<std::size_t>(charts.size()));
         ++i) {
        const QString looks = charts[static_cast<qsizetype>(i)].section(kLooks, 1);
        cells[i]->chart()->setLogScale(looks.contains('l'));
        cells[i]->chart()->setOutliersClipped(looks.contains('o'));
    }
}

void CurvePanel::restartSmoothedLoss() {
    smoothed_points_ = 0;
    smoothed_loss_ = 0;
    updateSmoothedLoss();
}

// As the chart has it, for the number above it.
void CurvePanel::updateSmoothedLoss() {
    const std::vector<double>& loss = runs_.shown().steps().loss;
    if (smoothed_points_ < widgets::SeriesStore::kDensePoints) {
        smoothed_points_ = 0;
        smoother_ =
            widgets::Smoother(widgets::SeriesStore::weightOf(controls_->smoothing(), loss.size()));
    }
    for (; smoothed_points_ < loss.size(); ++smoothed_points_) {
        const double value = loss[smoothed_points_];
        smoothed_loss_ = std::isfinite(value) ? smoother_.add(value) : smoothed_loss_;
    }
}

} // namespace weft::ui
