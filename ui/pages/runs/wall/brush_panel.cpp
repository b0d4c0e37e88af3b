// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/runs/wall/brush_panel.h"

#include "core/compare/statistics.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/run/run_facts.h"
#include "ui/forms/number_text.h"
#include "ui/pages/drawings.h"
#include "ui/pages/runs/axes.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/icon_button.h"
#include "widgets/controls/messages.h"
#include "widgets/curves/scatter_view.h"
#include "widgets/look/style.h"
#include "widgets/views/parallel_view.h"

#include <QComboBox>
#include <QPushButton>
#include <QSet>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

enum BrushSheet { BrushMessageSheet, BrushParallelSheet, BrushScatterSheet };
constexpr std::size_t kMostBrushAxes = 7; // besides the result

widgets::ParallelAxis axis_of_setting(const compare::VaryingSetting& setting, const QString& name) {
    std::vector<QString> texts;
    std::vector<std::optional<double>> numbers;
    for (const std::optional<config::Json>& value : setting.values) {
        const bool given = value && !value->is_null();
        texts.push_back(given ? settingText(*value) : QString());
        if (setting.numeric) {
            numbers.push_back(given ? std::optional(value->get<double>()) : std::nullopt);
        }
    }
    return settingAxis(name, texts, numbers);
}

/// Where all runs that have a setting agree, a line would say only that others have none.
bool has_axis(const compare::VaryingSetting& setting) {
    QSet<QString> values;
    for (const std::string& text : setting.texts()) {
        if (!text.empty()) {
            values.insert(toQString(text));
        }
    }
    return values.size() > 1;
}

std::vector<widgets::ParallelLine> lines_of(const RunLooks& looks) {
    std::vector<widgets::ParallelLine> lines;
    for (const train::RunSummary& run : looks.runs()) {
        lines.push_back({nameOf(run), looks.lookOf(run.folder).slot});
    }
    return lines;
}

} // namespace

BrushPanel::BrushPanel(RunLooks& looks, const RunSettings& settings, QWidget* parent)
    : Surface(widgets::Role::Surface, parent), looks_(looks), settings_(settings) {
    setObjectName("brushPanel");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(createHeader());
    column->addWidget(new widgets::Hairline);
    stack_ = new QStackedWidget;
    empty_ = new widgets::EmptyState("compare");
    stack_->addWidget(empty_);
    parallel_ = new widgets::ParallelView;
    parallel_->setObjectName("brushParallel");
    parallel_->setBrushable(true);
    stack_->addWidget(parallel_);
    scatter_ = new widgets::ScatterView;
    scatter_->setObjectName("brushScatter");
    stack_->addWidget(scatter_);
    column->addWidget(stack_, 1);
    connect(parallel_, &widgets::ParallelView::brushChanged, this, &BrushPanel::showBrushed);
    connect(scatter_, &widgets::ScatterView::brushChanged, this, &BrushPanel::showBrushed);
    connect(form_, &widgets::SegmentedControl::currentIndexChanged, this, &BrushPanel::refresh);
    connect(&settings_, &RunSettings::changed, this, [this] {
        fillSettings();
        refresh();
    });
    connect(&looks_, &RunLooks::changed, this, &BrushPanel::refresh);
    fillSettings();
    refresh();
}

QWidget* BrushPanel::createHeader() {
    header_ = new widgets::SectionHeader(tr("Settings"));
    const auto button = [this](const char* name, const QString& text, const QString& tip) {
        auto* out = new QPushButton(text);
        out->setObjectName(name);
        out->setToolTip(tip);
        widgets::setCompact(out);
        header_->addControl(out);
        return out;
    };
    keep_ =
        button("keepBrushed", tr("Keep only these"),
               tr("Drag along an axis to choose runs; then only those are drawn on the charts"));
    connect(keep_, &QPushButton::clicked, this, &BrushPanel::keepBrushed);
    all_ = button("showAllRuns", tr("Show all"), tr("Draw every run of the table again"));
    connect(all_, &QPushButton::clicked, this, [this] { looks_.showAll(); });
    setting_ = new QComboBox;
    setting_->setObjectName("scatterSetting");
    setting_->setAccessibleName(tr("Setting across"));
    setting_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    setting_->setMinimumContentsLength(12);
    widgets::setCompact(setting_);
    header_->addControl(setting_);
    connect(setting_, &QComboBox::activated, this, &BrushPanel::refresh);
    export_ = widgets::iconButton("export", "brushExport", tr("Export the picture"));
    header_->addControl(export_);
    connect(export_, &QPushButton::clicked, this, [this] {
        const auto done = [this](bool well, const QString& text) { emit exported(well, text); };
        if (stack_->currentIndex() == BrushScatterSheet) {
            exportDrawing(*scatter_, "runs-scatter", done);
        } else {
            exportDrawing(*parallel_, "runs-parallel", done);
        }
    });
    form_ = new widgets::SegmentedControl({tr("Parallel"), tr("Scatter")});
    form_->setObjectName("brushForm");
    form_->setAccessibleName(tr("Kind of picture"));
    form_->setCompact(true);
    header_->addControl(form_);
    return header_;
}

