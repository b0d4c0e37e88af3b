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
// Plans are off by a third now and then.
constexpr double kSlowLink = 0.5;

class DeviceLoadText {
    Q_DECLARE_TR_FUNCTIONS(DeviceLoad)
};

QString speedText(double bytes_per_s) {
    return DeviceLoadText::tr("%1/s").arg(widgets::formatMemory(static_cast<qint64>(bytes_per_s)));
}

QString linkText(const LinkLoad& link) {
    const QString where = link.between_hosts
                              ? DeviceLoadText::tr("along %1, between hosts,").arg(link.axes)
                              : DeviceLoadText::tr("along %1").arg(link.axes);
    if (link.planned_bytes_per_s <= 0) {
        return DeviceLoadText::tr("%1 a device sends %2").arg(where, speedText(link.bytes_per_s));
    }
    const QString said =
        DeviceLoadText::tr("%1 a device sends %2, planned %3")
            .arg(where, speedText(link.bytes_per_s), speedText(link.planned_bytes_per_s));
    return link.is_slow ? DeviceLoadText::tr("%1: a slow link").arg(said) : said;
}

} // namespace

bool areOnSeveralHosts(const train::DevicesEvent& event) {
    return std::any_of(event.devices.begin(), event.devices.end(), [&](const auto& device) {
        return device.host != event.devices.front().host;
    });
}

DeviceLoad deviceLoad(const train::DevicesEvent& event) {
    DeviceLoad out;
    double all_ms = 0;
    double compute_ms = 0;
    double waited_ms = 0;
    double exchange_ms = 0;
    double planned_ms = 0;
    double planned_exchange_ms = 0;
    double longest_ms = -1;
    for (std::size_t i = 0; i < event.devices.size(); ++i) {
        const train::DevicesEvent::Device& device = event.devices[i];
        const double own_ms = device.compute_ms + device.exchange_ms + device.waited_ms;
        all_ms += own_ms;
        compute_ms += device.compute_ms;
        waited_ms += device.waited_ms;
        exchange_ms += device.exchange_ms;
        planned_ms += device.planned_compute_ms + device.planned_exchange_ms;
        planned_exchange_ms += device.planned_exchange_ms;
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
    const auto share = [](double part, double whole) { return whole > 0 ? part / whole : 0; };
    out.waited_share = share(waited_ms, all_ms);
    out.exposed_share = share(exchange_ms + waited_ms, all_ms);
    out.planned_exposed_share = share(planned_exchange_ms, planned_ms);
    const train::DevicesEvent::Device& first = event.devices.front();
    const bool simulated = first.host.empty() && !first.gpu; // they share cores
    for (const train::DevicesEvent::Link& link : event.links) {
        LinkLoad& one = out.links.emplace_back();
        one.axes = QString::fromStdString(link.axes).replace(",", "×");
        one.between_hosts = link.between_hosts;
        one.bytes_per_s = share(static_cast<double>(link.sent_bytes), link.exchange_ms * 1e-3);
        one.planned_bytes_per_s =
            share(static_cast<double>(link.sent_bytes), link.planned_ms * 1e-3);
        one.is_slow = !simulated && one.bytes_per_s < kSlowLink * one.planned_bytes_per_s;
    }
    if (areOnSeveralHosts(event)) {
        out.host =
            QString::fromStdString(event.devices[static_cast<std::size_t>(out.slowest)].host);
    }
    return out;
}

QString loadText(const DeviceLoad& load) {
    QStringList parts;
    const QString step = formatMilliseconds(load.step_ms);
    parts << (load.planned_ms > 0 ? DeviceLoadText::tr("step %1 ms, planned %2")
                                        .arg(step, formatMilliseconds(load.planned_ms))
                                  : DeviceLoadText::tr("step %1 ms").arg(step));
    const auto percent = [](double share) { return QString::number(share * 100, 'f', 0); };
    if (load.planned_exposed_share > 0) {
        parts << DeviceLoadText::tr("exposed communication %1 %, planned %2 %, waiting %3 %")
                     .arg(percent(load.exposed_share), percent(load.planned_exposed_share),
                          percent(load.waited_share));
    } else if (load.exposed_share > 0) {
        parts << DeviceLoadText::tr("exposed communication %1 %, waiting %2 %")
                     .arg(percent(load.exposed_share), percent(load.waited_share));
    }
    for (const LinkLoad& link : load.links) {
        if (link.bytes_per_s > 0) {
            parts << linkText(link);
        }
    }
    const QString slowest =
        load.host.isEmpty()
            ? DeviceLoadText::tr("device %1").arg(load.slowest)
            : DeviceLoadText::tr("device %1 on %2").arg(load.slowest).arg(load.host);
    parts << (load.imbalance < kEven ? DeviceLoadText::tr("they compute evenly")
                                     : DeviceLoadText::tr("%1 computes %2 % longer than the mean")
                                           .arg(slowest, percent(load.imbalance)));
    parts << DeviceLoadText::tr("memory %1 of %2 planned")
                 .arg(widgets::formatMemory(load.memory), widgets::formatMemory(load.planned));
    return parts.join(DeviceLoadText::tr(" · "));
}

} // namespace weft::ui
