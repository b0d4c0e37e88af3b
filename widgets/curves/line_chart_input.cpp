// SPDX-License-Identifier: GPL-3.0-or-later
// Mouse and keys of LineChart.
#include "widgets/curves/line_chart_private.h"

#include "widgets/look/icon.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QMenu>
#include <QMetaMethod>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>

#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kClickSlack = 4.0;
constexpr double kWheelStep = 1.2;

// New range whose `anchor` stays where it is; in log10 where the axis is logarithmic.
ChartRange zoomedRange(const ChartRange& range, double anchor, double factor, bool log) {
    const auto to = [log](double v) { return log ? std::log10(v) : v; };
    const auto from = [log](double v) { return log ? std::pow(10.0, v) : v; };
    const double fixed = to(anchor);
    return {from(fixed - (fixed - to(range.low)) / factor),
            from(fixed + (to(range.high) - fixed) / factor)};
}

} // namespace

bool LineChart::eventFilter(QObject* watched, QEvent* event) {
    switch (event->type()) {
    case QEvent::MouseButtonPress: return d_->mousePress(static_cast<QMouseEvent*>(event));
    case QEvent::MouseMove: return d_->mouseMove(static_cast<QMouseEvent*>(event));
    case QEvent::MouseButtonRelease: return d_->mouseRelease(static_cast<QMouseEvent*>(event));
    case QEvent::MouseButtonDblClick:
        d_->drag = Private::Drag::None;
        resetView();
        return true;
    case QEvent::Wheel: return d_->wheel(static_cast<QWheelEvent*>(event));
    case QEvent::Leave:
        d_->pointer_y.reset();
        if (!d_->crosshair_locked) {
            d_->moveCrosshair(std::nullopt);
        }
        return false;
    case QEvent::Paint: d_->renewIfStale(); return false;
    default: return QWidget::eventFilter(watched, event);
    }
}

bool LineChart::Private::mousePress(QMouseEvent* event) {
    q->setFocus(Qt::MouseFocusReason);
    drag_start = drag_now = event->position();
    drag_x = q->xRange();
    drag_y = q->yRange();
    drag = event->button() == Qt::LeftButton    ? Drag::Pending
           : event->button() == Qt::RightButton ? Drag::BoxPending
                                                : Drag::None;
    return drag != Drag::None;
}

bool LineChart::Private::mouseMove(QMouseEvent* event) {
    drag_now = event->position();
    const bool moved = (drag_now - drag_start).manhattanLength() > kClickSlack;
    if (drag == Drag::Pending && moved) {
        drag = Drag::Pan;
        setFollow(false);
    } else if (drag == Drag::BoxPending && moved) {
        drag = Drag::Box;
    }
    if (drag == Drag::Pan) {
        pan(drag_now);
    } else if (drag == Drag::Box) {
        renewCrosshair();
    } else if (drag == Drag::None && !crosshair_locked) {
        const bool row_may_change = pointer_y != event->position().y();
        pointer_y = event->position().y();
        if (row_may_change && crosshair && !replot_pending) {
            renewCrosshair();
        }
        const bool inside = plot->axisRect()->rect().contains(event->position().toPoint());
        moveCrosshair(inside && primary() ? std::optional<double>(snapped(
                                                plot->xAxis->pixelToCoord(event->position().x())))
                                          : std::nullopt);
        const int flag = flagAt(event->position());
        if (flag >= 0) {
            QToolTip::showText(event->globalPosition().toPoint(),
                               flags[static_cast<std::size_t>(flag)].label, plot);
        }
    }
    return true;
}

bool LineChart::Private::mouseRelease(QMouseEvent* event) {
    const Drag was = std::exchange(drag, Drag::None);
    if (was == Drag::Pending) {
        const int flag = flagAt(event->position());
        if (flag >= 0) {
            emit q->flagClicked(flag);
        } else if (crosshair) {
            crosshair_locked = !crosshair_locked;
            renewCrosshair();
        }
    } else if (was == Drag::BoxPending) {
        q->openMenu(event->globalPosition().toPoint());
    } else if (was == Drag::Box) {
        const QRectF box = QRectF(drag_start, drag_now).normalized();
        setFollow(false);
        setUserX({plot->xAxis->pixelToCoord(box.left()), plot->xAxis->pixelToCoord(box.right())});
        setUserY({plot->yAxis->pixelToCoord(box.bottom()), plot->yAxis->pixelToCoord(box.top())});
        renewCrosshair();
    }
    return true;
}

void LineChart::Private::pan(const QPointF& position) {
    const double share = (drag_start.x() - position.x()) / plot->axisRect()->width();
    const double shift = share * (drag_x.high - drag_x.low);
    setUserX({drag_x.low + shift, drag_x.high + shift});
    if (!user_y) {
        return; // a view that fits itself keeps doing so
    }
    const double up = (position.y() - drag_start.y()) / plot->axisRect()->height();
    if (log) {
        const double factor = std::pow(drag_y.high / drag_y.low, up);
        setUserY({drag_y.low * factor, drag_y.high * factor});
    } else {
        const double by = up * (drag_y.high - drag_y.low);
        setUserY({drag_y.low + by, drag_y.high + by});
    }
}

