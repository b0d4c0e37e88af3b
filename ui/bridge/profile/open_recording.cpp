// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/profile/open_recording.h"

#include "ui/bridge/convert.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>
#include <numeric>

namespace weft::ui {
namespace {

using profile::Recording;
using widgets::SpanKind;

constexpr double kLeastShare = 0.002; // of the step: points of less only stretch the axes

struct RecordingWords {
    Q_DECLARE_TR_FUNCTIONS(OpenRecording)
};

std::vector<std::size_t> firstEvents(const Recording& recording,
                                     const profile::DeviceEvents& device) {
    std::vector<std::size_t> out;
    for (const profile::StepTimes& step : recording.steps) {
        const auto first =
            std::partition_point(device.events.begin(), device.events.end(),
                                 [&](const auto& event) { return event.start_us < step.start_us; });
        out.push_back(static_cast<std::size_t>(first - device.events.begin()));
    }
    out.push_back(device.events.size());
    return out;
}

std::size_t medianStep(const Recording& recording) {
    std::vector<std::size_t> order(recording.steps.size());
    std::iota(order.begin(), order.end(), 0);
    const auto middle = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2);
    std::nth_element(order.begin(), middle, order.end(), [&](std::size_t a, std::size_t b) {
        return recording.steps[a].wall_us() < recording.steps[b].wall_us();
    });
    return *middle;
}

SpanKind spanKindOf(const profile::Call& call) {
    return call.exchange              ? SpanKind::Exchange
           : call.phase == "backward" ? SpanKind::Backward
           : call.phase == "update"   ? SpanKind::Update
                                      : SpanKind::Forward;
}

QString rateText(double flops) {
    return flops >= 1e12 ? RecordingWords::tr("%1 TFLOP/s").arg(flops / 1e12, 0, 'f', 2)
                         : RecordingWords::tr("%1 GFLOP/s").arg(flops / 1e9, 0, 'f', 1);
}

void addDevice(const OpenRecording& open, std::size_t step, std::size_t device,
               widgets::EventTimelineData& out) {
    const double start_us = open.recording.steps[step].start_us;
    const profile::DeviceEvents& events = open.recording.devices[device];
    widgets::EventRow kernels{toQString(events.name), false, {}};
    widgets::EventRow exchanges{RecordingWords::tr("exchange"), true, {}};
    const auto& first = open.first_events[device];
    for (std::size_t at = first[step]; at < first[step + 1]; ++at) {
        const profile::Event& event = events.events[at];
        const profile::Call& call = open.recording.calls[static_cast<std::size_t>(event.call)];
        const double from = (event.start_us - start_us) / 1e3;
        const double until = (event.end_us() - start_us) / 1e3;
        widgets::EventRow& row = call.exchange ? exchanges : kernels;
        if (event.waited_us > 0) {
            row.spans.push_back(
                {SpanKind::Waiting, event.call, from, from + event.waited_us / 1e3});
        }
        row.spans.push_back({spanKindOf(call), event.call, from + event.waited_us / 1e3, until});
    }
    out.rows.push_back(std::move(kernels));
    if (!exchanges.spans.empty()) {
        out.rows.push_back(std::move(exchanges));
    }
}

} // namespace

OpenRecording openRecording(const std::filesystem::path& file) {
    OpenRecording out{file, profile::read_recording(file), {}, {}, {}, 0};
    for (int grouping = 0; grouping < kGroupings; ++grouping) {
        out.tables[static_cast<std::size_t>(grouping)] =
            profile::time_table(out.recording, static_cast<profile::Grouping>(grouping));
    }
    out.causes = profile::causes_of(out.recording);
    for (const profile::DeviceEvents& device : out.recording.devices) {
        out.first_events.push_back(firstEvents(out.recording, device));
    }
    out.median_step = medianStep(out.recording);
    return out;
}

widgets::EventTimelineData timelineOf(const OpenRecording& open, std::size_t step) {
    const profile::StepTimes& times = open.recording.steps[step];
    widgets::EventTimelineData out;
    out.unit = RecordingWords::tr("ms");
    out.length = times.wall_us() / 1e3;
    for (const profile::Call& call : open.recording.calls) {
        QStringList detail;
        for (const std::string& part : {call.path, call.phase, call.kernel, call.dtype}) {
            if (!part.empty()) {
                detail.append(toQString(part));
            }
        }
        out.labels.push_back({toQString(call.op), detail.join(QStringLiteral(" · "))});
    }
    const int loader = static_cast<int>(out.labels.size());
    out.labels.push_back({RecordingWords::tr("waiting for the batch"), {}});
    out.labels.push_back({RecordingWords::tr("numbers and events"), {}});
    for (std::size_t device = 0; device < open.recording.devices.size(); ++device) {
        addDevice(open, step, device, out);
    }
    const double batch = (times.batch_us - times.start_us) / 1e3;
    const double computed = (times.computed_us - times.start_us) / 1e3;
    out.rows.push_back(
        {RecordingWords::tr("loader"), true, {{SpanKind::Loader, loader, 0, batch}}});
    out.rows.push_back(
        {RecordingWords::tr("host"), true, {{SpanKind::Host, loader + 1, computed, out.length}}});
    return out;
}

RooflineData rooflineOf(const OpenRecording& open) {
    RooflineData out;
    const profile::TimeTable& table = open.table(profile::Grouping::kernel);
    for (const profile::Row& row : table.rows) {
        if (row.flops <= 0 || row.bytes <= 0 || row.us <= 0 || row.name == "exchange") {
            continue;
        }
        const double rate = row.flops / (row.us * 1e-6);
        const double share = row.us / std::max(table.mean.wall_us, 1e-9);
        if (share < kLeastShare) {
            continue;
        }
        const QString name = toQString(row.name);
        QString said = RecordingWords::tr("%1: %2 at %3 FLOP a byte, %4 % of the step")
                           .arg(name, rateText(rate))
                           .arg(row.flops / row.bytes, 0, 'g', 3)
                           .arg(100 * share, 0, 'f', 1);
        if (row.best_us > 0) {
            said += RecordingWords::tr(", %1 times its best time").arg(row.times_best(), 0, 'f', 1);
        }
        out.points.push_back({row.flops / row.bytes, rate, share, name, said});
        out.kernels.push_back(row.name);
    }
    const profile::Ceilings& ceilings = open.recording.ceilings;
    if (ceilings.f32_flops > 0) {
        out.ceilings.push_back(
            {ceilings.f32_flops, RecordingWords::tr("f32 %1").arg(rateText(ceilings.f32_flops))});
    }
    if (ceilings.bf16_flops > 0 && ceilings.bf16_flops != ceilings.f32_flops) {
        out.ceilings.push_back({ceilings.bf16_flops,
                                RecordingWords::tr("bf16 %1").arg(rateText(ceilings.bf16_flops))});
    }
    out.bandwidth = ceilings.bandwidth;
    out.bandwidth_label =
        RecordingWords::tr("memory %1 GB/s").arg(ceilings.bandwidth / 1e9, 0, 'f', 1);
    return out;
}

QString stepsText(const Recording& recording) {
    return recording.steps.size() == 1
               ? RecordingWords::tr("step %1").arg(formatCount(recording.steps.front().step))
               : RecordingWords::tr("steps %1 to %2")
                     .arg(formatCount(recording.steps.front().step),
                          formatCount(recording.steps.back().step));
}

} // namespace weft::ui
