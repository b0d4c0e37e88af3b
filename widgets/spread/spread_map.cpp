// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/spread/spread_map.h"

#include <QMouseEvent>

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::widgets {
namespace {

constexpr double kMapHeight = 190;
constexpr double kMapAxisGap = 6;
constexpr double kLeastAxisStep = 22; // pixels between two numbers at the left

} // namespace

SpreadMap::SpreadMap(QWidget* parent) : PaintedView(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    setMouseTracking(true);
}

void SpreadMap::setHistory(SpreadHistory history) {
    history_ = std::move(history);
    picture_ = {};
    chosen_ = std::min(chosen_, itemCount() - 1);
    itemsChanged();
}

void SpreadMap::setChosen(int step) {
    chosen_ = step;
    update();
}

QSize SpreadMap::sizeHint() const {
    return {420, static_cast<int>(kMapHeight + kMapAxisGap + captionHeight())};
}

QSize SpreadMap::minimumSizeHint() const {
    return {220, 120};
}

QRectF SpreadMap::plot(const QSizeF& view_size) const {
    const QFont font = Theme::current().font(TextStyle::MonoSmall);
    double names = 0;
    for (const double edge : history_.edges) {
        names = std::max(names, textWidth(font, formatNumber(edge)));
    }
    const double left = std::ceil(names + kMapAxisGap);
    const double below = captionHeight() + kMapAxisGap;
    return {left, kMapAxisGap, std::max(1.0, view_size.width() - left),
            std::max(1.0, view_size.height() - below - kMapAxisGap)};
}

// All parts of the axis are of one size.
bool SpreadMap::isLinear() const {
    const double part = (history_.edges.back() - history_.edges.front()) /
                        static_cast<double>(history_.edges.size() - 1);
    for (std::size_t i = 1; i < history_.edges.size(); ++i) {
        if (std::abs(history_.edges[i] - history_.edges[i - 1] - part) > 0.01 * part) {
            return false;
        }
    }
    return true;
}

// Columns of equal width: what counts is their order.
ViewItem SpreadMap::item(int index) const {
    const QRectF room = plot(size());
    const double step = room.width() / std::max(1, itemCount());
    return {QRectF(room.left() + step * index, room.top(), step, room.height()),
            medianWords(index),
            {}};
}

QString SpreadMap::medianWords(int step) const {
    const auto at = static_cast<std::size_t>(step);
    const QString name = tr("step %1").arg(formatCount(history_.steps[at]));
    const std::vector<float>& shares = history_.shares[at];
    float sum = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        sum += shares[i];
        if (sum >= 0.5F) {
            return tr("%1: the median is between %2 and %3")
                .arg(name, formatNumber(history_.edges[i]), formatNumber(history_.edges[i + 1]));
        }
    }
    return name;
}

QString SpreadMap::wordsAt(const QPointF& position) const {
    const QRectF room = plot(size());
    if (history_.steps.empty() || history_.edges.size() < 2 || !room.contains(position)) {
        return {};
    }
    const auto step = static_cast<std::size_t>(std::clamp<double>(
        (position.x() - room.left()) / room.width() * itemCount(), 0, itemCount() - 1));
    const std::size_t bins = history_.edges.size() - 1;
    const auto bin = static_cast<std::size_t>(std::clamp<double>(
        (room.bottom() - position.y()) / room.height() * double(bins), 0, double(bins) - 1));
    const std::vector<float>& shares = history_.shares[step];
    const QString name = tr("step %1").arg(formatCount(history_.steps[step]));
    if (shares.empty()) {
        return tr("%1: not known").arg(name);
    }
    return tr("%1: %2 % from %3 to %4")
        .arg(name, formatNumber(100.0 * double(shares[bin])), formatNumber(history_.edges[bin]),
             formatNumber(history_.edges[bin + 1]));
}