bool LineChart::Private::wheel(QWheelEvent* event) {
    const double notches = (event->angleDelta().y() + event->angleDelta().x()) / 120.0;
    if (notches == 0.0) {
        return true;
    }
    const double factor = std::pow(kWheelStep, notches);
    const bool x_only = event->modifiers() & Qt::ShiftModifier;
    const bool y_only = event->modifiers() & Qt::ControlModifier;
    zoomAt(event->position(), y_only ? 1.0 : factor, x_only ? 1.0 : factor);
    return true;
}

void LineChart::Private::zoomAt(const QPointF& position, double x_factor, double y_factor) {
    updateRanges();
    if (swift) {
        setFollow(false); // many runs end at many places: the one under the pointer stays
    }
    if (x_factor != 1.0) {
        setUserX(
            zoomedRange(q->xRange(), plot->xAxis->pixelToCoord(position.x()), x_factor, false));
    }
    if (y_factor != 1.0) {
        setUserY(zoomedRange(q->yRange(), plot->yAxis->pixelToCoord(position.y()), y_factor, log));
    }
}

void LineChart::Private::stepCrosshair(int direction) {
    const ChartSeries* lead = primary();
    if (!lead) {
        return;
    }
    const auto count = static_cast<std::ptrdiff_t>(lead->store.size());
    if (!crosshair) {
        moveCrosshair(lead->store.last().x);
        return;
    }
    // At least a pixel at a time, however many points lie in it.
    const auto now = static_cast<std::ptrdiff_t>(lead->store.nearest(*crosshair));
    const QCPRange range = plot->xAxis->range();
    const double pixel = range.size() / std::max(1, plot->axisRect()->width());
    const double target = lead->store.at(static_cast<std::size_t>(now)).x + direction * pixel;
    auto next = static_cast<std::ptrdiff_t>(lead->store.nearest(target));
    if (next == now) {
        next = now + direction;
    }
    next = std::clamp<std::ptrdiff_t>(next, 0, count - 1);
    moveCrosshair(lead->store.at(static_cast<std::size_t>(next)).x);
}

void LineChart::keyPressEvent(QKeyEvent* event) {
    if (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier)) {
        QWidget::keyPressEvent(event);
        return;
    }
    // What nobody listens to is not offered: such a key goes on to the page.
    const auto ask = [&](auto signal) {
        if (isSignalConnected(QMetaMethod::fromSignal(signal))) {
            emit(this->*signal)();
        } else {
            QWidget::keyPressEvent(event);
        }
    };
    switch (event->key()) {
    case Qt::Key_R: resetView(); return;
    case Qt::Key_L: setLogScale(!d_->log); return;
    case Qt::Key_O: setOutliersClipped(!d_->clip_outliers); return;
    case Qt::Key_F: setFollowing(!d_->following); return;
    case Qt::Key_S: ask(&LineChart::smoothingFocusRequested); return;
    case Qt::Key_E: ask(&LineChart::exportRequested); return;
    case Qt::Key_Left: d_->stepCrosshair(-1); return;
    case Qt::Key_Right: d_->stepCrosshair(1); return;
    case Qt::Key_Plus:
    case Qt::Key_Equal: zoom(kWheelStep); return;
    case Qt::Key_Minus: zoom(1.0 / kWheelStep); return;
    case Qt::Key_Menu: openMenu(mapToGlobal(rect().center())); return;
    case Qt::Key_Escape:
        if (!d_->crosshair) {
            break;
        }
        d_->crosshair_locked = false;
        d_->moveCrosshair(std::nullopt);
        return;
    default: break;
    }
    QWidget::keyPressEvent(event);
}

void LineChart::openMenu(const QPoint& global) {
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addAction(icon(QStringLiteral("refresh")), tr("Reset view\tR"), this,
                    &LineChart::resetView);
    const auto toggle = [&](const QString& text, bool on, auto&& change) {
        QAction* action = menu->addAction(text, this, std::forward<decltype(change)>(change));
        action->setCheckable(true);
        action->setChecked(on);
        return action;
    };
    toggle(tr("Logarithmic\tL"), d_->log, [this] { setLogScale(!d_->log); });
    toggle(tr("Clip outliers\tO"), d_->clip_outliers, [this] {
        setOutliersClipped(!d_->clip_outliers);
    })->setEnabled(d_->clip_outliers || d_->has_outliers);
    toggle(tr("Follow newest\tF"), d_->following, [this] { d_->setFollow(!d_->following); });
    menu->addSeparator();
    menu->addAction(icon(QStringLiteral("copy")), tr("Copy image"), this,
                    [this] { QGuiApplication::clipboard()->setPixmap(d_->plot->toPixmap()); });
    menu->addAction(icon(QStringLiteral("copy")), tr("Copy data in view"), this,
                    &LineChart::copyData);
    if (isSignalConnected(QMetaMethod::fromSignal(&LineChart::exportRequested))) {
        menu->addAction(icon(QStringLiteral("export")), tr("Export…\tE"), this,
                        &LineChart::exportRequested);
    }
    emit menuOpening(menu);
    menu->popup(global);
}

} // namespace weft::widgets
