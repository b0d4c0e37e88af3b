// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/memory_figures.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weft::widgets {
namespace {

constexpr double kFigureGap = 4.0;    // between square and figure
constexpr double kNextFigure = 8.0;   // to the next square
constexpr double kSmall = 10.0;       // figures below have a decimal
constexpr double kLeastFigure = 0.05; // smaller ones would only ever say 0.0

} // namespace

MemoryFigures::MemoryFigures(QWidget* parent) : PaintedView(parent) {
    setAccessibleName(tr("Memory of a device at this moment"));
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void MemoryFigures::setMost(const Bytes& most, qint64 total) {
    unit_ = MemoryUnit(total);
    shown_.clear();
    widest_ = QStringLiteral("0.0");
    for (std::size_t i = 0; i < most.size(); ++i) {
        if (static_cast<double>(most[i]) >= kLeastFigure * unit_.bytes()) {
            shown_.push_back(static_cast<MemoryCategory>(i));
            const QString text = figure(most[i]);
            widest_ = text.size() > widest_.size() ? text : widest_;
        }
    }
    bytes_ = {};
    itemsChanged();
}

void MemoryFigures::setBytes(const Bytes& bytes) {
    if (bytes != bytes_) {
        bytes_ = bytes;
        describe();
        update();
    }
}

void MemoryFigures::setSumName(const QString& name) {
    if (name != sum_name_) {
        sum_name_ = name;
        describe();
        itemsChanged();
    }
}

void MemoryFigures::describe() {
    const QString sum = unit_.text(total());
    setAccessibleDescription(sum_name_.isEmpty() ? sum : tr("%1 %2").arg(sum_name_, sum));
}

void MemoryFigures::setStale(bool stale) {
    if (stale != stale_) {
        stale_ = stale;
        update();
    }
}

void MemoryFigures::setTotalOnly(bool only) {
    if (only != total_only_) {
        total_only_ = only;
        itemsChanged();
    }
}

qint64 MemoryFigures::total() const {
    return std::accumulate(bytes_.begin(), bytes_.end(), qint64{0});
}

QString MemoryFigures::figure(qint64 bytes) const {
    const double value = static_cast<double>(bytes) / unit_.bytes();
    const bool small = bytes > 0 && value < kSmall - 0.05;
    return QString::number(value, 'f', small ? 1 : 0);
}

double MemoryFigures::figureWidth() const {
    return std::ceil(textWidth(Theme::current().font(TextStyle::MonoSmall), widest_));
}

double MemoryFigures::sumNameWidth() const {
    return sum_name_.isEmpty()
               ? 0.0
               : std::ceil(textWidth(Theme::current().font(TextStyle::Caption), sum_name_));
}

QRectF MemoryFigures::place(int index) const {
    const double width = kSwatch + kFigureGap + figureWidth();
    return {index * (width + kNextFigure), 0, width, static_cast<double>(sizeHint().height())};
}

int MemoryFigures::widthOf(bool all) const {
    const QFont strong = Theme::current().font(TextStyle::Mono);
    const double sum = std::ceil(textWidth(strong, QStringLiteral("00000.0 MiB")));
    const double each = kSwatch + kFigureGap + figureWidth() + kNextFigure;
    return static_cast<int>(sum + sumNameWidth() +
                            (all ? each * static_cast<double>(shown_.size()) : 0.0));
}

QSize MemoryFigures::sizeHint() const {
    const QFontMetricsF metrics(Theme::current().font(TextStyle::Mono));
    return {widthOf(!total_only_), static_cast<int>(std::ceil(metrics.height())) + 4};
}

ViewItem MemoryFigures::item(int index) const {
    const MemoryCategory category = shown_[static_cast<std::size_t>(index)];
    return {place(index),
            memoryName(category) + QStringLiteral("  ") +
                unit_.text(bytes_[static_cast<std::size_t>(category)]),
            {}};
}

void MemoryFigures::paintScene(QPainter& painter, const QSizeF& view_size) const {
    const Theme& theme = Theme::current();
    painter.setOpacity(stale_ ? kStaleOpacity : 1.0);
    const QFont small = theme.font(TextStyle::MonoSmall);
    for (int i = 0; i < itemCount(); ++i) {
        const MemoryCategory category = shown_[static_cast<std::size_t>(i)];
        const QRectF rect = place(i);
        const QRectF swatch(rect.left(), std::round(view_size.height() / 2.0 - kSwatch / 2.0),
                            kSwatch, kSwatch);
        paintFill(painter, swatch, theme.memory(category), memoryFill(category));
        paintText(painter, rect.adjusted(kSwatch + kFigureGap, 0, 0, 0),
                  Qt::AlignLeft | Qt::AlignVCenter,
                  figure(bytes_[static_cast<std::size_t>(category)]), small,
                  theme.color(Role::Text), Qt::ElideNone);
    }
    // At the left of the sum's room: it stays while the sum changes.
    paintText(painter,
              QRectF(view_size.width() - widthOf(false), 0, sumNameWidth(), view_size.height()),
              Qt::AlignLeft | Qt::AlignVCenter, sum_name_, theme.font(TextStyle::Caption),
              theme.color(Role::Muted), Qt::ElideNone);
    QFont bold = theme.font(TextStyle::Mono);
    bold.setWeight(QFont::DemiBold);
    paintText(painter, QRectF(0, 0, view_size.width(), view_size.height()),
              Qt::AlignRight | Qt::AlignVCenter, unit_.text(total()), bold, theme.color(Role::Text),
              Qt::ElideNone);
}

} // namespace weft::widgets
