// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run/device_load.h"

#include "ui/bridge/plan/plan_digest.h"
#include "widgets/look/painting.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>

namespace weft::ui {
namespace {

// Less is noise of the clock and the scheduler.
constexpr double kEven = 0.02;

class DeviceLoadText {
    Q_DECLARE_TR_FUNCTIONS(DeviceLoad)
};

} // namespace

DeviceLoad deviceLoad(const train::DevicesEvent& event) {
    DeviceLoad out;
    double all_ms = 0;
    double compute_ms = 0;
    double waited_ms = 0;
    double longest_ms = -1;
    for (std::size_t i = 0; i < event.devices.size(); ++i) {
        const train::DevicesEvent::Device& device = event.devices[i];
        const double own_ms = device.compute_ms + device.exchange_ms + device.waited_ms;
        all_ms += own_ms;
        compute_ms += device.compute_ms;
        waited_ms += device.waited_ms;
        out.step_ms = std::max(out.step_ms, own_ms);
        out.planned_ms =
            std::max(out.planned_ms, device.planned_compute_ms + device.planned_exchange_ms);
        out.memory += device.memory_bytes;
        out.planned += device.planned_memory_bytes;
        if (device.compute_ms > longest_ms) {
            longest_ms = device.compute_ms;
            out.slowest = static_cast<int>(i);
        }
    }
    const double mean_ms = compute_ms / static_cast<double>(event.devices.size());
    out.imbalance = mean_ms > 0 ? longest_ms / mean_ms - 1 : 0;
    out.waited_share = all_ms > 0 ? waited_ms / all_ms : 0;
    return out;
}

QString loadText(const DeviceLoad& load) {
    QStringList parts;
    const QString step = formatMilliseconds(load.step_ms);
    parts << (load.planned_ms > 0 ? DeviceLoadText::tr("step %1 ms, planned %2")
                                        .arg(step, formatMilliseconds(load.planned_ms))
                                  : DeviceLoadText::tr("step %1 ms").arg(step));
    parts << DeviceLoadText::tr("devices wait %1 % of the time")
                 .arg(load.waited_share * 100, 0, 'f', 0);
    parts << (load.imbalance < kEven
                  ? DeviceLoadText::tr("they compute evenly")
                  : DeviceLoadText::tr("device %1 computes %2 % longer than the mean")
                        .arg(load.slowest)
                        .arg(load.imbalance * 100, 0, 'f', 0));
    parts << DeviceLoadText::tr("memory %1 of %2 planned")
                 .arg(widgets::formatMemory(load.memory), widgets::formatMemory(load.planned));
    return parts.join(DeviceLoadText::tr(" · "));
}

} // namespace weft::ui
