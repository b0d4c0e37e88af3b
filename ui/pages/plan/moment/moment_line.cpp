// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/moment/moment_line.h"

#include "ui/bridge/convert.h"
#include "widgets/look/painting.h"

#include <QPaintEvent>

#include <algorithm>
#include <cmath>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextStyle;
using widgets::Theme;

constexpr double kMomentLineGap = 12.0;
constexpr double kLeastTitle = 120.0; // narrower: the time goes, then the phase

} // namespace

MomentLine::MomentLine(QWidget* parent) : QWidget(parent) {
    setAccessibleName(tr("Moment of the step"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void MomentLine::setMoment(const StepMoments* moments, const StepMoment& moment) {
    const int count = moments == nullptr ? 0 : moments->count();
    widest_place_ = tr("op %1 of %2").arg(formatCount(count), formatCount(count));
    place_ = phase_ = time_ = title_ = QString();
    if (count > 0 && !moment.valid()) {
        phase_ = tr("Play the step or drag the handle");
    } else if (count > 0) {
        place_ = tr("op %1 of %2").arg(formatCount(moment.position + 1), formatCount(count));
        phase_ = moment.phase;
        time_ = moments->timed() ? tr("%1 ms").arg(formatMilliseconds(moment.time)) : QString();
        title_ = moment.title;
    }
    setToolTip(text());
    setAccessibleDescription(text());
    update();
}

void MomentLine::setStale(bool stale) {
    if (stale != stale_) {
        stale_ = stale;
        update();
    }
}

QString MomentLine::text() const {
    QStringList parts{place_, phase_, time_, title_};
    parts.removeAll(QString());
    return parts.join(QStringLiteral(" · "));
}

QSize MomentLine::sizeHint() const {
    const QFontMetricsF metrics(Theme::current().font(TextStyle::Mono));
    return {480, static_cast<int>(std::ceil(metrics.height())) + 4};
}

void MomentLine::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = Theme::current();
    const QFont mono = theme.font(TextStyle::Mono);
    const QFont body = theme.font(TextStyle::Body);
    double x = 0;
    const auto put = [&](const QString& text, const QFont& font, Role role, double width) {
        if (!text.isEmpty() && x < this->width()) {
            const double room = std::min(width, this->width() - x);
            widgets::paintText(painter, QRectF(x, 0, room, height()),
                               Qt::AlignLeft | Qt::AlignVCenter, text, font,
                               theme.color(stale_ ? Role::Faint : role));
            x += width + kMomentLineGap;
        }
    };
    const double place = std::ceil(widgets::textWidth(mono, widest_place_));
    const double phase = std::ceil(widgets::textWidth(body, phase_));
    const double time = std::ceil(widgets::textWidth(mono, time_));
    const double rest = width() - place - phase - kMomentLineGap * 2;
    put(place_, mono, Role::Text, place);
    if (rest >= kLeastTitle || title_.isEmpty()) {
        put(phase_, body, Role::Muted, phase);
    }
    if (rest - time - kMomentLineGap >= kLeastTitle) {
        put(time_, mono, Role::Muted, time);
    }
    put(title_, mono, Role::Accent, std::ceil(widgets::textWidth(mono, title_)) + 1);
}

} // namespace weft::ui
