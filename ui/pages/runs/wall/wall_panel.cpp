// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/runs/wall/wall_panel.h"

#include "ui/bridge/convert.h"
#include "ui/pages/chart_controls.h"
#include "ui/pages/runs/wall/wall_group.h"
#include "ui/pages/runs/wall/wall_values.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/card.h"
#include "widgets/controls/icon_button.h"
#include "widgets/controls/messages.h"
#include "widgets/curves/line_chart.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"

#include <QComboBox>
#include <QDateTime>
#include <QEvent>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QSlider>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <set>

namespace weft::ui {
namespace {

enum WallSheet { WallMessageSheet, WallChartsSheet };
enum WallLines { RunLines, RangeLines, DeviationLines };

constexpr std::size_t kWallPointsAtOnce = 65536;
constexpr std::size_t kWallMostPoints = std::size_t{16}
                                        << 20; // kept in charts, those in view aside
constexpr int kWallCellWidth = 270;            // at least, at text size 1
constexpr int kWallMostColumns = 4;
constexpr int kWallValuesFrom = 760; // width from which there is room for the table of values
constexpr double kWallSmoothing = 0.6;

std::string group_name(const std::string& metric) {
    const std::size_t slash = metric.find('/');
    return slash == std::string::npos ? std::string() : metric.substr(0, slash);
}

/// What validation says first, then training, then the others by name.
std::pair<int, std::string> order_of(const std::string& group) {
    return {group == "validation" ? 0 : group == "train" ? 1 : group == "test" ? 2 : 3, group};
}

/// In a group: the loss first, measures of quality, and what says how the machine fared last.
int rank_of(const std::string& metric) {
    const std::string name = metric.substr(metric.find('/') + 1);
    if (name == "loss") {
        return 0;
    }
    for (const char* late : {"samples_per_s", "tokens_per_s", "step_ms", "data_wait_ms"}) {
        if (name == late) {
            return 2;
        }
    }
    return 1;
}

/// Every word stands somewhere in it.
bool fits(const std::string& metric, const QString& search) {
    const QString name = toQString(metric) + ' ' + metricWords(metric);
    const QStringList words = search.split(' ', Qt::SkipEmptyParts);
    return std::all_of(words.begin(), words.end(), [&](const QString& word) {
        return name.contains(word, Qt::CaseInsensitive);
    });
}

} // namespace

WallPanel::WallPanel(RunCurves& curves, RunLooks& looks, QWidget* parent)
    : QWidget(parent), curves_(curves), looks_(looks) {
    setObjectName("wallPanel");
    link_ = new widgets::ChartLink(this);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(createControls());
    column->addWidget(new widgets::Hairline);
    stack_ = new QStackedWidget;
    empty_ = new widgets::EmptyState("train");
    stack_->addWidget(empty_);
    auto* parts = new widgets::ThinSplitter(Qt::Horizontal, "wallParts");
    auto* content = new widgets::Surface;
    column_ = new QVBoxLayout(content);
    column_->setContentsMargins(0, 0, 0, 0);
    column_->setSpacing(0);
    column_->addStretch(1);
    scroll_ = widgets::verticalScroll(content);
    scroll_->setObjectName("wallScroll");
    parts->addWidget(scroll_);
    values_ = new WallValues;
    parts->addWidget(values_);
    parts->setStretchFactor(0, 1);
    parts->setStretchFactor(1, 0);
    stack_->addWidget(parts);
    column->addWidget(stack_, 1);
    for (QTimer* timer : {&feeding_, &looking_, &valuing_}) {
        timer->setSingleShot(true);
        timer->setInterval(0);
    }
    connect(&feeding_, &QTimer::timeout, this, &WallPanel::feed);
    connect(&looking_, &QTimer::timeout, this, &WallPanel::look);
    connect(&valuing_, &QTimer::timeout, this, &WallPanel::showValues);
    connect(&curves_, &RunCurves::arrived, &feeding_, qOverload<>(&QTimer::start));
    connect(&looks_, &RunLooks::changed, this, &WallPanel::followRuns);
    connect(scroll_->verticalScrollBar(), &QScrollBar::valueChanged, &looking_,
            qOverload<>(&QTimer::start));
    connect(link_, &widgets::ChartLink::crosshairMoved, this, &WallPanel::showPlace);
    scroll_->viewport()->installEventFilter(this);
    followRuns();
}

WallPanel::~WallPanel() = default;

QPushButton* WallPanel::addToggle(const char* name, const QString& text, const QString& tip) {
    auto* button = new QPushButton(text);
    button->setObjectName(name);
    button->setCheckable(true);
    button->setToolTip(tip);
    widgets::setCompact(button);
    header_->addControl(button);
    connect(button, &QPushButton::toggled, this, &WallPanel::applyLook);
    return button;
}

QWidget* WallPanel::createControls() {
    header_ = new widgets::SectionHeader({});
    header_->setObjectName("wallHeader");
    search_ = new QLineEdit;
    search_->setObjectName("wallSearch");
    search_->setPlaceholderText(tr("Find"));
    search_->setAccessibleName(tr("Find charts by name"));
    search_->setClearButtonEnabled(true);
    search_->setMinimumWidth(72);
    search_->setMaximumWidth(140);
    widgets::setCompact(search_);
    header_->addControl(search_);
    connect(search_, &QLineEdit::textChanged, this, &WallPanel::fillGroups);
    controls_ =
        new ChartControls(*header_, {XAxis::Step, XAxis::Epoch, XAxis::Seconds, XAxis::Wall});
    controls_->smoothingSlider()->setObjectName("wallSmoothing");
    controls_->smoothingSlider()->setValue(static_cast<int>(100 * kWallSmoothing));
    controls_->axisBox()->setObjectName("wallAxis");
    connect(controls_, &ChartControls::axisChanged, this, &WallPanel::applyOptions);
    log_ = addToggle("wallLog", tr("Log y"), tr("Logarithmic y axes"));
    outliers_ =
        addToggle("wallOutliers", tr("Clip outliers"),
                  tr("Fit the y axes to the middle 98 % of the points; the others are counted"));
    lines_ = new QComboBox;
    lines_->setObjectName("wallLines");
    lines_->setAccessibleName(tr("What is drawn of groups"));
    lines_->addItem(tr("Runs"));
    lines_->addItem(tr("Mean, range"));
    lines_->addItem(tr("Mean, sd"));
    lines_->setToolTip(tr("Of groups: each run, or their mean with a band from the smallest to the "
                          "largest, or of one standard deviation. Group the table first."));
    widgets::setCompact(lines_);
    header_->addControl(lines_);
    connect(lines_, &QComboBox::currentIndexChanged, this, &WallPanel::applyOptions);
    header_->addControl(controls_->createLinkButton(*link_));
    connect(controls_, &ChartControls::smoothingChanged, this, [this] { valuing_.start(); });
    return header_;
}

WallOptions WallPanel::options() const {
    return {controls_->axis(), lines_->currentIndex() != RunLines,
            lines_->currentIndex() == DeviationLines ? compare::Band::deviation
                                                     : compare::Band::range};
}

void WallPanel::applyOptions() {
    for (const auto& [metric, cell] : known_) {
        cell->setOptions(options());
    }
    feeding_.start();
}

void WallPanel::applyLook() {
    for (const auto& [metric, cell] : known_) {
        cell->chart()->setLogScale(log_->isChecked());
        cell->chart()->setOutliersClipped(outliers_->isChecked());
    }
}

WallCell* WallPanel::cellOf(const std::string& metric) {
    WallCell*& cell = known_[metric];
    if (cell == nullptr) {
        cell = new WallCell(metric, curves_, looks_);
        cell->setOptions(options());
        cell->chart()->setLogScale(log_->isChecked());
        cell->chart()->setOutliersClipped(outliers_->isChecked());
        cell->highlight(highlighted_);
        controls_->take(*cell);
        link_->add(cell->chart());
        connect(cell, &ChartFrame::exported, this, &WallPanel::exported);
        connect(cell, &WallCell::fedAnew, &valuing_, qOverload<>(&QTimer::start));
        connect(cell, &WallCell::reportRequested, this,
                [this, cell] { emit reportRequested(cell); });
    }
    return cell;
}

void WallPanel::followRuns() {
    std::set<std::string> names;
    for (const train::RunSummary& run : looks_.runs()) {
        for (const auto& [name, metric] : run.metrics) {
            names.insert(name);
        }
    }
    std::vector<std::string> metrics(names.begin(), names.end());
    for (const auto& [metric, cell] : known_) {
        cell->invalidate();
    }
    lines_->setEnabled(!looks_.groupBy().isEmpty());
    lines_->setVisible(!looks_.groupBy().isEmpty()); // runs are drawn where there are no groups
    if (metrics != metrics_) {
        metrics_ = std::move(metrics);
        fillGroups();
    }
    if (looks_.runs().empty() || metrics_.empty()) {
        empty_->setTitle(looks_.runs().empty() ? tr("No runs in the table")
                                               : tr("Nothing measured yet"));
        empty_->setText(looks_.runs().empty() ? tr("A chart for each of their metrics stands here.")
                                              : tr("The runs of the table have no numbers."));
    }
    stack_->setCurrentIndex(cells_.empty() ? WallMessageSheet : WallChartsSheet);
    feeding_.start();
    valuing_.start();
}

// A chart goes on showing what it shows where its place is another.
void WallPanel::fillGroups() {
    std::map<std::pair<int, std::string>, std::vector<std::string>> by_group;
    for (const std::string& metric : metrics_) {
        if (fits(metric, search_->text())) {
            by_group[order_of(group_name(metric))].push_back(metric);
        }
    }
    for (const auto& [metric, cell] : known_) {
        cell->hide();
        cell->setParent(this);
    }
    for (WallGroup* group : groups_) {
        column_->removeWidget(group);
        group->hide();
        group->deleteLater();
    }
    groups_.clear();
    cells_.clear();
    for (auto& [key, metrics] : by_group) {
        std::stable_sort(metrics.begin(), metrics.end(),
                         [](const auto& a, const auto& b) { return rank_of(a) < rank_of(b); });
        auto* group = new WallGroup(key.second.empty() ? tr("other") : toQString(key.second));
        std::vector<WallCell*> cells;
        for (const std::string& metric : metrics) {
            cells.push_back(cellOf(metric));
        }
        cells_.insert(cells_.end(), cells.begin(), cells.end());
        group->setCells(std::move(cells));
        group->setFolded(folded_.contains(group->name()));
        column_->insertWidget(column_->count() - 1, group);
        connect(group, &WallGroup::foldedChanged, this, [this, group] {
            if (group->isFolded()) {
                folded_ << group->name();
            } else {
                folded_.removeAll(group->name());
            }
            looking_.start();
        });
        groups_.push_back(group);
    }
    if (cells_.empty() && !metrics_.empty()) {
        empty_->setTitle(tr("No chart of this name"));
        empty_->setText(tr("%1 charts have other names.").arg(metrics_.size()));
    }
    stack_->setCurrentIndex(cells_.empty() ? WallMessageSheet : WallChartsSheet);
    fit();
    looking_.start();
}

std::vector<WallCell*> WallPanel::visibleCells() const {
    std::vector<WallCell*> out;
    for (WallCell* cell : cells_) {
        if (cell->isFullScreen() || (cell->isVisible() && !cell->visibleRegion().isEmpty())) {
            out.push_back(cell);
        }
    }
    return out;
}

// What has come into view is fed; of what has left it, only so much is kept.
void WallPanel::look() {
    feeding_.start();
    if (visibleCells() != listed_) {
        valuing_.start();
    }
    std::size_t points = 0;
    for (const WallCell* cell : cells_) {
        points += cell->points();
    }
    for (WallCell* cell : cells_) {
        if (points > kWallMostPoints && cell->visibleRegion().isEmpty()) {
            points -= cell->points();
            cell->forget();
        }
    }
}

void WallPanel::feed() {
    if (!isVisible()) {
        return;
    }
    std::size_t budget = kWallPointsAtOnce;
    bool hungry = false;
    bool waiting = false;
    for (WallCell* cell : visibleCells()) {
        const WallCell::Fed fed = budget > 0 ? cell->feed(budget) : WallCell::Fed::Hungry;
        hungry = hungry || fed == WallCell::Fed::Hungry;
        waiting = waiting || fed == WallCell::Fed::Waiting;
    }
    if (hungry) {
        feeding_.start();
    }
    settled_ = !hungry && !waiting;
    if (budget < kWallPointsAtOnce || settled_) {
        valuing_.start();
    }
}

bool WallPanel::isSettled() const {
    return settled_ && !feeding_.isActive() && !looking_.isActive() && !valuing_.isActive();
}

void WallPanel::showValues() {
    listed_ = visibleCells();
    std::vector<WallValueModel::Section> sections;
    if (!values_->isHidden()) {
        for (const WallCell* cell : listed_) {
            sections.push_back(cell->section());
        }
    }
    const bool grouped = options().grouped && !looks_.groups().empty();
    values_->setSections(std::move(sections), grouped);
}

QString WallPanel::placeWords(double x) const {
    switch (controls_->axis()) {
    case XAxis::Seconds: return formatDuration(x);
    case XAxis::Wall:
        return QDateTime::fromSecsSinceEpoch(std::llround(x)).toString(QStringLiteral("HH:mm:ss"));
    case XAxis::Epoch: return tr("epoch %1").arg(widgets::formatDecimals(x, 2));
    default: return tr("step %1").arg(formatCount(std::llround(x)));
    }
}

void WallPanel::showPlace(std::optional<double> x) {
    if (!values_->isHidden()) {
        values_->setPlace(x, x ? placeWords(*x) : QString());
    }
}

void WallPanel::highlight(const std::filesystem::path& run) {
    if (run != highlighted_) {
        highlighted_ = run;
        for (const auto& [metric, cell] : known_) {
            cell->highlight(run);
        }
    }
}

void WallPanel::toggleFullScreen() {
    if (ChartFrame* frame = ChartFrame::chosen(cells_)) {
        frame->toggleFullScreen();
    }
}

WallState WallPanel::state() const {
    return {search_->text(),        folded_,           controls_->axis(),
            controls_->smoothing(), log_->isChecked(), outliers_->isChecked(),
            lines_->currentIndex()};
}

void WallPanel::setState(const WallState& state) {
    folded_ = state.folded;
    search_->setText(state.search);
    for (WallGroup* group : groups_) {
        const QSignalBlocker blocker(group);
        group->setFolded(folded_.contains(group->name()));
    }
    controls_->axisBox()->setCurrentIndex(
        std::max(0, controls_->axisBox()->findData(static_cast<int>(state.axis))));
    controls_->smoothingSlider()->setValue(static_cast<int>(std::lround(100 * state.smoothing)));
    log_->setChecked(state.log);
    outliers_->setChecked(state.outliers_clipped);
    lines_->setCurrentIndex(std::clamp(state.lines, 0, lines_->count() - 1));
    looking_.start();
}

void WallPanel::fit() {
    const double scale = widgets::Theme::current().fontScale();
    const bool room = width() >= kWallValuesFrom * scale;
    values_->setVisible(room);
    const int across = scroll_->viewport()->width();
    const int columns =
        std::clamp(static_cast<int>(across / (kWallCellWidth * scale)), 1, kWallMostColumns);
    for (WallGroup* group : groups_) {
        group->setColumns(columns);
    }
    for (const auto& [metric, cell] : known_) {
        cell->chart()->setReadoutShown(!room);
    }
}

void WallPanel::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fit();
    looking_.start();
}

void WallPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    looking_.start();
}

bool WallPanel::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Resize) {
        fit();
        looking_.start();
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace weft::ui
