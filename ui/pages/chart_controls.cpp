// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/chart_controls.h"

#include "ui/pages/chart_frame.h"
#include "widgets/controls/card.h"
#include "widgets/controls/icon_button.h"
#include "widgets/controls/text_label.h"
#include "widgets/curves/line_chart.h"
#include "widgets/curves/series_store.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"

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
    words_ = {name, value};
    shown_ = {smoothing_};
    if (axes.size() > 1) {
        shown_.push_back(axis_);
    } else {
        axis_->hide();
    }
    header.installEventFilter(this);
    connect(smoothing_, &QSlider::valueChanged, this, [this, value] {
        value->setText(QString::number(smoothing(), 'f', 2));
        smoothing_->setToolTip(tr("%1: weight of the past in the drawn mean, over every point (S)")
                                   .arg(value->text()));
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
    QPushButton* button = widgets::iconButton("link", {}, tr("Charts zoom together"));
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

// What the slider is for and where it stands its tooltip says too.
bool ChartControls::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Resize || event->type() == QEvent::FontChange) {
        fitWords();
    }
    return QObject::eventFilter(watched, event);
}

void ChartControls::fitWords() {
    const int width = smoothing_->parentWidget()->width();
    const bool wide = width >= kNamedWidth * widgets::Theme::current().fontScale();
    for (QWidget* word : words_) {
        word->setVisible(visible_ && wide);
    }
}

void ChartControls::setVisible(bool visible) {
    visible_ = visible;
    fitWords();
    for (QWidget* widget : shown_) {
        widget->setVisible(visible);
    }
}

} // namespace weft::ui
