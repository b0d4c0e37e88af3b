// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/lifeline_chart.h"

#include "widgets/curves/chart_axis.h"
#include "widgets/curves/curve_editor.h"

#include <QMouseEvent>

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::widgets {
namespace {

constexpr double kLifelineTop = 8.0;
constexpr double kLifelineRight = 18.0;
constexpr double kTallestRow = 14.0;
constexpr double kLabelRow = 11.0;    // rows less high than this have no labels
constexpr int kOwnRows = 28;          // more bars share rows
constexpr double kShortestLife = 6.0; // a bar is seen at any scale
constexpr double kBoxSide = 12.0;     // from the edge of the box to its text
constexpr double kBoxEnd = 6.0;
constexpr double kBoxLine = 3.0; // between its lines
constexpr int kLeastHeight = 120;

QFont summaryFont(qsizetype line) {
    return Theme::current().font(line == 0   ? TextStyle::CaptionStrong
                                 : line == 1 ? TextStyle::MonoSmall
                                             : TextStyle::Caption);
}

double digitHeight(const QFont& font) {
    return QFontMetricsF(font).capHeight();
}

/// Where the label of a bar stands. Bars above may reach over it, those below begin later: where
/// rows are low the digits hang down from the top of their own.
double labelMiddle(const QRectF& bar) {
    const double digits = digitHeight(Theme::current().font(TextStyle::MonoSmall));
    return std::max(bar.center().y(), bar.top() + digits / 2);
}

double wrappedHeight(const QFont& font, const QString& text, double width) {
    return std::ceil(QFontMetricsF(font)
                         .boundingRect(QRectF(0, 0, width, 1e4), Qt::TextWordWrap, text)
                         .height());
}

} // namespace

LifelineChart::LifelineChart(QWidget* parent) : PaintedView(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void LifelineChart::setLifelines(std::vector<Lifeline> lifelines, double high) {
    lifelines_ = std::move(lifelines);
    high_ = std::max(1.0, high);
    moment_ = std::clamp(moment_, 0.0, high_);
    longest_.clear();
    assignRows();
    arrange();
    itemsChanged();
}

/// Each bar has a row of its own while there are few, else the first that is free.
void LifelineChart::assignRows() {
    rows_.assign(lifelines_.size(), 0);
    row_count_ = 0;
    if (lifelines_.size() <= kOwnRows) {
        for (std::size_t i = 0; i < lifelines_.size(); ++i) {
            rows_[i] = row_count_++;
        }
        return;
    }
    std::vector<double> free_from;
    for (std::size_t i = 0; i < lifelines_.size(); ++i) {
        const auto row = std::find_if(free_from.begin(), free_from.end(),
                                      [&](double until) { return until <= lifelines_[i].from; });
        rows_[i] = static_cast<int>(row - free_from.begin());
        const double until = lifelines_[i].stays ? high_ * 2 : lifelines_[i].to;
        if (row == free_from.end()) {
            free_from.push_back(until);
        } else {
            *row = until;
        }
    }
    row_count_ = static_cast<int>(free_from.size());
}

void LifelineChart::setMoment(double moment) {
    const double bounded = std::clamp(moment, 0.0, high_);
    if (bounded != moment_) {
        moment_ = bounded;
        update();
        emit momentChanged(moment_);
    }
}

void LifelineChart::setSummary(const QStringList& lines) {
    summary_ = lines;
    setAccessibleDescription(lines.join(". "));
    bool longer = false;
    longest_.resize(std::max(longest_.size(), lines.size()));
    for (qsizetype i = 0; i < lines.size(); ++i) {
        if (textWidth(summaryFont(i), lines[i]) > textWidth(summaryFont(i), longest_[i])) {
            longest_[i] = lines[i];
            longer = true;
        }
    }
    if (longer) {
        arrange();
    }
    update();
}

void LifelineChart::setLeftMargin(int left) {
    left_ = left;
    arrange();
    update();
}

QSize LifelineChart::minimumSizeHint() const {
    const double box = longest_.isEmpty() ? 0.0 : summarySize(size()).height();
    return {240, kLeastHeight + static_cast<int>(box)};
}

void LifelineChart::resizeEvent(QResizeEvent* event) {
    PaintedView::resizeEvent(event);
    arrange();
}

void LifelineChart::changeEvent(QEvent* event) {
    PaintedView::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        arrange();
    }
}

// Once the summary was too large for the room between the bars it stays above them, so that they
// do not move while the moment does.
void LifelineChart::arrange() {
    const double before = std::exchange(strip_, 0.0);
    const QSizeF box = summarySize(size());
    if (!longest_.isEmpty() && freest(box, size()).second > 0.0) {
        strip_ = box.height() + space::kControl;
    }
    updateGeometry();
    if (strip_ != before) {
        update();
    }
}

QRectF LifelineChart::plot(const QSizeF& view_size) const {
    const double top = kLifelineTop + strip_;
    return {static_cast<double>(left_), top,
            std::max(10.0, view_size.width() - left_ - kLifelineRight),
            std::max(10.0, view_size.height() - top - captionHeight() - 12)};
}

double LifelineChart::xOf(double value, const QSizeF& view_size) const {
    const QRectF area = plot(view_size);
    return area.left() + area.width() * value / high_;
}

QRectF LifelineChart::bar(std::size_t index, const QSizeF& view_size) const {
    const QRectF area = plot(view_size);
    const double height = std::min(kTallestRow, area.height() / std::max(1, row_count_));
    const double gap = height >= 6 ? height * 0.4 : height >= 3 ? 1.0 : 0.0;
    const Lifeline& life = lifelines_[index];
    const double left = xOf(life.from, view_size);
    const double right = std::max(left + kShortestLife, xOf(life.to, view_size));
    return {left, area.top() + height * rows_[index] + gap / 2, right - left, height - gap};
}

ViewItem LifelineChart::item(int index) const {
    const auto i = static_cast<std::size_t>(index);
    return {bar(i, size()), lifelines_[i].detail, {}};
}

void LifelineChart::paintScene(QPainter& painter, const QSizeF& view_size) const {
    paintAxis(painter, view_size);
    paintBars(painter, view_size);
    if (!lifelines_.empty()) {
        paintMoment(painter, view_size);
    }
}

void LifelineChart::paintAxis(QPainter& painter, const QSizeF& view_size) const {
    const Theme& theme = Theme::current();
    const QRectF area = plot(view_size);
    const std::vector<double> ticks =
        roundTicks(0, high_, std::max(2, static_cast<int>(area.width() / kTickWidth)));
    const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : 1.0;
    for (const double tick : ticks) {
        const double at = xOf(tick, view_size);
        paintHairline(painter, {at, area.top()}, {at, area.bottom()}, theme.color(Role::Hairline));
        const QString text = axisLabel(tick, step, high_);
        const double width = textWidth(theme.font(TextStyle::MonoSmall), text) + 2;
        const double left = std::min(at - width / 2, view_size.width() - width - 4);
        paintText(painter, QRectF(left, area.bottom() + 7, width, captionHeight()), Qt::AlignCenter,
                  text, theme.font(TextStyle::MonoSmall), theme.color(Role::Muted));
    }
    paintHairline(painter, area.bottomLeft(), area.bottomRight(), theme.color(Role::Border));
}

void LifelineChart::paintBars(QPainter& painter, const QSizeF& view_size) const {
    const Theme& theme = Theme::current();
    const QFont mono = theme.font(TextStyle::MonoSmall);
    for (std::size_t i = 0; i < lifelines_.size(); ++i) {
        const Lifeline& life = lifelines_[i];
        const QRectF rect = bar(i, view_size);
        const QColor fill = life.stays
                                ? theme.color(Role::Accent)
                                : mixed(theme.color(Role::Muted), theme.color(Role::Surface), 0.5);
        painter.setPen(Qt::NoPen);
        painter.setBrush(fill);
        painter.drawRoundedRect(rect, std::min(2.0, rect.height() / 2),
                                std::min(2.0, rect.height() / 2));
        if (life.starred) {
            painter.setPen(QPen(theme.color(Role::Surface), 1.0));
            painter.setBrush(theme.color(Role::Accent));
            painter.drawPolygon(starPolygon(QPointF(rect.left(), rect.center().y()), 8));
        }
        // The labels of neighbours must not touch: one above the other has the row between.
        const bool own_row = lifelines_.size() <= kOwnRows;
        const bool room = rect.height() / 0.6 >= kLabelRow || i % 3 == 0;
        const double width = textWidth(mono, life.label);
        if (own_row && room && rect.left() - width - 12 > left_) {
            const double middle = labelMiddle(rect);
            if (middle + digitHeight(mono) / 2 < plot(view_size).bottom()) {
                paintText(painter,
                          QRectF(rect.left() - width - 10 - (life.starred ? 4 : 0),
                                 middle - captionHeight() / 2, width + 1, captionHeight()),
                          Qt::AlignRight | Qt::AlignVCenter, life.label, mono,
                          theme.color(Role::Muted));
            }
        }
    }
}

void LifelineChart::paintMoment(QPainter& painter, const QSizeF& view_size) const {
    const Theme& theme = Theme::current();
    const QRectF area = plot(view_size);
    const double x = xOf(moment_, view_size);
    painter.setPen(QPen(theme.color(Role::Text), 1.0, Qt::DotLine));
    painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.color(Role::Text));
    painter.drawPolygon(trianglePolygon(QPointF(x, area.bottom() + 2), 5));
    if (summary_.isEmpty()) {
        return;
    }
    QRectF rect = summaryRect(view_size);
    paintSurface(painter, rect, size::kRadius, theme.color(Role::Surface),
                 theme.color(Role::Border));
    rect.adjust(kBoxSide, kBoxEnd, -kBoxSide, -kBoxEnd);
    for (qsizetype i = 0; i < summary_.size(); ++i) {
        const QFont font = summaryFont(i);
        painter.setFont(font);
        painter.setPen(theme.color(i == 0 ? Role::Text : Role::Muted));
        painter.drawText(rect, Qt::TextWordWrap, summary_[i]);
        rect.setTop(rect.top() + wrappedHeight(font, longest_[i], rect.width()) + kBoxLine);
    }
}

