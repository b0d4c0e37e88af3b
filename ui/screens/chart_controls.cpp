// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/screens/chart_controls.h"

#include "ui/screens/chart_frame.h"
#include "widgets/card.h"
#include "widgets/icon.h"
#include "widgets/line_chart.h"
#include "widgets/series_store.h"
#include "widgets/style.h"
#include "widgets/text_label.h"

#include <QComboBox>
#include <QEvent>
#include <QPushButton>
#include <QSlider>

#include <cmath>

namespace weft::ui {
namespace {

constexpr int kNamedWidth = 480; // of the header, at text size 1

} // namespace

ChartControls::ChartControls(widgets::SectionHeader& header, const std::vector<XAxis>& axes)
    : QObject(&header) {
    auto* name =
        new widgets::TextLabel(tr("Smoothing"), widgets::TextStyle::Caption, widgets::Role::Muted);
    header.addControl(name);
    smoothing_ = new QSlider(Qt::Horizontal);
    smoothing_->setAccessibleName(tr("Smoothing"));
    smoothing_->setToolTip(tr("Weight of the past in the drawn mean, over every point (S)"));
    smoothing_->setRange(0, 99);
    smoothing_->setMinimumWidth(48); // gives way to a scroll bar beside the charts
    smoothing_->setMaximumWidth(88);
    smoothing_->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    header.addControl(smoothing_);
    auto* value = new widgets::TextLabel({}, widgets::TextStyle::MonoSmall);
    header.addControl(value);
    axis_ = new QComboBox;
    axis_->setAccessibleName(tr("What the x axis counts"));
    axis_->setToolTip(tr("What the x axis counts. Relative steps count from where the run began, "
                         "also that of a fork."));
    const QString names[] = {tr("Step"), tr("Epoch"), tr("Time"), tr("Clock"), tr("Relative step")};
    for (const XAxis one : axes) {
        axis_->addItem(names[static_cast<int>(one)], static_cast<int>(one));
    }
    widgets::setCompact(axis_);
    header.addControl(axis_);
    name_ = name;
    shown_ = {smoothing_, value};
    if (axes.size() > 1) {
        shown_.push_back(axis_);
    } else {
        axis_->hide();
    }
    header.installEventFilter(this);
    connect(smoothing_, &QSlider::valueChanged, this, [this, value] {
        value->setText(QString::number(smoothing(), 'f', 2));
        emit smoothingChanged(smoothing());
    });
    connect(axis_, &QComboBox::currentIndexChanged, this, [this] { emit axisChanged(axis()); });
    smoothing_->setValue(
        static_cast<int>(std::lround(100 * widgets::SeriesStore::kUsualSmoothing)));
}

double ChartControls::smoothing() const {
    return smoothing_->value() / 100.0;
}

XAxis ChartControls::axis() const {
    return static_cast<XAxis>(axis_->currentData().toInt());
}

QPushButton* ChartControls::createLinkButton(widgets::ChartLink& link) {
    auto* button = new QPushButton(widgets::icon("link"), {});
    button->setToolTip(tr("Charts zoom together"));
    button->setAccessibleName(button->toolTip());
    widgets::setButtonKind(button, widgets::ButtonKind::Flat);
    widgets::setCompact(button);
    button->setCheckable(true);
    button->setChecked(link.isRangeLinked());
    connect(button, &QPushButton::toggled, &link, &widgets::ChartLink::setRangeLinked);
    return button;
}

void ChartControls::take(ChartFrame& frame) {
    take(*frame.chart());
}

void ChartControls::take(widgets::LineChart& chart) {
    chart.setSmoothing(smoothing());
    connect(this, &ChartControls::smoothingChanged, &chart, &widgets::LineChart::setSmoothing);
    connect(&chart, &widgets::LineChart::smoothingFocusRequested, smoothing_,
            qOverload<>(&QWidget::setFocus));
}

// What a slider beside a number is for its tooltip says too.
bool ChartControls::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Resize || event->type() == QEvent::FontChange) {
        fitName();
    }
    return QObject::eventFilter(watched, event);
}

void ChartControls::fitName() {
    const auto* header = name_->parentWidget();
    name_->setVisible(visible_ &&
                      header->width() >= kNamedWidth * widgets::Theme::current().fontScale());
}

void ChartControls::setVisible(bool visible) {
    visible_ = visible;
    fitName();
    for (QWidget* widget : shown_) {
        widget->setVisible(visible);
    }
}

} // namespace weft::ui
