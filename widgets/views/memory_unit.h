// SPDX-License-Identifier: GPL-3.0-or-later
// One binary unit for figures of memory that stand together, so that they can be compared at a
// glance: the largest of them sets it.
#pragma once

#include <QString>

namespace weft::widgets {

class MemoryUnit {
public:
    MemoryUnit() = default;
    explicit MemoryUnit(qint64 largest);

    double bytes() const { return bytes_; }
    /// "4.7"; "0.02" where one decimal would say nothing.
    QString figure(qint64 bytes) const;
    /// "4.7 GiB"
    QString text(qint64 bytes) const;

private:
    double bytes_ = 1;
    QString name_ = QStringLiteral("B");
};

} // namespace weft::widgets
