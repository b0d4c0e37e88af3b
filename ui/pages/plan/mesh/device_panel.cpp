// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/mesh/device_panel.h"

#include "ui/bridge/convert.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/icon_button.h"
#include "widgets/look/icon.h"
#include "widgets/mesh/device_grid.h"
#include "widgets/views/memory_legend.h"

#include <QPushButton>
#include <QVBoxLayout>

#include <set>

namespace weft::ui {
namespace {

constexpr int kMostUnzoomed = 16; // so few devices are seen well without

} // namespace

DevicePanel::DevicePanel(QWidget* parent) : PlanPanel(Shows::Whole, parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    auto* panel = new widgets::Surface;
    column->addWidget(panel);
    auto* inner = new QVBoxLayout(panel);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->setSpacing(0);
    header_ = new widgets::SectionHeader(tr("Devices"));
    inner->addWidget(header_);
    grid_ = new widgets::DeviceGrid;
    grid_->setObjectName("meshGrid");
    auto* margins = new QVBoxLayout;
    margins->setContentsMargins(widgets::space::kGroup, widgets::space::kControl,
                                widgets::space::kGroup, widgets::space::kTight);
    margins->setSpacing(widgets::space::kControl);
    margins->addWidget(grid_, 1);
    legend_ = new widgets::MemoryLegend;
    margins->addWidget(legend_);
    inner->addLayout(margins, 1);
    addZoom();
    addFull();
}

/// Of many devices some can be looked at more closely.
void DevicePanel::addZoom() {
    const auto button = [this](const char* icon, const char* object_name, const QString& name,
                               const QString& help, bool in) {
        QPushButton* made = widgets::iconButton(icon, object_name, name);
        made->setToolTip(help);
        made->hide();
        header_->addControl(made);
        connect(made, &QPushButton::clicked, grid_, [this, in] { grid_->zoomStep(in); });
        return made;
    };
    closer_ = button("plus", "gridCloser", tr("Closer"),
                     tr("Look more closely: + or Ctrl and the wheel; drag to move"), true);
    farther_ = button("minus", "gridFarther", tr("Farther away"),
                      tr("See more devices: − or Ctrl and the wheel; F shows all of them"), false);
    const auto offer = [this] { farther_->setEnabled(grid_->zoom() > 1.0); };
    connect(grid_, &widgets::DeviceGrid::zoomChanged, this, offer);
    offer();
}

void DevicePanel::addFull() {
    full_ = widgets::iconButton("expand", "devicesFull", {});
    full_->setCheckable(true);
    header_->addControl(full_);
    connect(full_, &QPushButton::toggled, this, [this](bool full) {
        describeFull();
        emit fullChanged(full);
    });
    describeFull();
}

void DevicePanel::describeFull() {
    full_->setIcon(widgets::icon(isFull() ? "shrink" : "expand"));
    full_->setToolTip(isFull() ? tr("Back to the tensors (Esc)") : tr("Devices alone on the page"));
    full_->setAccessibleName(full_->toolTip());
}

void DevicePanel::setFull(bool full) {
    full_->setChecked(full);
}

bool DevicePanel::isFull() const {
    return full_->isChecked();
}

void DevicePanel::staleChanged() {
    grid_->setStale(stale_);
}

void DevicePanel::setMoment(const StepMoment& moment) {
    std::vector<widgets::DeviceNow> now;
    for (const StageMoment& stage : moment.stages) {
        widgets::DeviceNow& one = now.emplace_back();
        for (std::size_t i = 0; i < stage.bytes.size(); ++i) {
            if (stage.bytes[i] > 0) {
                one.segments.push_back({static_cast<widgets::MemoryCategory>(i), stage.bytes[i]});
            }
        }
        one.bytes = stage.total;
        one.note = moment.stages.size() < 2  ? QString()
                   : !stage.action.isEmpty() ? stage.action
                   : !stage.around.isEmpty() ? stage.around
                                             : tr("waits");
    }
    grid_->setNow(std::move(now));
    if (moment.valid() != at_moment_) {
        at_moment_ = moment.valid();
        describe();
    }
}

void DevicePanel::describe() {
    if (!digest_) {
        return;
    }
    const plan::ExecutionPlan& plan = *digest_->plan;
    const auto count = static_cast<int>(plan.mesh.devices());
    const QString text =
        plan.device == "cpu" ? tr("%n simulated", nullptr, count)
        : plan.device_title.empty()
            ? tr("%n GPU(s) of this machine", nullptr, count)
            : tr("%1 planned · %2").arg(widgets::formatCount(count), toQString(plan.device_title));
    header_->setSubtitle(at_moment_ ? text + tr(" · now, of the peak") : text);
}

void DevicePanel::planChanged(const ShownPlan&) {
    const widgets::DeviceSet& devices = *digest_->devices;
    std::set<widgets::MemoryCategory> categories;
    for (const widgets::DeviceGroup& group : devices.groups) {
        for (const widgets::MemorySegment& segment : group.segments) {
            categories.insert(segment.category);
        }
    }
    legend_->setCategories({categories.begin(), categories.end()});
    describe();
    if (!devices.limit) {
        header_->setTrailing({});
    } else if (digest_->plan->fits()) {
        header_->setTrailing(tr("fits"), widgets::Role::Success);
    } else {
        header_->setTrailing(tr("does not fit"), widgets::Role::Error);
    }
    grid_->setDevices(digest_->devices);
    closer_->setVisible(devices.count() > kMostUnzoomed);
    farther_->setVisible(devices.count() > kMostUnzoomed);
}

} // namespace weft::ui
