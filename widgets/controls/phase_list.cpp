// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/controls/phase_list.h"

#include "widgets/look/icon.h"
#include "widgets/look/painting.h"
#include "widgets/look/theme_controller.h"

#include <algorithm>

namespace weft::widgets {
namespace {

constexpr int kPhaseRow = 24;
constexpr int kTickMs = 80;

QString timeText(double seconds) {
    return seconds < 0 ? QString()
                       : QStringLiteral("%1 s").arg(seconds, 0, 'f', seconds < 10 ? 1 : 0);
}

// Eight spokes, the brightest one walks round.
void paintSpinner(QPainter& painter, const QPointF& center, int turn) {
    const Theme& theme = Theme::current();
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(center);
    for (int i = 0; i < 8; ++i) {
        const double strength = ((i + 8 - turn % 8) % 8) / 7.0;
        painter.setPen(
            QPen(mixed(theme.color(Role::Accent), theme.color(Role::Surface), 0.2 + 0.8 * strength),
                 1.6, Qt::SolidLine, Qt::RoundCap));
        painter.drawLine(QPointF(0, -3.2), QPointF(0, -5.8));
        painter.rotate(45);
    }
    painter.restore();
}

} // namespace

PhaseList::PhaseList(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    setAccessibleName(tr("Preparation"));
}

void PhaseList::setPhases(std::vector<Phase> phases) {
    phases_ = std::move(phases);
    clock_.start();
    refresh();
}

void PhaseList::begin(const QString& name, const QString& detail) {
    finish();
    auto found = std::find_if(phases_.begin(), phases_.end(),
                              [&](const Phase& phase) { return phase.name == name; });
    if (found == phases_.end()) {
        phases_.push_back({name, {}, PhaseState::Waiting, -1.0});
        found = std::prev(phases_.end());
    }
    found->state = PhaseState::Active;
    found->detail = detail;
    found->seconds = -1.0;
    clock_.start();
    refresh();
}

void PhaseList::finish(bool failed, const QString& detail) {
    const int index = activeIndex();
    if (index < 0) {
        return;
    }
    Phase& phase = phases_[static_cast<std::size_t>(index)];
    phase.seconds = shownSeconds(phase);
    phase.state = failed ? PhaseState::Failed : PhaseState::Done;
    if (!detail.isEmpty()) {
        phase.detail = detail;
    }
    refresh();
}

void PhaseList::clear() {
    phases_.clear();
    refresh();
}

int PhaseList::activeIndex() const {
    for (std::size_t i = 0; i < phases_.size(); ++i) {
        if (phases_[i].state == PhaseState::Active) {
            return static_cast<int>(i);
        }
    }
    return -1;
}

double PhaseList::shownSeconds(const Phase& phase) const {
    const bool counting = phase.state == PhaseState::Active && clock_.isValid();
    return counting ? std::max(0.0, phase.seconds) + static_cast<double>(clock_.elapsed()) / 1000.0
                    : phase.seconds;
}

void PhaseList::refresh() {
    const bool run = isVisible() && activeIndex() >= 0;
    if (run && timer_ == 0) {
        timer_ = startTimer(kTickMs);
    } else if (!run && timer_ != 0) {
        killTimer(timer_);
        timer_ = 0;
    }
    const int active = activeIndex();
    setAccessibleDescription(active < 0 ? QString()
                                        : phases_[static_cast<std::size_t>(active)].name);
    updateGeometry();
    update();
}

QSize PhaseList::sizeHint() const {
    return {320, std::max<int>(1, static_cast<int>(phases_.size())) * kPhaseRow};
}

QSize PhaseList::minimumSizeHint() const {
    return {200, sizeHint().height()};
}

void PhaseList::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = Theme::current();
    for (std::size_t i = 0; i < phases_.size(); ++i) {
        const Phase& phase = phases_[i];
        const QRectF row(0, static_cast<double>(i) * kPhaseRow, width(), kPhaseRow);
        const QPointF center(row.left() + 8, row.center().y());
        const QRectF mark(center - QPointF(7, 7), QSizeF(14, 14));
        if (phase.state == PhaseState::Active) {
            paintSpinner(painter, center, turn_);
        } else if (phase.state == PhaseState::Waiting) {
            painter.setRenderHint(QPainter::Antialiasing);
            painter.setPen(QPen(theme.color(Role::Faint), 1.0));
            painter.setBrush(Qt::NoBrush);
            painter.drawEllipse(center, 4.0, 4.0);
        } else {
            const bool failed = phase.state == PhaseState::Failed;
            paintIcon(painter, mark, failed ? QStringLiteral("error") : QStringLiteral("check"),
                      theme.color(failed ? Role::Error : Role::Success));
        }
        const bool waiting = phase.state == PhaseState::Waiting;
        const QFont name_font =
            theme.font(phase.state == PhaseState::Active ? TextStyle::Strong : TextStyle::Body);
        const double name_width = textWidth(name_font, phase.name);
        const QRectF text = row.adjusted(24, 0, -64, 0);
        paintText(painter, text, Qt::AlignLeft | Qt::AlignVCenter, phase.name, name_font,
                  theme.color(waiting ? Role::Muted : Role::Text));
        paintText(painter, text.adjusted(name_width + 12, 0, 0, 0),
                  Qt::AlignLeft | Qt::AlignVCenter, phase.detail, theme.font(TextStyle::Caption),
                  theme.color(phase.state == PhaseState::Failed ? Role::Error : Role::Muted));
        paintText(painter, QRectF(row.right() - 60, row.top(), 60, row.height()),
                  Qt::AlignRight | Qt::AlignVCenter, timeText(shownSeconds(phase)),
                  theme.font(TextStyle::Mono), theme.color(waiting ? Role::Muted : Role::Text));
    }
}

void PhaseList::timerEvent(QTimerEvent*) {
    if (!ThemeController::reducedMotion()) {
        ++turn_;
    }
    update();
}

void PhaseList::hideEvent(QHideEvent*) {
    refresh();
}

void PhaseList::showEvent(QShowEvent*) {
    refresh();
}

} // namespace weft::widgets
