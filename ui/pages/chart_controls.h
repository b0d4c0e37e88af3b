// SPDX-License-Identifier: GPL-3.0-or-later
// What holds for all charts of a panel: smoothing, what the x axis counts, whether they zoom
// together.
#pragma once

#include "ui/bridge/run/curve_metric.h"

#include <QObject>

class QComboBox;
class QPushButton;
class QSlider;
class QWidget;

namespace weft::widgets {
class ChartLink;
class LineChart;
class SectionHeader;
} // namespace weft::widgets

namespace weft::ui {

class ChartFrame;

class ChartControls : public QObject {
    Q_OBJECT
public:
    /// Adds smoothing and the axis, one of `axes`, to a header; no choice where there is only one.
    ChartControls(widgets::SectionHeader& header, const std::vector<XAxis>& axes);

    QSlider* smoothingSlider() const { return smoothing_; }
    QComboBox* axisBox() const { return axis_; }
    double smoothing() const;
    XAxis axis() const;
    /// A button that links and parts the zoom of charts, for the same header.
    QPushButton* createLinkButton(widgets::ChartLink& link);
    /// Smoothes a chart now and when that changes, until it is gone; its key S leads to the slider.
    void take(ChartFrame& frame);
    void take(widgets::LineChart& chart);
    void setVisible(bool visible);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

signals:
    void smoothingChanged(double weight);
    void axisChanged(weft::ui::XAxis axis);

private:
    void fitWords();

    std::vector<QWidget*> words_; // about the slider, where there is room
    QSlider* smoothing_;
    QComboBox* axis_;
    std::vector<QWidget*> shown_; // in the header
    bool visible_ = true;
};

} // namespace weft::ui
