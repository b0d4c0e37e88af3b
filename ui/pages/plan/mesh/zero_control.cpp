// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/mesh/zero_control.h"

#include <QSignalBlocker>

namespace weft::ui {

ZeroControl::ZeroControl(QWidget* parent) : SegmentedControl(parent) {
    setAccessibleName(tr("ZeRO stage: what data ranks split"));
    addSegment("0", tr("Data ranks keep all state"));
    addSegment("1", tr("Data ranks split optimizer state"));
    addSegment("2", tr("Data ranks split optimizer state and gradients"));
    addSegment("3", tr("Data ranks split optimizer state, gradients and parameters"));
    setCompact(true);
}

void ZeroControl::setStage(int stage) {
    const QSignalBlocker quiet(this);
    setCurrentIndex(stage);
}

} // namespace weft::ui
