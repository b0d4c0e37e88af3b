// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/memory_unit.h"

namespace weft::widgets {
namespace {

constexpr double kOneDecimal = 0.05;   // shown as 0.1
constexpr double kTwoDecimals = 0.005; // shown as 0.01

} // namespace

MemoryUnit::MemoryUnit(qint64 largest) {
    static const char* const kNames[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int power = 0;
    while (power < 4 && static_cast<double>(largest) >= bytes_ * 1024.0) {
        bytes_ *= 1024.0;
        ++power;
    }
    name_ = QString::fromLatin1(kNames[power]);
}

QString MemoryUnit::figure(qint64 bytes) const {
    const double value = static_cast<double>(bytes) / bytes_;
    if (bytes == 0 || bytes_ == 1) {
        return QString::number(bytes);
    }
    return value >= kOneDecimal    ? QString::number(value, 'f', 1)
           : value >= kTwoDecimals ? QString::number(value, 'f', 2)
                                   : QStringLiteral("< 0.01");
}

QString MemoryUnit::text(qint64 bytes) const {
    return figure(bytes) + QLatin1Char(' ') + name_;
}

} // namespace weft::widgets
