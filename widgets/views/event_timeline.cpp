// SPDX-License-Identifier: GPL-3.0-or-later
// Data, places and input of the timeline; event_timeline_paint.cpp paints it.
#include "widgets/views/event_timeline.h"

#include "widgets/views/nearest_stretch.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::widgets {
namespace {

constexpr double kEventsRight = 14.0;
constexpr double kTimelineTop = 4.0;
constexpr double kOverviewHeight = 16.0;
constexpr double kTallRow = 24.0;
constexpr double kThinRow = 15.0;
constexpr double kTimelineRowGap = 3.0;
constexpr double kTimelineZoom = 1.25;
constexpr double kFewestSpans = 3.0; // of the shortest length, in the narrowest view
constexpr double kDragStarts = 3.0;
constexpr int kRowsInSight = 4;

double timelineLine() {
    return std::ceil(QFontMetricsF(Theme::current().font(TextStyle::MonoSmall)).height());
}

double nameWidth(const EventTimelineData& data) {
    const QFont font = Theme::current().font(TextStyle::Caption);
    double out = std::ceil(textWidth(font, EventTimeline::tr("whole step")));
    for (const EventRow& row : data.rows) {
        out = std::max(out, std::ceil(textWidth(font, row.name)));
    }
    return std::min(out, 120.0 * Theme::current().fontScale()) + 2.0 * space::kGroup;
}

} // namespace

