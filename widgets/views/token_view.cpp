// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/token_view.h"

#include <QHelpEvent>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kRunGap = 12.0;
constexpr double kRunCaptionGap = 4.0;
constexpr double kTokenPadding = 2.0;
constexpr double kTokenGap = 1.0;
constexpr double kLineGap = 3.0;

} // namespace

QString byteSign(int value) {
    switch (value) {
    case '\n': return QStringLiteral("↵");
    case '\t': return QStringLiteral("⇥");
    case ' ': return QStringLiteral("·");
    default:
        return value > 0x20 && value < 0x7f
                   ? QString(QChar(value))
                   : QStringLiteral("%1").arg(value, 2, 16, QLatin1Char('0')).toUpper();
    }
}

TokenView::TokenView(QWidget* parent) : PaintedView(parent) {
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    setAccessibleName(tr("Samples as tokens"));
}

void TokenView::setRuns(std::vector<TokenRun> runs) {
    runs_ = std::move(runs);
    places_ = {};
    itemsChanged();
}

const TokenView::Places& TokenView::placesFor(double width) const {
    if (places_.width == width) {
        return places_;
    }
    places_ = {};
    places_.width = width;
    const QFontMetricsF metrics(Theme::current().font(TextStyle::MonoSmall));
    const double line = lineHeight(TextStyle::MonoSmall) + 2.0;
    const double caption = lineHeight(TextStyle::Caption) + kRunCaptionGap;
    double top = 0;
    for (const TokenRun& run : runs_) {
        const double first = top;
        double x = 0;
        double y = top + caption;
        std::vector<QRectF> boxes;
        for (const QString& token : run.tokens) {
            const bool letter = token.size() == 1;
            const double box =
                letter ? metrics.horizontalAdvance(token)
                       : std::ceil(metrics.horizontalAdvance(token)) + 2 * kTokenPadding;
            if (x > 0 && x + box > width) {
                x = 0;
                y += line + kLineGap;
            }
            boxes.emplace_back(x, y, box, line);
            x += box + (letter ? 0 : kTokenGap);
        }
        top = y + line;
        places_.runs.emplace_back(0, first, width, top - first);
        places_.tokens.push_back(std::move(boxes));
        top += kRunGap;
    }
    places_.height = std::max(64.0, top);
    return places_;
}

int TokenView::heightForWidth(int width) const {
    return static_cast<int>(std::ceil(placesFor(width).height));
}

ViewItem TokenView::item(int index) const {
    const TokenRun& run = runs_[static_cast<std::size_t>(index)];
    return {placesFor(width()).runs[static_cast<std::size_t>(index)],
            tr("%1: %2").arg(run.caption, run.tokens.join(QString())),
            {}};
}

int TokenView::tokenAt(int run, const QPointF& position) const {
    if (run < 0 || run >= itemCount()) {
        return -1;
    }
    const std::vector<QRectF>& boxes = placesFor(width()).tokens[static_cast<std::size_t>(run)];
    const auto found = std::find_if(boxes.begin(), boxes.end(),
                                    [&](const QRectF& box) { return box.contains(position); });
    return found == boxes.end() ? -1 : static_cast<int>(found - boxes.begin());
}

bool TokenView::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const int run = hitTest(help->pos());
        const int token = tokenAt(run, help->pos());
        if (token >= 0) {
            const TokenRun& under = runs_[static_cast<std::size_t>(run)];
            QToolTip::showText(
                help->globalPos(),
                token < under.tooltips.size() ? under.tooltips[token] : under.tokens[token], this);
        } else {
            QToolTip::hideText();
        }
        return true;
    }
    return PaintedView::event(event);
}

void TokenView::changeEvent(QEvent* event) {
    places_ = {};
    PaintedView::changeEvent(event);
}

void TokenView::paintScene(QPainter& painter, const QSizeF& view_size) const {
    const Theme& theme = Theme::current();
    const QFont caption = theme.font(TextStyle::Caption);
    const QFont mono = theme.font(TextStyle::MonoSmall);
    const Places& places = placesFor(view_size.width());
    const QRectF visible =
        painter.hasClipping() ? painter.clipBoundingRect() : QRectF(QPointF(0, 0), view_size);
    for (std::size_t r = 0; r < runs_.size(); ++r) {
        const QRectF& place = places.runs[r];
        if (!place.intersects(visible)) {
            continue;
        }
        const TokenRun& run = runs_[r];
        paintText(painter, QRectF(0, place.top(), place.width(), lineHeight(TextStyle::Caption)),
                  Qt::AlignLeft | Qt::AlignVCenter, run.caption, caption, theme.color(Role::Muted));
        for (std::size_t t = 0; t < places.tokens[r].size(); ++t) {
            const QRectF& box = places.tokens[r][t];
            const QString& token = run.tokens[static_cast<int>(t)];
            const bool sign = token == QStringLiteral("·") || token == QStringLiteral("↵") ||
                              token == QStringLiteral("⇥");
            if (token.size() > 1) {
                painter.fillRect(box, theme.color(t % 2 == 0 ? Role::Inset : Role::EmptyBar));
            }
            paintText(painter, box, Qt::AlignCenter, token, mono,
                      theme.color(sign ? Role::Muted : Role::Text), Qt::ElideNone);
        }
    }
}

} // namespace weft::widgets
