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
constexpr double kStretchNameGap = 10.0; // between the name of a stretch and its tokens
constexpr double kUnderline = 1.5;       // below tokens

TokenStretch stretchOf(const TokenRun& run, int token) {
    TokenStretch out;
    for (const TokenStretch& stretch : run.stretches) {
        if (stretch.first <= token) {
            out = stretch;
        }
    }
    return out;
}

bool beginsStretch(const TokenRun& run, int token) {
    return std::any_of(run.stretches.begin(), run.stretches.end(),
                       [&](const TokenStretch& stretch) { return stretch.first == token; });
}

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
    const QFont names = Theme::current().font(TextStyle::Caption);
    for (const TokenRun& run : runs_) {
        for (const TokenStretch& stretch : run.stretches) {
            places_.names =
                std::max(places_.names, textWidth(names, stretch.name) + kStretchNameGap);
        }
    }
    places_.names = std::ceil(places_.names);
    double top = 0;
    for (const TokenRun& run : runs_) {
        const double first = top;
        const double left = run.stretches.empty() ? 0 : places_.names;
        double x = left;
        double y = top + caption;
        std::vector<QRectF> boxes;
        for (const QString& token : run.tokens) {
            const bool letter = token.size() == 1;
            if (x > left && beginsStretch(run, static_cast<int>(boxes.size()))) {
                x = left;
                y += line + kLineGap;
            }
            const double box =
                letter ? metrics.horizontalAdvance(token)
                       : std::ceil(metrics.horizontalAdvance(token)) + 2 * kTokenPadding;
            if (x > left && x + box > width) {
                x = left;
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
    QString text;
    for (int i = 0; i < run.tokens.size(); ++i) {
        if (beginsStretch(run, i)) {
            text += tr("; %1: ").arg(stretchOf(run, i).name);
        }
        text += run.tokens[i];
    }
    return {placesFor(width()).runs[static_cast<std::size_t>(index)],
            tr("%1: %2").arg(run.caption, run.stretches.empty() ? text : text.mid(2)),
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
            const TokenStretch stretch = stretchOf(run, static_cast<int>(t));
            if (beginsStretch(run, static_cast<int>(t))) {
                paintText(painter,
                          QRectF(0, box.top(), places.names - kStretchNameGap, box.height()),
                          Qt::AlignLeft | Qt::AlignVCenter, stretch.name, caption,
                          theme.color(Role::Muted));
            }
            const bool sign = token == QStringLiteral("·") || token == QStringLiteral("↵") ||
                              token == QStringLiteral("⇥");
            if (token.size() > 1) {
                painter.fillRect(box, theme.color(t % 2 == 0 ? Role::Inset : Role::EmptyBar));
            }
            const bool muted = sign || stretch.kind == TokenStretch::Kind::Muted;
            paintText(painter, box, Qt::AlignCenter, token, mono,
                      theme.color(muted ? Role::Muted : Role::Text), Qt::ElideNone);
            if (stretch.kind == TokenStretch::Kind::Underlined) {
                painter.fillRect(
                    QRectF(box.left(), box.bottom() - kUnderline, box.width(), kUnderline),
                    theme.color(Role::Accent));
            }
        }
    }
}

} // namespace weft::widgets