void BrushPanel::setMetric(const std::string& metric) {
    if (metric != metric_) {
        metric_ = metric;
        refresh();
    }
}

// The settings are found a moment later than the list.
bool BrushPanel::isKnown() const {
    const std::vector<train::RunSummary>& runs = looks_.runs();
    if (runs.size() != settings_.folders().size()) {
        return false;
    }
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (runs[i].folder != settings_.folders()[i]) {
            return false;
        }
    }
    return true;
}

void BrushPanel::fillSettings() {
    const QVariant before = setting_->currentData();
    const QSignalBlocker blocker(setting_);
    setting_->clear();
    for (const compare::VaryingSetting& setting : settings_.settings()) {
        if (has_axis(setting)) {
            const QString path = toQString(setting.path);
            setting_->addItem(settings_.shortName(path), path);
        }
    }
    setting_->setCurrentIndex(std::max(0, setting_->findData(before)));
}

void BrushPanel::refresh() {
    const bool scatter = form_->currentIndex() == 1;
    setting_->setVisible(scatter);
    if (!isKnown()) {
        return; // what is shown stays until they are
    }
    const bool drawable = setting_->count() > 0 && looks_.runs().size() > 1;
    export_->setEnabled(drawable);
    if (!drawable) {
        empty_->setTitle(tr("Nothing to compare"));
        empty_->setText(tr("Two runs that differ in a setting are needed."));
        stack_->setCurrentIndex(BrushMessageSheet);
    } else {
        scatter ? showScatter() : showParallel();
        stack_->setCurrentIndex(scatter ? BrushScatterSheet : BrushParallelSheet);
    }
    showBrushed();
}

void BrushPanel::showParallel() {
    std::vector<widgets::ParallelAxis> axes;
    for (const compare::VaryingSetting& setting : settings_.settings()) {
        if (axes.size() < kMostBrushAxes && has_axis(setting)) {
            axes.push_back(axis_of_setting(setting, settings_.shortName(toQString(setting.path))));
        }
    }
    if (!metric_.empty()) {
        axes.push_back(resultAxis(looks_.runs(), metric_));
    }
    parallel_->setContent(std::move(axes), lines_of(looks_));
}

void BrushPanel::showScatter() {
    const compare::VaryingSetting* setting = settings_.find(setting_->currentData().toString());
    if (setting == nullptr || metric_.empty()) {
        return;
    }
    scatter_->setContent(axis_of_setting(*setting, toQString(setting->path)),
                         resultAxis(looks_.runs(), metric_), lines_of(looks_));
    const auto correlation =
        setting->numeric ? compare::rank_correlation(setting->numbers(),
                                                     resultsOf(looks_.runs(), metric_).numbers())
                         : std::nullopt;
    scatter_->setCaption(correlation ? tr("rank correlation %1 of %2 runs (Spearman)")
                                           .arg(widgets::formatDecimals(correlation->value, 2))
                                           .arg(correlation->runs)
                                     : QString());
}

bool BrushPanel::hasBrush() const {
    return stack_->currentIndex() == BrushScatterSheet ? scatter_->hasBrush()
                                                       : parallel_->hasBrush();
}

std::vector<std::filesystem::path> BrushPanel::brushed() const {
    std::vector<std::filesystem::path> out;
    const bool scatter = stack_->currentIndex() == BrushScatterSheet;
    const int count = scatter ? scatter_->itemCount() : parallel_->itemCount();
    for (int i = 0; i < count && i < static_cast<int>(looks_.runs().size()); ++i) {
        if (scatter ? scatter_->isBrushed(i) : parallel_->isBrushed(i)) {
            out.push_back(looks_.runs()[static_cast<std::size_t>(i)].folder);
        }
    }
    return out;
}

void BrushPanel::showBrushed() {
    const bool brush = hasBrush();
    header_->setSubtitle(
        brush ? tr("%1 of %2 brushed").arg(brushed().size()).arg(looks_.runs().size()) : QString());
    keep_->setEnabled(brush && !brushed().empty());
    all_->setVisible(looks_.shownCount() < looks_.runs().size());
}

void BrushPanel::keepBrushed() {
    const std::vector<std::filesystem::path> chosen = brushed();
    looks_.showOnly(chosen);
}

} // namespace weft::ui
