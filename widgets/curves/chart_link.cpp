// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/curves/line_chart_private.h"

#include <algorithm>

namespace weft::widgets {

ChartLink::ChartLink(QObject* parent) : QObject(parent) {}

void ChartLink::add(LineChart* chart) {
    charts_.push_back(chart);
    connect(chart, &QObject::destroyed, this, [this, chart] { std::erase(charts_, chart); });
    connect(chart, &LineChart::crosshairMoved, this, [this, chart](std::optional<double> x) {
        if (busy_) {
            return;
        }
        busy_ = true;
        for (LineChart* other : charts_) {
            if (other != chart) {
                other->setCrosshair(x);
            }
        }
        busy_ = false;
        emit crosshairMoved(x);
    });
    // Only what the user did is passed on; views that fit themselves do so from their own data.
    chart->d_->on_user_view = [this, chart] {
        if (busy_ || !linked_) {
            return;
        }
        busy_ = true;
        for (LineChart* other : charts_) {
            if (other != chart) {
                other->d_->user_x = chart->d_->user_x;
                if (!chart->isZoomed()) {
                    other->d_->user_y.reset();
                }
                other->d_->setFollow(chart->d_->following);
                other->d_->viewMoved();
            }
        }
        busy_ = false;
    };
}

ChartLink::~ChartLink() {
    for (LineChart* chart : charts_) {
        chart->d_->on_user_view = nullptr;
    }
}

void ChartLink::setRangeLinked(bool linked) {
    linked_ = linked;
}

} // namespace weft::widgets
