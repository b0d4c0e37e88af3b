// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/mesh/live_panel.h"

#include "ui/bridge/run/device_load.h"
#include "ui/bridge/run/run_model.h"
#include "widgets/controls/card.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/text_label.h"
#include "widgets/mesh/device_times.h"

#include <QScrollArea>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

enum LiveSheet { LiveEmptySheet, TimesSheet };

widgets::DeviceTime timeOf(int id, const train::DevicesEvent::Device& device, bool names_host) {
    return {id,
            names_host ? QString::fromStdString(device.host) : QString(),
            device.compute_ms,
            device.exchange_ms,
            device.waited_ms,
            device.planned_compute_ms,
            device.planned_exchange_ms};
}

} // namespace

LivePanel::LivePanel(const RunModel& run, QWidget* parent) : QWidget(parent), run_(run) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    auto* panel = new widgets::Surface;
    column->addWidget(panel);
    auto* inner = new QVBoxLayout(panel);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->setSpacing(0);
    header_ = new widgets::SectionHeader(tr("Live"));
    inner->addWidget(header_);
    stack_ = new QStackedWidget;
    auto* empty = new widgets::EmptyState;
    empty->setObjectName("liveMessage");
    empty->setTitle(tr("No devices to watch"));
    empty->setText(tr("Start a run on several devices: how long each computes, is in collectives "
                      "and waits then shows here, beside what was planned."));
    stack_->addWidget(empty);
    auto* page = new QWidget;
    auto* rows = new QVBoxLayout(page);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(0);
    facts_ = new widgets::TextLabel({}, widgets::TextStyle::Body);
    facts_->setObjectName("liveFacts");
    facts_->setWordWrap(true);
    facts_->setContentsMargins(widgets::space::kGroup, widgets::space::kControl,
                               widgets::space::kGroup, widgets::space::kTight);
    rows->addWidget(facts_);
    times_ = new widgets::DeviceTimes;
    times_->setObjectName("liveTimes");
    times_->setToolTip(tr("Simulated devices share the cores of this machine: where there are more "
                          "devices than cores, what one computes another waits for."));
    rows->addWidget(widgets::verticalScroll(times_), 1);
    stack_->addWidget(page);
    inner->addWidget(stack_, 1);
    connect(times_, &widgets::PaintedView::itemActivated, this, [this](int index) {
        setSelectedDevice(index);
        emit deviceSelected(index);
    });
    connect(&run_, &RunModel::changed, this, &LivePanel::update);
    connect(&run_, &RunModel::reset, this, &LivePanel::update);
}

void LivePanel::setSelectedDevice(int device) {
    times_->setSelectedDevice(device);
}

void LivePanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    update();
}

void LivePanel::update() {
    const std::int64_t step = run_.devices() ? run_.devices()->step : -1;
    if (step != told_step_) {
        told_step_ = step;
        emit told(run_.devices());
    }
    if (!isVisible()) {
        return;
    }
    const auto& told = run_.devices();
    stack_->setCurrentIndex(told ? TimesSheet : LiveEmptySheet);
    if (!told) {
        header_->setSubtitle({});
        return;
    }
    header_->setSubtitle(tr("%1 · step %2").arg(run_.name(), widgets::formatCount(told->step)));
    std::vector<widgets::DeviceTime> times;
    const bool several = areOnSeveralHosts(*told);
    for (const train::DevicesEvent::Device& device : told->devices) {
        times.push_back(timeOf(static_cast<int>(times.size()), device, several));
    }
    facts_->setText(loadText(deviceLoad(*told)));
    std::vector<int> mesh{static_cast<int>(times.size())};
    if (const auto plan = run_.plan()) {
        mesh.clear();
        for (const sharding::Axis& axis : plan->mesh.axes) {
            mesh.push_back(static_cast<int>(axis.size));
        }
    }
    times_->setTimes(std::move(times), std::move(mesh));
}

} // namespace weft::ui
