// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/chart_grid.h"

#include "widgets/controls/arranging.h"
#include "widgets/curves/line_chart.h"

#include <QApplication>
#include <QPointer>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace weft::ui {
namespace {

constexpr int kMostInOneColumn = 3;
constexpr int kChartGridFirstShare = 5; // of the height, where the others of a column have
constexpr int kOtherShare = 2;
constexpr int kFirstOfTwoShare = 3;
constexpr int kColumnHeight = 540; // lower, at text size 1: the charts below the first one would
                                   // have no room for their axes
constexpr int kBesideWidth = 220;  // of a chart beside another: its title and tools have room
constexpr int kRowWidth = 1000;    // of each cell: only that it is the same counts

} // namespace

ChartGrid::ChartGrid(CurveRuns& runs, QWidget* parent) : QWidget(parent), runs_(runs) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    rows_ = new widgets::ThinSplitter(Qt::Vertical);
    column->addWidget(rows_);
    link_ = new widgets::ChartLink(this);
    connect(&runs_.shown(), &RunModel::reset, this, &ChartGrid::hideUnsaid);
    connect(&runs_.shown(), &RunModel::evaluationAdded, this, &ChartGrid::hideUnsaid);
}

QStringList ChartGrid::metrics() const {
    QStringList ids;
    for (const ChartCell* cell : cells_) {
        ids << cell->metric().id;
    }
    return ids;
}

void ChartGrid::setMetrics(const QStringList& metrics) {
    std::vector<ChartCell*> next;
    std::vector<ChartCell*> old = std::move(cells_);
    cells_.clear();
    for (const QString& id : metrics.mid(0, kMostCharts)) {
        const auto same = std::find_if(
            old.begin(), old.end(), [&](const ChartCell* cell) { return cell->metric().id == id; });
        if (same == old.end()) {
            next.push_back(createCell(id));
        } else {
            next.push_back(*same);
            old.erase(same);
        }
    }
    for (ChartCell* cell : old) {
        delete cell;
    }
    cells_ = std::move(next);
    arrange();
    emit metricsChanged();
}

void ChartGrid::addChart() {
    if (static_cast<int>(cells_.size()) >= kMostCharts) {
        return;
    }
    const QStringList shown = metrics();
    QString id = "loss";
    for (const CurveMetric& metric : curveMetrics(runs_.shown())) {
        if (!shown.contains(metric.id)) {
            id = metric.id;
            break;
        }
    }
    cells_.push_back(createCell(id));
    arrange();
    emit metricsChanged();
}

ChartCell* ChartGrid::createCell(const QString& metric) {
    auto* cell = new ChartCell(runs_, metric, this);
    link_->add(cell->chart());
    connect(cell, &ChartCell::metricChanged, this, &ChartGrid::metricsChanged);
    connect(
        cell, &ChartCell::removeRequested, this, [this, cell] { removeCell(cell); },
        Qt::QueuedConnection); // its own button asks for it
    emit cellAdded(cell);
    return cell;
}

void ChartGrid::removeCell(ChartCell* cell) {
    if (cells_.size() > 1 && std::erase(cells_, cell) > 0) {
        delete cell;
        arrange();
        emit metricsChanged();
    }
}

// How many charts stand in each row. Where a column would be too low, those below the first one
// share a row; where that has no room either, the page scrolls.
std::vector<int> ChartGrid::rowLengths() const {
    const int count = static_cast<int>(cells_.size());
    if (count <= kMostInOneColumn) {
        return !beside_     ? std::vector<int>(static_cast<std::size_t>(count), 1)
               : count == 3 ? std::vector<int>{1, 2}
                            : std::vector<int>{count};
    }
    std::vector<int> rows(static_cast<std::size_t>(count / 2), 2);
    if (count % 2 == 1) {
        rows.push_back(1);
    }
    return rows;
}

void ChartGrid::arrange() {
    const QPointer<QWidget> focus = QApplication::focusWidget(); // lost by what gets a new parent
    std::vector<QSplitter*> old;
    for (int i = 0; i < rows_->count(); ++i) {
        old.push_back(static_cast<QSplitter*>(rows_->widget(i)));
    }
    const std::vector<int> lengths = rowLengths();
    const bool first_alone = lengths.size() > 1 && lengths.front() == 1;
    auto cell = cells_.begin();
    QList<int> shares;
    for (const int length : lengths) {
        auto* row = new widgets::ThinSplitter(Qt::Horizontal);
        for (int i = 0; i < length; ++i, ++cell) {
            row->addWidget(*cell);
            (*cell)->setAlone(cells_.size() == 1);
            (*cell)->setOnTop(shares.isEmpty());
            (*cell)->chart()->setObjectName((*cell)->metric().id + "Chart");
        }
        rows_->addWidget(row);
        row->setSizes(QList<int>(row->count(), kRowWidth)); // not what a cell had elsewhere
        const bool larger = first_alone && shares.isEmpty();
        const int share = !larger ? kOtherShare : beside_ ? kFirstOfTwoShare : kChartGridFirstShare;
        rows_->setStretchFactor(rows_->indexOf(row), share);
        shares << share * 100;
    }
    for (QSplitter* row : old) {
        delete row;
    }
    rows_->setSizes(shares);
    hideUnsaid();
    if (focus != nullptr && isAncestorOf(focus)) {
        focus->setFocus();
    }
}

void ChartGrid::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    const double scale = widgets::Theme::current().fontScale();
    const bool beside = height() < kColumnHeight * scale && width() >= 2 * kBesideWidth * scale;
    if (std::exchange(beside_, beside) != beside) {
        arrange();
    }
}

void ChartGrid::hideUnsaid() {
    const auto seen = [this](const ChartCell* cell) { return says(runs_.shown(), cell->metric()); };
    const bool any = std::any_of(cells_.begin(), cells_.end(), seen);
    for (ChartCell* cell : cells_) {
        cell->setVisible(!any || seen(cell));
    }
    for (int i = 0; i < rows_->count(); ++i) {
        QWidget* row = rows_->widget(i);
        row->setVisible(std::any_of(cells_.begin(), cells_.end(), [&](const ChartCell* cell) {
            return cell->parentWidget() == row && !cell->isHidden();
        }));
    }
}

void ChartGrid::toggleFullScreen() {
    if (ChartFrame* frame = ChartFrame::chosen(cells_)) {
        frame->toggleFullScreen();
    }
}

} // namespace weft::ui
