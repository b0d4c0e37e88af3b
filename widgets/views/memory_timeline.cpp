// SPDX-License-Identifier: GPL-3.0-or-later
// Data, places and input of the view; memory_timeline_paint.cpp paints it.
#include "widgets/views/memory_timeline.h"

#include <QKeyEvent>
#include <QMouseEvent>

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kTimelineRight = 12.0;
constexpr double kFarLimit = 1.6;   // a limit this many times above the peak is said in words
constexpr int kLeap = 10;           // steps of an arrow with Shift
constexpr double kMostLegend = 0.3; // of the height

/// Room for the marks of the axis.
double left() {
    return 64.0 * Theme::current().fontScale();
}

} // namespace

MemoryTimeline::MemoryTimeline(QWidget* parent) : PaintedView(parent) {
    setAccessibleName(tr("Memory over the steps"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void MemoryTimeline::setData(TimelineData data) {
    data_ = std::move(data);
    std::stable_sort(data_.layers.begin(), data_.layers.end(),
                     [](const auto& a, const auto& b) { return a.category < b.category; });
    totals_.assign(data_.names.size(), 0);
    for (const TimelineLayer& layer : data_.layers) {
        for (std::size_t step = 0; step < totals_.size() && step < layer.bytes.size(); ++step) {
            totals_[step] += layer.bytes[step];
        }
    }
    const auto most = std::max_element(totals_.begin(), totals_.end());
    peak_ = most == totals_.end() ? -1 : static_cast<int>(most - totals_.begin());
    most_ = peak_ < 0 ? 0 : *most;
    setAccessibleDescription(peak_ < 0 ? QString()
                                       : tr("%1 steps, peak %2 at step %3: %4")
                                             .arg(stepCount())
                                             .arg(formatMemory(most_))
                                             .arg(peak_ + 1)
                                             .arg(data_.names[static_cast<std::size_t>(peak_)]));
    renew();
    itemsChanged();
}

void MemoryTimeline::setForm(Form form) {
    if (form != form_) {
        form_ = form;
        renew();
        updateGeometry();
    }
}

QSize MemoryTimeline::sizeHint() const {
    return form_ == Form::Full ? QSize(640, 300) : QSize(640, minimumSizeHint().height());
}

QSize MemoryTimeline::minimumSizeHint() const {
    const int line = static_cast<int>(std::ceil(captionHeight()));
    return {240, form_ == Form::Full ? 180 : form_ == Form::Compact ? 4 * line + 22 : 30};
}

void MemoryTimeline::renew() {
    still_.forget();
    update();
}

void MemoryTimeline::setLimit(std::optional<qint64> bytes) {
    limit_ = bytes;
    renew();
}

void MemoryTimeline::setMeasured(std::optional<qint64> bytes, const QString& label) {
    if (bytes != measured_ || label != measured_label_) {
        measured_ = bytes;
        measured_label_ = label;
        renew();
    }
}

void MemoryTimeline::setGhost(std::vector<qint64> totals, const QString& label) {
    ghost_ = std::move(totals);
    ghost_label_ = label;
    renew();
}

void MemoryTimeline::setStale(bool stale) {
    if (stale != stale_) {
        stale_ = stale;
        renew();
    }
}

int MemoryTimeline::stepAt(double x) const {
    if (stepCount() == 0) {
        return -1;
    }
    const QRectF plot = plotRect(size());
    const double place = (x - plot.left()) / std::max(1.0, plot.width()) * stepCount();
    return std::clamp(static_cast<int>(std::floor(place)), 0, stepCount() - 1);
}

ViewItem MemoryTimeline::item(int index) const {
    const auto step = static_cast<std::size_t>(index);
    const QRectF plot = plotRect(size());
    const double left = xOf(index, plot);
    ViewItem result;
    result.rect =
        QRectF(left, plot.top(), std::max(1.0, xOf(index + 1, plot) - left), plot.height());
    result.name = tr("op %1 of %2: %3, %4 alive")
                      .arg(index + 1)
                      .arg(stepCount())
                      .arg(data_.names[step], formatMemory(totals_[step]));
    if (index == peak_) {
        result.name += tr(", the peak");
    }
    result.tooltip = result.name;
    for (auto layer = data_.layers.rbegin(); layer != data_.layers.rend(); ++layer) {
        if (layer->bytes[step] > 0) {
            result.tooltip +=
                QStringLiteral("\n%1  %2")
                    .arg(memoryName(layer->category), formatMemory(layer->bytes[step]));
        }
    }
    return result;
}

int MemoryTimeline::hitTest(const QPointF& position) const {
    const QRectF plot = plotRect(size());
    const QRectF reach(plot.topLeft(),
                       QPointF(plot.right(), bandRect(plot).bottom() + kHandleHeight + 1.0));
    return reach.contains(position) ? stepAt(position.x()) : -1;
}

void MemoryTimeline::mousePressEvent(QMouseEvent* event) {
    PaintedView::mousePressEvent(event);
    if (event->button() == Qt::LeftButton && hitTest(event->position()) >= 0) {
        setCursorItem(stepAt(event->position().x()));
    }
}

void MemoryTimeline::mouseMoveEvent(QMouseEvent* event) {
    PaintedView::mouseMoveEvent(event);
    if (event->buttons() & Qt::LeftButton) {
        setCursorItem(stepAt(event->position().x()));
    }
}

int MemoryTimeline::nextSpan(int step) const {
    const auto found = std::find_if(data_.spans.begin(), data_.spans.end(),
                                    [step](const TimelineSpan& span) { return span.first > step; });
    return found == data_.spans.end() ? stepCount() - 1 : found->first;
}

int MemoryTimeline::previousSpan(int step) const {
    const auto found = std::find_if(data_.spans.rbegin(), data_.spans.rend(),
                                    [step](const TimelineSpan& span) { return span.first < step; });
    return found == data_.spans.rend() ? 0 : found->first;
}

void MemoryTimeline::keyPressEvent(QKeyEvent* event) {
    const int from = std::max(0, cursorItem());
    const bool shift = event->modifiers() & Qt::ShiftModifier;
    if (stepCount() == 0) {
        PaintedView::keyPressEvent(event);
    } else if (event->key() == Qt::Key_PageDown) {
        setCursorItem(nextSpan(from));
    } else if (event->key() == Qt::Key_PageUp) {
        setCursorItem(previousSpan(from));
    } else if (event->key() == Qt::Key_P) {
        setCursorItem(peak_);
    } else if (shift && event->key() == Qt::Key_Right) {
        setCursorItem(std::min(stepCount() - 1, from + kLeap));
    } else if (shift && event->key() == Qt::Key_Left) {
        setCursorItem(std::max(0, from - kLeap));
    } else {
        PaintedView::keyPressEvent(event);
    }
}

// None where it would take the place of what it explains.
std::vector<MemoryTimeline::LegendEntry> MemoryTimeline::legend(const QSizeF& view_size) const {
    const QFont caption = Theme::current().font(TextStyle::Caption);
    const double line = std::ceil(captionHeight()) + 2.0;
    std::vector<LegendEntry> entries;
    double x = left();
    double y = 2.0;
    for (const TimelineLayer& layer : data_.layers) {
        const double entry =
            kSwatch + 6.0 + std::ceil(textWidth(caption, memoryName(layer.category)));
        if (x > left() && x + entry > view_size.width() - kTimelineRight) {
            x = left();
            y += line;
        }
        entries.push_back({QRectF(x, y, entry, line), layer.category});
        x += entry + 14.0;
    }
    if (!entries.empty() && entries.back().rect.bottom() > view_size.height() * kMostLegend) {
        entries.clear();
    }
    return entries;
}

// Legend, a line for the peak, the plot, the spans, the handle.
QRectF MemoryTimeline::plotRect(const QSizeF& view_size) const {
    double top = 2.0;
    if (form_ == Form::Full) {
        const auto entries = legend(view_size);
        const double legend_bottom = entries.empty() ? 0.0 : entries.back().rect.bottom();
        top = std::ceil(legend_bottom + captionHeight() + 8.0);
    } else if (form_ == Form::Compact) {
        top = std::ceil(captionHeight());
    }
    const QRectF band = bandRect({});
    const double bottom = std::floor(view_size.height() - band.bottom() - kHandleHeight - 2.0);
    return {left(), top, std::max(1.0, view_size.width() - left() - kTimelineRight),
            std::max(1.0, bottom - top)};
}

QRectF MemoryTimeline::bandRect(const QRectF& plot) const {
    const double gap = form_ == Form::Full ? 5.0 : form_ == Form::Compact ? 2.0 : 0.0;
    const double height = form_ == Form::Slim ? 4.0 : std::ceil(captionHeight()) + 4.0;
    return {plot.left(), plot.bottom() + gap, plot.width(), height};
}

double MemoryTimeline::axisTop() const {
    double most = static_cast<double>(most_);
    for (const qint64 bytes : ghost_) {
        most = std::max(most, static_cast<double>(bytes));
    }
    most = std::max(most, static_cast<double>(measured_.value_or(0)));
    if (limit_ && static_cast<double>(*limit_) < most * kFarLimit) {
        most = std::max(most, static_cast<double>(*limit_));
    }
    return std::max(1.0, most * 1.04);
}

double MemoryTimeline::xOf(double step, const QRectF& plot) const {
    return plot.left() + plot.width() * step / std::max(1, stepCount());
}

double MemoryTimeline::middleOf(int step, const QRectF& plot) const {
    return std::round((xOf(step, plot) + xOf(step + 1, plot)) / 2.0);
}

} // namespace weft::widgets
