// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/mesh/device_set.h"

#include <QStringList>

#include <algorithm>

namespace weft::widgets {

std::vector<int> DeviceSet::mesh() const {
    std::vector<int> sizes;
    for (const DeviceAxis& axis : axes) {
        sizes.push_back(axis.size);
    }
    return sizes;
}

const DeviceGroup& DeviceSet::groupOf(int device) const {
    return groups[static_cast<std::size_t>(group_of[static_cast<std::size_t>(device)])];
}

qint64 DeviceSet::mostBytes() const {
    qint64 most = 1;
    for (const DeviceGroup& group : groups) {
        most = std::max(most, group.bytes);
    }
    return most;
}

std::vector<int> DeviceSet::coordinates(int device) const {
    std::vector<int> out(axes.size());
    for (std::size_t i = axes.size(); i-- > 0;) {
        out[i] = device % axes[i].size;
        device /= axes[i].size;
    }
    return out;
}

QString DeviceSet::nameOf(int device) const {
    return kind + QLatin1Char(':') + QString::number(device);
}

QString DeviceSet::placeOf(int device) const {
    QStringList out;
    const std::vector<int> at = coordinates(device);
    for (std::size_t i = 0; i < axes.size(); ++i) {
        out.append(axes[i].name + QLatin1Char('=') + QString::number(at[i]));
    }
    return out.join(QLatin1Char(' '));
}

} // namespace weft::widgets
