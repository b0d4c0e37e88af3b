// SPDX-License-Identifier: GPL-3.0-or-later
// The devices of the mesh: where each stands, what it reads, what its memory takes.
#pragma once

#include "ui/bridge/plan/step_moment.h"
#include "ui/pages/plan/plan_panel.h"

class QPushButton;

namespace weft::widgets {
class DeviceGrid;
class MemoryLegend;
class SectionHeader;
} // namespace weft::widgets

namespace weft::ui {

class DevicePanel : public PlanPanel {
    Q_OBJECT
public:
    explicit DevicePanel(QWidget* parent = nullptr);

    /// What the devices hold then; not valid: what they need.
    void setMoment(const StepMoment& moment);
    widgets::DeviceGrid* grid() const { return grid_; }
    /// Alone on the page; many devices need the room.
    void setFull(bool full);
    bool isFull() const;

signals:
    void fullChanged(bool full);

protected:
    void planChanged(const ShownPlan& before) override;
    void staleChanged() override;

private:
    void describe();
    void describeFull();
    void addZoom();
    void addFull();

    bool at_moment_ = false; // the cards show what is held then
    widgets::SectionHeader* header_;
    widgets::DeviceGrid* grid_;
    widgets::MemoryLegend* legend_;
    QPushButton* closer_;
    QPushButton* farther_;
    QPushButton* full_;
};

} // namespace weft::ui