QSizeF LifelineChart::summarySize(const QSizeF& view_size) const {
    double wanted = 0;
    for (qsizetype i = 0; i < longest_.size(); ++i) {
        wanted = std::max(wanted, std::ceil(textWidth(summaryFont(i), longest_[i])) + 1);
    }
    const double width = std::min(wanted, plot(view_size).width() - 8 - 2 * kBoxSide);
    double height = 2 * kBoxEnd - kBoxLine;
    for (qsizetype i = 0; i < longest_.size(); ++i) {
        height += wrappedHeight(summaryFont(i), longest_[i], width) + kBoxLine;
    }
    return {width + 2 * kBoxSide, height};
}

QRectF LifelineChart::summaryRect(const QSizeF& view_size) const {
    const QSizeF box = summarySize(view_size);
    return strip_ > 0.0 ? QRectF({left_ + 4.0, kLifelineTop}, box) : freest(box, view_size).first;
}

/// The bars go from the upper left to the lower right: the other two corners are mostly free.
std::pair<QRectF, double> LifelineChart::freest(const QSizeF& box, const QSizeF& view_size) const {
    const QRectF area = plot(view_size);
    const double right = std::max(area.left() + 4, area.right() - box.width() - 4);
    const QPointF corners[] = {{area.left() + 4, area.bottom() - box.height() - 8},
                               {right, area.top() + 4},
                               {right, area.bottom() - box.height() - 8},
                               {area.left() + 4, area.top() + 4}};
    QRectF best;
    double least = std::numeric_limits<double>::infinity();
    for (const QPointF& corner : corners) {
        const QRectF place(corner, box);
        double covered = 0;
        for (std::size_t i = 0; i < lifelines_.size(); ++i) {
            const QRectF common = place.intersected(bar(i, view_size));
            covered += common.width() * common.height();
        }
        if (covered < least) {
            least = covered;
            best = place;
        }
    }
    return {best, least};
}

void LifelineChart::choose(double x) {
    const QRectF area = plot(size());
    setMoment(std::round((x - area.left()) / area.width() * high_));
}

void LifelineChart::mousePressEvent(QMouseEvent* event) {
    PaintedView::mousePressEvent(event);
    choose(event->position().x());
    event->accept();
}

void LifelineChart::mouseMoveEvent(QMouseEvent* event) {
    PaintedView::mouseMoveEvent(event);
    choose(event->position().x());
}

} // namespace weft::widgets
