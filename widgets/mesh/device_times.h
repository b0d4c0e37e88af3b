// SPDX-License-Identifier: GPL-3.0-or-later
// How the devices of a mesh spent a step: a row for each, with computing, collectives and waiting
// one after the other, and below it what was planned.
#pragma once

#include "widgets/views/painted_view.h"

#include <array>
#include <vector>

namespace weft::widgets {

struct DeviceTime {
    int id = 0;
    QString host{}; // of its process, shown beside it; empty: of this one
    double compute_ms = 0;
    double collective_ms = 0; // without waiting
    double waited_ms = 0;
    double planned_compute_ms = 0; // both 0: nothing was planned
    double planned_collective_ms = 0;

    double total_ms() const { return compute_ms + collective_ms + waited_ms; }
    double planned_ms() const { return planned_compute_ms + planned_collective_ms; }
};

class DeviceTimes : public PaintedView {
    Q_OBJECT
public:
    explicit DeviceTimes(QWidget* parent = nullptr);

    /// `mesh`: sizes of its axes, major to minor, for the colours. The scale stays as long as the
    /// longest step fills more than half of it, so that bars do not jump.
    void setTimes(std::vector<DeviceTime> times, std::vector<int> mesh);
    void setSelectedDevice(int id);

    int itemCount() const override { return static_cast<int>(times_.size()); }
    ViewItem item(int index) const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;

private:
    QRectF rowRect(int index, double width) const;
    double numbersWidth() const;
    double hostsWidth() const;
    void paintRow(QPainter& painter, const DeviceTime& time, const QColor& color,
                  const QRectF& rect, double hosts) const;
    void paintLegend(QPainter& painter, double width) const;

    std::vector<DeviceTime> times_;
    std::vector<int> mesh_;
    double scale_ms_ = 0; // of the whole width
    int selected_ = -1;
};

} // namespace weft::widgets
