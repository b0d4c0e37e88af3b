// SPDX-License-Identifier: GPL-3.0-or-later
// The ZeRO stage: how much of the state the data ranks split.
#pragma once

#include "widgets/controls/controls.h"

namespace weft::ui {

class ZeroControl : public widgets::SegmentedControl {
    Q_OBJECT
public:
    explicit ZeroControl(QWidget* parent = nullptr);
    /// Does not signal.
    void setStage(int stage);
};

} // namespace weft::ui