EventTimeline::EventTimeline(QWidget* parent)
    : PaintedView(parent), scroll_(new QScrollBar(Qt::Vertical, this)) {
    setAccessibleName(tr("What each device did when"));
    setToolTip(tr("Ctrl+wheel stretches the time, dragging moves it"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    scroll_->setAccessibleName(tr("Rows"));
    scroll_->hide();
    connect(scroll_, &QScrollBar::valueChanged, this, &EventTimeline::renew);
    connect(this, &PaintedView::cursorChanged, this, &EventTimeline::showCursor);
}

void EventTimeline::setData(EventTimelineData data, bool keep_time) {
    data_ = std::move(data);
    offsets_.assign(1, 0);
    shortest_ = data_.length;
    for (const EventRow& row : data_.rows) {
        offsets_.push_back(offsets_.back() + static_cast<int>(row.spans.size()));
        for (const EventSpan& span : row.spans) {
            if (span.end > span.start) {
                shortest_ = std::min(shortest_, span.end - span.start);
            }
        }
    }
    if (!keep_time || last_ <= first_ || last_ > data_.length) {
        first_ = 0;
        last_ = data_.length;
    }
    if (marked_.size() != data_.labels.size()) {
        marked_.clear();
    }
    setCursorItem(-1); // another step's stretches stand under its number
    fitRows();
    renew();
    itemsChanged();
    emit timeChanged();
}

void EventTimeline::setMarked(std::vector<bool> marked) {
    marked_ = std::move(marked);
    renew();
}

void EventTimeline::showMarked() {
    const EventSpan* found = nullptr;
    for (const EventRow& row : data_.rows) {
        for (const EventSpan& span : row.spans) {
            if (isMarked(span)) {
                if (span.end > first_ && span.start < last_) {
                    return;
                }
                found = found == nullptr ? &span : found;
            }
        }
    }
    if (found != nullptr) {
        moveTo((found->start + found->end) / 2 - (last_ - first_) / 2);
    }
}

void EventTimeline::renew() {
    still_.forget();
    update();
}

int EventTimeline::rowOf(int item) const {
    return static_cast<int>(std::upper_bound(offsets_.begin(), offsets_.end(), item) -
                            offsets_.begin()) -
           1;
}

const EventSpan& EventTimeline::spanOf(int item) const {
    const auto row = static_cast<std::size_t>(rowOf(item));
    return data_.rows[row].spans[static_cast<std::size_t>(item - offsets_[row])];
}

bool EventTimeline::isMarked(const EventSpan& span) const {
    const auto label = static_cast<std::size_t>(span.label);
    return label < marked_.size() && marked_[label];
}

void EventTimeline::zoomTime(double factor, double around) {
    const double least = std::min(data_.length, shortest_ * kFewestSpans);
    const double span = std::clamp((last_ - first_) / factor, least, data_.length);
    const double share = last_ > first_ ? (around - first_) / (last_ - first_) : 0.5;
    showTime(around - span * share, around + span * (1 - share));
}

void EventTimeline::showTime(double first, double last) {
    const double span = std::clamp(last - first, 0.0, data_.length);
    first_ = std::clamp(first, 0.0, data_.length - span);
    last_ = first_ + span;
    renew();
    emit timeChanged();
}

void EventTimeline::moveTo(double first) {
    const double span = last_ - first_;
    showTime(first, first + span);
}

void EventTimeline::showCursor() {
    if (cursorItem() < 0) {
        return;
    }
    const EventSpan& span = spanOf(cursorItem());
    if (span.end <= first_ || span.start >= last_) {
        moveTo((span.start + span.end) / 2 - (last_ - first_) / 2);
    }
    const auto row = static_cast<std::size_t>(rowOf(cursorItem()));
    const double seen = frame(size()).plot.height();
    if (tops_[row] < scroll_->value()) {
        scroll_->setValue(static_cast<int>(tops_[row]));
    } else if (tops_[row + 1] > scroll_->value() + seen) {
        scroll_->setValue(static_cast<int>(std::ceil(tops_[row + 1] - seen)));
    }
}

double EventTimeline::rowsHeight() const {
    return tops_.back();
}

EventTimeline::Frame EventTimeline::frame(const QSizeF& view_size) const {
    Frame out;
    const double left = nameWidth(data_);
    const double top = kTimelineTop + kOverviewHeight + timelineLine() + 6.0;
    const double height = std::max(1.0, std::min(rowsHeight(), view_size.height() - top));
    const double bar = rowsHeight() > height + 0.5 ? scroll_->sizeHint().width() : 0.0;
    const double width = std::max(1.0, view_size.width() - left - kEventsRight - bar);
    out.overview = QRectF(left, kTimelineTop, width, kOverviewHeight);
    out.axis = QRectF(left, kTimelineTop + kOverviewHeight, width, timelineLine() + 6.0);
    out.plot = QRectF(left, top, width, height);
    return out;
}

QRectF EventTimeline::rowRect(int row, const Frame& frame) const {
    const auto at = static_cast<std::size_t>(row);
    return {frame.plot.left(), frame.plot.top() + tops_[at] - scroll_->value(), frame.plot.width(),
            tops_[at + 1] - tops_[at] - kTimelineRowGap};
}

double EventTimeline::xOf(double time, const Frame& frame) const {
    const double span = std::max(last_ - first_, std::numeric_limits<double>::min());
    return frame.plot.left() + frame.plot.width() * (time - first_) / span;
}

double EventTimeline::timeAt(double x, const Frame& frame) const {
    return first_ + (last_ - first_) * (x - frame.plot.left()) / frame.plot.width();
}

// On whole pixels, and cut to the plot: pictures in SVG have no clip.
QRectF EventTimeline::spanRect(const EventSpan& span, const QRectF& row, const Frame& frame) const {
    const double left = std::round(std::clamp(xOf(span.start, frame), row.left(), row.right()));
    const double right = std::round(std::clamp(xOf(span.end, frame), row.left(), row.right()));
    return {left, row.top(), std::max(1.0, right - left), row.height()};
}

int EventTimeline::spanNear(int row, double time) const {
    return nearestStretch(data_.rows[static_cast<std::size_t>(row)].spans, time);
}

QString EventTimeline::timeText(double time) const {
    const double span = std::max(last_ - first_, 1e-9);
    const int decimals = std::clamp(static_cast<int>(std::ceil(3.0 - std::log10(span))), 0, 6);
    return QString::number(time, 'f', decimals);
}

ViewItem EventTimeline::item(int index) const {
    const EventSpan& span = spanOf(index);
    const int row = rowOf(index);
    const Frame now = frame(size());
    const EventLabel& label = data_.labels[static_cast<std::size_t>(span.label)];
    ViewItem out;
    out.rect = spanRect(span, rowRect(row, now), now);
    const QString name = span.kind == SpanKind::Waiting
                             ? tr("%1 waits for other devices").arg(label.name)
                             : label.name;
    out.name =
        tr("%1: %2, %3 %4 from %5")
            .arg(data_.rows[static_cast<std::size_t>(row)].name, name,
                 QString::number(span.end - span.start, 'f', 3), data_.unit, timeText(span.start));
    if (!label.detail.isEmpty()) {
        out.name += QLatin1Char('\n') + label.detail;
    }
    return out;
}

int EventTimeline::hitTest(const QPointF& position) const {
    const Frame now = frame(size());
    if (!now.plot.contains(position)) {
        return -1;
    }
    for (int row = 0; row < static_cast<int>(data_.rows.size()); ++row) {
        const QRectF place = rowRect(row, now);
        if (place.contains(position)) {
            const int span = spanNear(row, timeAt(position.x(), now));
            const int item = span < 0 ? -1 : offsets_[static_cast<std::size_t>(row)] + span;
            return item >= 0 && spanRect(spanOf(item), place, now).contains(position) ? item : -1;
        }
    }
    return -1;
}

QSize EventTimeline::sizeHint() const {
    const double top = kTimelineTop + kOverviewHeight + timelineLine() + 6.0;
    return {520, static_cast<int>(std::ceil(top + rowsHeight())) + 4};
}

QSize EventTimeline::minimumSizeHint() const {
    const double top = kTimelineTop + kOverviewHeight + timelineLine() + 6.0;
    const std::size_t rows = std::min<std::size_t>(kRowsInSight, data_.rows.size());
    return {240, static_cast<int>(std::ceil(top + std::max(kTallRow, tops_[rows]))) + 2};
}

int EventTimeline::neighbour(int index, int key) const {
    const int row = rowOf(index);
    if (key == Qt::Key_Left || key == Qt::Key_Right) {
        const int next = index + (key == Qt::Key_Left ? -1 : 1);
        return next >= 0 && next < itemCount() && rowOf(next) == row ? next : index;
    }
    const EventSpan& span = spanOf(index);
    const int step = key == Qt::Key_Up ? -1 : 1;
    for (int other = row + step; other >= 0 && other < static_cast<int>(data_.rows.size());
         other += step) {
        if (const int found = spanNear(other, (span.start + span.end) / 2.0); found >= 0) {
            return offsets_[static_cast<std::size_t>(other)] + found;
        }
    }
    return index;
}

void EventTimeline::mousePressEvent(QMouseEvent* event) {
    const Frame now = frame(size());
    drag_x_ = event->position().x();
    drag_first_ = first_;
    drag_ = Drag::None;
    if (event->button() == Qt::LeftButton && now.overview.contains(event->position())) {
        const double at =
            data_.length * (event->position().x() - now.overview.left()) / now.overview.width();
        if (at < first_ || at > last_) {
            moveTo(at - (last_ - first_) / 2);
            drag_first_ = first_;
        }
        drag_ = Drag::Overview;
        return;
    }
    if (event->button() == Qt::LeftButton && now.plot.contains(event->position())) {
        drag_ = Drag::Pressed;
    }
    PaintedView::mousePressEvent(event);
}

void EventTimeline::mouseMoveEvent(QMouseEvent* event) {
    const Frame now = frame(size());
    const double moved = event->position().x() - drag_x_;
    if (drag_ == Drag::Pressed && std::abs(moved) > kDragStarts && last_ - first_ < data_.length) {
        drag_ = Drag::Time;
    }
    if (drag_ == Drag::Time) {
        moveTo(drag_first_ - (last_ - first_) * moved / now.plot.width());
    } else if (drag_ == Drag::Overview) {
        moveTo(drag_first_ + data_.length * moved / now.overview.width());
    } else {
        PaintedView::mouseMoveEvent(event);
    }
}

// What ends a drag chooses nothing.
void EventTimeline::mouseReleaseEvent(QMouseEvent* event) {
    const bool dragged = drag_ == Drag::Time || drag_ == Drag::Overview;
    drag_ = Drag::None;
    if (!dragged) {
        PaintedView::mouseReleaseEvent(event);
    }
}

void EventTimeline::wheelEvent(QWheelEvent* event) {
    const double turns = (event->angleDelta().y() + event->angleDelta().x()) / 120.0;
    const bool sideways = event->modifiers() & Qt::ShiftModifier || event->angleDelta().x() != 0;
    if (event->modifiers() & Qt::ControlModifier) {
        zoomTime(std::pow(kTimelineZoom, turns), timeAt(event->position().x(), frame(size())));
    } else if (sideways && last_ - first_ < data_.length) {
        moveTo(first_ - turns * (last_ - first_) / 10.0);
    } else if (!sideways && !scroll_->isHidden()) {
        scroll_->setValue(scroll_->value() - static_cast<int>(std::round(turns * kTallRow)));
    } else {
        event->ignore();
    }
}

void EventTimeline::keyPressEvent(QKeyEvent* event) {
    const double around = cursorItem() >= 0 && spanOf(cursorItem()).start >= first_ &&
                                  spanOf(cursorItem()).end <= last_
                              ? spanOf(cursorItem()).start
                              : (first_ + last_) / 2.0;
    switch (event->key()) {
    case Qt::Key_Plus:
    case Qt::Key_Equal:
    case Qt::Key_W: zoomTime(kTimelineZoom, around); break;
    case Qt::Key_Minus:
    case Qt::Key_S: zoomTime(1.0 / kTimelineZoom, around); break;
    case Qt::Key_A: moveTo(first_ - (last_ - first_) / 5.0); break;
    case Qt::Key_D: moveTo(first_ + (last_ - first_) / 5.0); break;
    case Qt::Key_0: showAllTime(); break;
    default: PaintedView::keyPressEvent(event);
    }
}

void EventTimeline::fitRows() {
    const double scale = Theme::current().fontScale();
    tops_.assign(1, 0.0);
    for (const EventRow& row : data_.rows) {
        const double height = std::round((row.thin ? kThinRow : kTallRow) * scale);
        tops_.push_back(tops_.back() + height + kTimelineRowGap);
    }
    const Frame now = frame(size());
    const int rest = static_cast<int>(std::ceil(rowsHeight() - now.plot.height() - 0.5));
    scroll_->setRange(0, std::max(0, rest));
    scroll_->setPageStep(std::max(1, static_cast<int>(now.plot.height())));
    scroll_->setVisible(rest > 0);
    const int width = scroll_->sizeHint().width();
    scroll_->setGeometry(this->width() - width, static_cast<int>(now.plot.top()), width,
                         static_cast<int>(now.plot.height()));
    updateGeometry();
}

void EventTimeline::resizeEvent(QResizeEvent* event) {
    PaintedView::resizeEvent(event);
    fitRows();
    renew();
}

void EventTimeline::changeEvent(QEvent* event) {
    PaintedView::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        fitRows();
        renew();
    }
}

} // namespace weft::widgets
