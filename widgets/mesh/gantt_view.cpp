// SPDX-License-Identifier: GPL-3.0-or-later
// Data, places and input of the view; gantt_paint.cpp paints it.
#include "widgets/mesh/gantt_view.h"

#include "widgets/views/nearest_stretch.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::widgets {
namespace {

constexpr double kGanttLeft = 46.0; // badges stand here
constexpr double kGanttRight = 14.0;
constexpr double kGanttTop = 6.0;
constexpr double kMinimumPitch = 16.0;
constexpr double kMaximumPitch = 28.0;
constexpr double kZoomStep = 1.25;
constexpr int kFewestRows = 4; // that shall be visible without scrolling
constexpr double kFewestCells = 4.0;

double axisHeight() {
    return std::ceil(QFontMetricsF(Theme::current().font(TextStyle::MonoSmall)).height()) + 8.0;
}

} // namespace

GanttView::GanttView(QWidget* parent)
    : PaintedView(parent), scroll_(new QScrollBar(Qt::Vertical, this)) {
    setAccessibleName(tr("What the stages of the pipeline do when"));
    setToolTip(tr("Ctrl+wheel stretches the time, Shift+wheel moves it"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    scroll_->setAccessibleName(tr("Stages"));
    scroll_->hide();
    connect(scroll_, &QScrollBar::valueChanged, this, &GanttView::renew);
    connect(this, &PaintedView::cursorChanged, this, &GanttView::showCursor);
}

void GanttView::setData(GanttData data) {
    data_ = std::move(data);
    offsets_.assign(1, 0);
    makespan_ = 0;
    shortest_ = std::numeric_limits<double>::max();
    for (const GanttRow& row : data_.rows) {
        offsets_.push_back(offsets_.back() + static_cast<int>(row.cells.size()));
        for (const GanttCell& cell : row.cells) {
            makespan_ = std::max(makespan_, cell.end);
            shortest_ = std::min(shortest_, cell.end - cell.start);
        }
    }
    first_ = 0;
    last_ = makespan_;
    pointed_.reset();
    fitRows();
    renew();
    itemsChanged();
}

void GanttView::setStale(bool stale) {
    if (stale != stale_) {
        stale_ = stale;
        renew();
    }
}

void GanttView::setMark(std::optional<double> time) {
    if (time != mark_) {
        mark_ = time;
        update();
    }
}

std::vector<int> GanttView::itemsAt(double time) const {
    std::vector<int> out;
    for (int row = 0; row < static_cast<int>(data_.rows.size()); ++row) {
        const auto& cells = data_.rows[static_cast<std::size_t>(row)].cells;
        const int cell = cellNear(row, time);
        if (cell >= 0 && cells[static_cast<std::size_t>(cell)].start <= time &&
            time < cells[static_cast<std::size_t>(cell)].end) {
            out.push_back(itemOf(row, cell));
        }
    }
    return out;
}

void GanttView::renew() {
    still_.forget();
    update();
}

int GanttView::itemOf(int row, int cell) const {
    return offsets_[static_cast<std::size_t>(row)] + cell;
}

int GanttView::rowOf(int item) const {
    return static_cast<int>(std::upper_bound(offsets_.begin(), offsets_.end(), item) -
                            offsets_.begin()) -
           1;
}

const GanttCell& GanttView::cellOf(int item) const {
    const auto row = static_cast<std::size_t>(rowOf(item));
    return data_.rows[row].cells[static_cast<std::size_t>(item - offsets_[row])];
}

void GanttView::zoomTime(double factor, double around) {
    const double least = std::min(makespan_, shortest_ * kFewestCells);
    const double span = std::clamp((last_ - first_) / factor, least, makespan_);
    const double share = last_ > first_ ? (around - first_) / (last_ - first_) : 0.5;
    moveTimes(around - span * share, span);
}

void GanttView::showAllTime() {
    moveTimes(0, makespan_);
}

void GanttView::moveTimes(double first, double span) {
    first_ = std::clamp(first, 0.0, std::max(0.0, makespan_ - span));
    last_ = first_ + span;
    renew();
}

// The cell under the cursor is made visible, with a cell's length around it.
void GanttView::showCursor() {
    if (cursorItem() < 0) {
        return;
    }
    const GanttCell& cell = cellOf(cursorItem());
    const double length = cell.end - cell.start;
    const double span = last_ - first_;
    if (cell.start < first_) {
        moveTimes(cell.start - length, span);
    } else if (cell.end > last_) {
        moveTimes(cell.end + length - span, span);
    }
    const int row = rowOf(cursorItem());
    const Frame now = frame(size());
    if (row < now.first_row) {
        scroll_->setValue(row);
    } else if (row >= now.first_row + now.rows) {
        scroll_->setValue(row - now.rows + 1);
    }
}

GanttView::Frame GanttView::frame(const QSizeF& view_size) const {
    Frame out;
    const auto rows = static_cast<double>(std::max<std::size_t>(1, data_.rows.size()));
    const double height = std::max(kMinimumPitch, view_size.height() - kGanttTop - axisHeight());
    out.pitch = std::floor(std::clamp(height / rows, kMinimumPitch, kMaximumPitch));
    out.rows = static_cast<int>(std::min(rows, std::floor(height / out.pitch)));
    out.first_row = std::min(scroll_->value(), static_cast<int>(rows) - out.rows);
    const double bar = out.rows < static_cast<int>(rows) ? scroll_->sizeHint().width() : 0.0;
    out.plot = QRectF(kGanttLeft, kGanttTop,
                      std::max(1.0, view_size.width() - kGanttLeft - kGanttRight - bar),
                      out.pitch * out.rows);
    return out;
}

double GanttView::xOf(double time, const Frame& frame) const {
    const double span = std::max(last_ - first_, std::numeric_limits<double>::min());
    return frame.plot.left() + frame.plot.width() * (time - first_) / span;
}

double GanttView::timeAt(double x, const Frame& frame) const {
    return first_ + (last_ - first_) * (x - frame.plot.left()) / frame.plot.width();
}

QRectF GanttView::rowRect(int row, const Frame& frame) const {
    const double gap = frame.pitch >= 20.0 ? 4.0 : 2.0;
    return {frame.plot.left(), frame.plot.top() + frame.pitch * (row - frame.first_row),
            frame.plot.width(), frame.pitch - gap};
}

// On whole pixels, and cut to the plot: pictures in SVG have no clip.
QRectF GanttView::cellRect(const GanttCell& cell, const QRectF& row, const Frame& frame) const {
    const double left = std::round(std::max(row.left(), xOf(cell.start, frame)));
    const double right = std::round(std::min(row.right(), xOf(cell.end, frame)));
    return {left, row.top(), std::max(1.0, right - left), row.height()};
}

std::pair<std::size_t, std::size_t> GanttView::cellsInSight(int row) const {
    const std::vector<GanttCell>& cells = data_.rows[static_cast<std::size_t>(row)].cells;
    const auto first = std::partition_point(
        cells.begin(), cells.end(), [&](const GanttCell& cell) { return cell.end <= first_; });
    const auto behind = std::partition_point(
        first, cells.end(), [&](const GanttCell& cell) { return cell.start < last_; });
    return {static_cast<std::size_t>(first - cells.begin()),
            static_cast<std::size_t>(behind - cells.begin())};
}

int GanttView::cellNear(int row, double time) const {
    return nearestStretch(data_.rows[static_cast<std::size_t>(row)].cells, time);
}

QString GanttView::timeText(double time) const {
    return QString::number(time, 'f', makespan_ >= 10.0 ? 1 : makespan_ >= 1.0 ? 2 : 3);
}

ViewItem GanttView::item(int index) const {
    const GanttCell& cell = cellOf(index);
    const int row = rowOf(index);
    const Frame now = frame(size());
    const QString names[] = {tr("forward"), tr("backward"), tr("input gradient"),
                             tr("weight gradient")};
    QString microbatch = QString::number(cell.microbatch);
    if (data_.chunks > 1) {
        microbatch += QLatin1Char('.') + QString::number(cell.chunk);
    }
    ViewItem out;
    out.rect = cellRect(cell, rowRect(row, now), now);
    out.name = tr("stage %1: %2 of microbatch %3, %4 to %5 %6")
                   .arg(row)
                   .arg(names[static_cast<int>(cell.kind)], microbatch, timeText(cell.start),
                        timeText(cell.end), data_.unit);
    return out;
}

int GanttView::hitTest(const QPointF& position) const {
    const Frame now = frame(size());
    if (!now.plot.contains(position)) {
        return -1;
    }
    const int row = now.first_row + static_cast<int>((position.y() - now.plot.top()) / now.pitch);
    if (row >= static_cast<int>(data_.rows.size()) || !rowRect(row, now).contains(position)) {
        return -1;
    }
    const int cell = cellNear(row, timeAt(position.x(), now));
    const bool hit = cell >= 0 && item(itemOf(row, cell)).rect.contains(position);
    return hit ? itemOf(row, cell) : -1;
}

QSize GanttView::minimumSizeHint() const {
    const int rows = std::clamp(static_cast<int>(data_.rows.size()), 1, kFewestRows);
    return {200, static_cast<int>(kGanttTop + kMinimumPitch * rows + axisHeight())};
}

int GanttView::neighbour(int index, int key) const {
    const int row = rowOf(index);
    if (key == Qt::Key_Left || key == Qt::Key_Right) {
        const int next = index + (key == Qt::Key_Left ? -1 : 1);
        return next >= 0 && next < itemCount() && rowOf(next) == row ? next : index;
    }
    const GanttCell& cell = cellOf(index);
    const int step = key == Qt::Key_Up ? -1 : 1;
    for (int other = row + step; other >= 0 && other < static_cast<int>(data_.rows.size());
         other += step) {
        if (const int found = cellNear(other, (cell.start + cell.end) / 2.0); found >= 0) {
            return itemOf(other, found);
        }
    }
    return index;
}

void GanttView::mouseMoveEvent(QMouseEvent* event) {
    const Frame now = frame(size());
    const std::optional<double> before = pointed_;
    pointed_ = now.plot.contains(event->position()) && makespan_ > 0
                   ? std::optional(timeAt(event->position().x(), now))
                   : std::nullopt;
    if (pointed_ != before) {
        update();
    }
    PaintedView::mouseMoveEvent(event);
}

void GanttView::leaveEvent(QEvent* event) {
    pointed_.reset();
    update();
    PaintedView::leaveEvent(event);
}

void GanttView::wheelEvent(QWheelEvent* event) {
    const double turns = (event->angleDelta().y() + event->angleDelta().x()) / 120.0;
    const bool sideways = event->modifiers() & Qt::ShiftModifier || event->angleDelta().x() != 0;
    if (event->modifiers() & Qt::ControlModifier) {
        zoomTime(std::pow(kZoomStep, turns), timeAt(event->position().x(), frame(size())));
    } else if (sideways && last_ - first_ < makespan_) {
        moveTimes(first_ - turns * (last_ - first_) / 10.0, last_ - first_);
    } else if (!sideways && !scroll_->isHidden()) {
        scroll_->setValue(scroll_->value() - static_cast<int>(std::round(turns)));
    } else {
        event->ignore();
    }
}

void GanttView::keyPressEvent(QKeyEvent* event) {
    const bool zoom_in = event->key() == Qt::Key_Plus || event->key() == Qt::Key_Equal;
    if (zoom_in || event->key() == Qt::Key_Minus) {
        const double around =
            cursorItem() < 0 ? (first_ + last_) / 2.0 : cellOf(cursorItem()).start;
        zoomTime(zoom_in ? kZoomStep : 1.0 / kZoomStep, around);
    } else if (event->key() == Qt::Key_0) {
        showAllTime();
    } else {
        PaintedView::keyPressEvent(event);
    }
}

void GanttView::fitRows() {
    const Frame now = frame(size());
    const int rest = std::max(0, static_cast<int>(data_.rows.size()) - now.rows);
    scroll_->setRange(0, rest);
    scroll_->setPageStep(std::max(1, now.rows));
    scroll_->setVisible(rest > 0);
    const int width = scroll_->sizeHint().width();
    scroll_->setGeometry(this->width() - width, static_cast<int>(kGanttTop), width,
                         static_cast<int>(now.plot.height()));
}

void GanttView::resizeEvent(QResizeEvent* event) {
    PaintedView::resizeEvent(event);
    fitRows();
    renew();
}

void GanttView::changeEvent(QEvent* event) {
    PaintedView::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        fitRows();
    }
}

// A stage's badge says what the stage holds.
bool GanttView::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const Frame now = frame(size());
        const double y = help->pos().y() - now.plot.top();
        const int row = now.first_row + static_cast<int>(y / now.pitch);
        if (help->pos().x() < now.plot.left() && y >= 0 && y < now.plot.height() &&
            row < static_cast<int>(data_.rows.size())) {
            const QString& note = data_.rows[static_cast<std::size_t>(row)].note;
            QToolTip::showText(help->globalPos(),
                               note.isEmpty() ? tr("stage %1").arg(row)
                                              : tr("stage %1: %2").arg(row).arg(note),
                               this);
            return true;
        }
    }
    return PaintedView::event(event);
}

} // namespace weft::widgets
