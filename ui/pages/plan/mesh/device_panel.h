// SPDX-License-Identifier: GPL-3.0-or-later
// The devices of the mesh: where each stands, what it reads, what its memory takes.
#pragma once

#include "ui/bridge/plan/step_moment.h"

#include <QWidget>

#include <memory>

class QPushButton;

namespace weft::widgets {
class DeviceGrid;
class MemoryLegend;
class SectionHeader;
} // namespace weft::widgets

namespace weft::ui {

class DevicePanel : public QWidget {
    Q_OBJECT
public:
    explicit DevicePanel(QWidget* parent = nullptr);

    void setDigest(const std::shared_ptr<const PlanDigest>& digest);
    void setStale(bool stale);
    /// What the devices hold then; not valid: what they need.
    void setMoment(const StepMoment& moment);
    widgets::DeviceGrid* grid() const { return grid_; }

private:
    void describe();
    void addZoom();

    std::shared_ptr<const PlanDigest> digest_;
    bool at_moment_ = false; // the cards show what is held then
    widgets::SectionHeader* header_;
    widgets::DeviceGrid* grid_;
    widgets::MemoryLegend* legend_;
    QPushButton* closer_;
    QPushButton* farther_;
};

} // namespace weft::ui
