// SPDX-License-Identifier: GPL-3.0-or-later
// Memory of the training step by category, as planned.
#pragma once

#include "ui/bridge/run_model.h"

#include <QWidget>

namespace weft::widgets {
class MemoryBar;
class SectionHeader;
} // namespace weft::widgets

namespace weft::ui {

class MemoryPanel : public QWidget {
    Q_OBJECT
public:
    explicit MemoryPanel(RunModel& run, QWidget* parent = nullptr);

private:
    void updatePlan();

    RunModel& run_;
    widgets::SectionHeader* header_;
    widgets::MemoryBar* bar_;
};

} // namespace weft::ui
