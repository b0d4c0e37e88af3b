// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/gpu_model.h"

#include "widgets/look/painting.h"

#include <cmath>
#include <utility>

namespace weft::ui {
namespace {

const QString kNotKnown = QStringLiteral("-");

QString gpuMemoryText(const GpuFacts& gpu) {
    const QString all = widgets::formatMemory(gpu.memory_bytes);
    return gpu.used_bytes
               ? GpuModel::tr("%1 of %2").arg(widgets::formatMemory(*gpu.used_bytes), all)
               : GpuModel::tr("of %1").arg(all);
}

QString busyOf(const GpuFacts& gpu) {
    return gpu.utilisation ? GpuModel::tr("%1 %").arg(std::lround(*gpu.utilisation * 100))
                           : kNotKnown;
}

QString powerOf(const GpuFacts& gpu) {
    if (!gpu.power_w) {
        return kNotKnown;
    }
    return gpu.power_limit_w ? GpuModel::tr("%1 of %2 W")
                                   .arg(std::lround(*gpu.power_w))
                                   .arg(std::lround(*gpu.power_limit_w))
                             : GpuModel::tr("%1 W").arg(std::lround(*gpu.power_w));
}

QString temperatureOf(const GpuFacts& gpu) {
    return gpu.temperature_c ? GpuModel::tr("%1 °C").arg(std::lround(*gpu.temperature_c))
                             : kNotKnown;
}

} // namespace

GpuModel::GpuModel(QObject* parent) : TableModel(parent) {
    using widgets::TextStyle;
    describe(
        {{.title = tr("GPU"),
          .text = [](const GpuFacts& gpu) { return QStringLiteral("cuda:%1").arg(gpu.number); },
          .font = TextStyle::Mono},
         {.title = tr("name"), .text = [](const GpuFacts& gpu) { return gpu.name; }},
         {.title = tr("memory in use"),
          .text = gpuMemoryText,
          .number = true,
          .title_tip = tr("By all processes")},
         {.title = tr("busy"),
          .text = busyOf,
          .number = true,
          .title_tip = tr("Share of the last moments in which it computed")},
         {.title = tr("power"), .text = powerOf, .number = true},
         {.title = tr("temperature"), .text = temperatureOf, .number = true}},
        [](const GpuFacts& gpu) { return gpu.unknown.isEmpty() ? gpu.name : gpu.unknown; });
}

void GpuModel::setGpus(std::vector<GpuFacts> gpus) {
    if (gpus.size() != rows_.size()) {
        beginResetModel();
        rows_ = std::move(gpus);
        endResetModel();
        return;
    }
    rows_ = std::move(gpus);
    if (!rows_.empty()) {
        emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
    }
}

} // namespace weft::ui