// The square root: what is rare shows beside what is common.
const QImage& SpreadMap::picture() const {
    if (!picture_.isNull() || history_.steps.empty() || history_.edges.size() < 2) {
        return picture_;
    }
    const Theme& theme = Theme::current();
    const int bins = static_cast<int>(history_.edges.size()) - 1;
    float most = 0;
    for (const std::vector<float>& shares : history_.shares) {
        for (const float share : shares) {
            most = std::max(most, share);
        }
    }
    const QColor none = theme.color(Role::Inset);
    const QColor full = theme.color(Role::Accent);
    picture_ = QImage(itemCount(), bins, QImage::Format_RGB32);
    picture_.fill(none);
    for (int x = 0; x < itemCount(); ++x) {
        const std::vector<float>& shares = history_.shares[static_cast<std::size_t>(x)];
        for (int bin = 0; bin < static_cast<int>(shares.size()) && most > 0; ++bin) {
            const double share = double(shares[static_cast<std::size_t>(bin)]) / double(most);
            if (share > 0) {
                picture_.setPixelColor(x, bins - 1 - bin,
                                       mixed(full, none, 0.08 + 0.92 * std::sqrt(share)));
            }
        }
    }
    return picture_;
}

void SpreadMap::paintScene(QPainter& painter, const QSizeF& view_size) const {
    const Theme& theme = Theme::current();
    const QRectF room = plot(view_size);
    if (picture().isNull()) {
        painter.fillRect(room, theme.color(Role::Inset));
        return;
    }
    painter.save();
    painter.setRenderHint(QPainter::SmoothPixmapTransform, picture().width() > room.width());
    painter.drawImage(room, picture());
    painter.restore();
    if (chosen_ >= 0 && chosen_ < itemCount()) {
        const double step = room.width() / itemCount();
        const QRectF column(room.left() + step * chosen_, room.top(), std::max(1.0, step),
                            room.height());
        painter.setPen(QPen(theme.color(Role::Text), 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(column.adjusted(0.5, 0.5, -0.5, -0.5));
    }
    paintAxis(painter, room);
}

void SpreadMap::paintAxis(QPainter& painter, const QRectF& room) const {
    const Theme& theme = Theme::current();
    const QFont font = theme.font(TextStyle::MonoSmall);
    const QColor muted = theme.color(Role::Muted);
    const double height = captionHeight();
    const auto name = [&](double place, double value) { // place: 0 below to 1 above
        const double y = room.bottom() - place * room.height();
        paintText(painter, QRectF(0, y - height / 2, room.left() - kMapAxisGap, height),
                  Qt::AlignRight | Qt::AlignVCenter, formatNumber(value), font, muted);
    };
    const double most = std::max(2.0, room.height() / kLeastAxisStep);
    const double low = history_.edges.front();
    const double span = history_.edges.back() - low;
    if (isLinear()) {
        const double step = tickStep(span, most);
        for (double at = std::ceil(low / step); at * step <= low + span; ++at) {
            name((at * step - low) / span, at * step);
        }
    } else {
        const auto bins = static_cast<double>(history_.edges.size() - 1);
        const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(bins / most)));
        for (std::size_t i = 0; i < history_.edges.size(); i += every) {
            name(double(i) / bins, history_.edges[i]);
        }
    }
    const QRectF below(room.left(), room.bottom() + kMapAxisGap, room.width(), height);
    paintText(painter, below, Qt::AlignLeft | Qt::AlignVCenter,
              tr("step %1").arg(formatCount(history_.steps.front())), font, muted);
    if (itemCount() > 1) {
        paintText(painter, below, Qt::AlignRight | Qt::AlignVCenter,
                  tr("step %1").arg(formatCount(history_.steps.back())), font, muted);
    }
}

void SpreadMap::mouseMoveEvent(QMouseEvent* event) {
    emit pointed(wordsAt(event->position()));
    PaintedView::mouseMoveEvent(event);
}

void SpreadMap::leaveEvent(QEvent* event) {
    emit pointed({});
    PaintedView::leaveEvent(event);
}

void SpreadMap::changeEvent(QEvent* event) {
    picture_ = {}; // another theme
    PaintedView::changeEvent(event);
}

} // namespace weft::widgets
