// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/chart_frame.h"

#include "ui/pages/drawings.h"
#include "widgets/controls/card.h"
#include "widgets/controls/icon_button.h"
#include "widgets/curves/line_chart.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"

#include <QApplication>
#include <QKeyEvent>
#include <QMenu>
#include <QPushButton>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

using widgets::LineChart;

constexpr int kChartFrameLeftMargin = 56; // a learning rate such as 2.5e-4
constexpr int kSmallestHeight = 96;       // of the plot, at text size 1
constexpr int kTableHeight = 190; // of both, from here on there is room for the crosshair's table
constexpr int kAxisHeight = 120;          // and for the labels of the x axis

int atTextSize(int pixels) {
    return static_cast<int>(pixels * widgets::Theme::current().fontScale());
}

} // namespace

ChartFrame::ChartFrame(QWidget* parent) : QWidget(parent) {
    auto* place = new QVBoxLayout(this);
    place->setContentsMargins(0, 0, 0, 0);
    body_ = new QWidget;
    place->addWidget(body_);
    auto* column = new QVBoxLayout(body_);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    chart_ = new LineChart;
    chart_->setLeftMargin(kChartFrameLeftMargin);
    fitText();
    column->addWidget(createStrip());
    column->addWidget(chart_, 1);
    body_->installEventFilter(this);
    chart_->installEventFilter(this);
    connect(chart_, &LineChart::menuOpening, this, &ChartFrame::fillMenu);
    connect(chart_, &LineChart::logScaleChanged, log_, &QPushButton::setChecked);
    offerExport(
        *chart_, [this] { return export_name_; },
        [this](bool well, const QString& text) { emit exported(well, text); });
}

ChartFrame::~ChartFrame() {
    delete full_;
}

QWidget* ChartFrame::createStrip() {
    auto* strip = new widgets::Surface;
    strip_ = new QHBoxLayout(strip);
    strip_->setContentsMargins(widgets::space::kControl, 2, widgets::space::kControl, 0);
    strip_->setSpacing(2);
    strip_->addStretch(1);
    log_ = new QPushButton(tr("Log"));
    log_->setObjectName("chartLog");
    log_->setCheckable(true);
    log_->setToolTip(tr("Logarithmic y axis (L)"));
    log_->setAccessibleName(tr("Logarithmic y axis"));
    widgets::setButtonKind(log_, widgets::ButtonKind::Flat);
    widgets::setCompact(log_);
    strip_->addWidget(log_);
    connect(log_, &QPushButton::toggled, chart_, &LineChart::setLogScale);
    QPushButton* more = addTool("chartMenu", "more", tr("More about this chart"));
    connect(more, &QPushButton::clicked, this,
            [this, more] { chart_->openMenu(more->mapToGlobal(QPoint(0, more->height()))); });
    expand_ = addTool("chartFullScreen", "expand", tr("Full screen (F11)"));
    connect(expand_, &QPushButton::clicked, this, &ChartFrame::toggleFullScreen);
    return strip;
}

QPushButton* ChartFrame::addTool(const QString& name, const QString& icon, const QString& tip) {
    QPushButton* button = widgets::iconButton(icon, name, tip);
    strip_->addWidget(button);
    return button;
}

void ChartFrame::fitText() {
    chart_->setMinimumHeight(atTextSize(kSmallestHeight));
}

void ChartFrame::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        fitText();
    }
}

void ChartFrame::setHead(QWidget* head) {
    strip_->insertWidget(0, head);
}

void ChartFrame::showAxis(XAxis axis, const QString& y_name) {
    const QString names[] = {tr("step"), tr("epoch"), tr("time"), tr("clock"), tr("relative step")};
    chart_->setXKind(axis == XAxis::Seconds ? LineChart::XKind::Seconds
                     : axis == XAxis::Wall  ? LineChart::XKind::Clock
                     : axis == XAxis::Epoch ? LineChart::XKind::Number
                                            : LineChart::XKind::Count);
    chart_->setAxisNames(names[static_cast<int>(axis)], y_name);
}

void ChartFrame::showPlace(double x) {
    const widgets::ChartRange view = chart_->xRange();
    if (x < view.low || x > view.high) {
        const double half = (view.high - view.low) / 2;
        chart_->setFollowing(false);
        chart_->setXRange({x - half, x + half});
    }
    chart_->setCrosshair(x);
}

bool ChartFrame::hasRoomForTable() const {
    return body_->height() >= atTextSize(kTableHeight);
}

void ChartFrame::fillMenu(QMenu* menu) {
    menu->addSeparator();
    menu->addAction(expand_->icon(),
                    isFullScreen() ? tr("Back into the page\tEsc") : tr("Full screen\tF11"), this,
                    &ChartFrame::toggleFullScreen);
}

bool ChartFrame::hasFocusInside() const {
    const QWidget* focus = QApplication::focusWidget();
    return focus != nullptr && body_->isAncestorOf(focus);
}

void ChartFrame::toggleFullScreen() {
    isFullScreen() ? leaveFullScreen() : enterFullScreen();
}

void ChartFrame::enterFullScreen() {
    full_ = new widgets::Surface;
    full_->setObjectName("fullScreenChart");
    full_->setWindowTitle(chart_->accessibleName());
    auto* column = new QVBoxLayout(full_);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(body_);
    expand_->setIcon(widgets::icon("minus"));
    expand_->setToolTip(tr("Back into the page (Esc)"));
    expand_->setAccessibleName(expand_->toolTip());
    full_->installEventFilter(this);
    full_->showFullScreen();
    chart_->setFocus();
    roomChanged();
}

void ChartFrame::leaveFullScreen() {
    QWidget* window = std::exchange(full_, nullptr);
    layout()->addWidget(body_);
    expand_->setIcon(widgets::icon("expand"));
    expand_->setToolTip(tr("Full screen (F11)"));
    expand_->setAccessibleName(expand_->toolTip());
    body_->show();
    chart_->setFocus();
    window->removeEventFilter(this);
    window->hide();
    window->deleteLater();
    roomChanged();
}

bool ChartFrame::eventFilter(QObject* watched, QEvent* event) {
    if (watched == body_ && event->type() == QEvent::Resize) {
        chart_->setCompactCrosshair(!hasRoomForTable());
        chart_->setXAxisVisible(body_->height() >= atTextSize(kAxisHeight));
        roomChanged();
    }
    if (watched == full_ && event->type() == QEvent::Close) {
        leaveFullScreen();
        return true;
    }
    // Before the chart, which would use Escape for its crosshair.
    if (isFullScreen() && (watched == full_ || watched == chart_) &&
        event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Escape || key == Qt::Key_F11) {
            leaveFullScreen();
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace weft::ui
