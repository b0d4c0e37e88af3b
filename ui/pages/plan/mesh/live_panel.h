// SPDX-License-Identifier: GPL-3.0-or-later
// The run on screen, device by device, as it goes: computing, collectives, waiting, beside what was
// planned; memory taken; who holds the others up.
#pragma once

#include "core/train/record/event.h"

#include <QWidget>

#include <optional>

class QStackedWidget;

namespace weft::widgets {
class DeviceTimes;
class SectionHeader;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class RunModel;

class LivePanel : public QWidget {
    Q_OBJECT
public:
    explicit LivePanel(const RunModel& run, QWidget* parent = nullptr);

    widgets::DeviceTimes* times() const { return times_; }

signals:
    /// The run on screen said more of its devices, or is another one.
    void told(const std::optional<weft::train::DevicesEvent>& devices);
    /// The user chose a device.
    void deviceSelected(int device);

public slots:
    void setSelectedDevice(int device);

protected:
    void showEvent(QShowEvent* event) override;

private:
    void update();

    const RunModel& run_;
    std::int64_t told_step_ = -1; // of what was said last
    widgets::SectionHeader* header_;
    QStackedWidget* stack_;
    widgets::DeviceTimes* times_;
    widgets::TextLabel* facts_;
};

} // namespace weft::ui
