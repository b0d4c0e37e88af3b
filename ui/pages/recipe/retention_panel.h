// SPDX-License-Identifier: GPL-3.0-or-later
// What will be on disk: every checkpoint from its save until retention removes it, by the engine's
// own rules, and what exists at one step.
#pragma once

#include "ui/bridge/draft/retention_preview.h"
#include "ui/bridge/newest_job.h"

#include <QWidget>

namespace weft::widgets {
class LifelineChart;
class SectionHeader;
} // namespace weft::widgets

namespace weft::ui {

class RunModel;

class RetentionPanel : public QWidget {
    Q_OBJECT
public:
    RetentionPanel(Draft& draft, RunOutlook& outlook, RunModel& run, QWidget* parent = nullptr);

    const RetentionPreview& preview() const { return preview_; }

private:
    void refresh();
    void show(RetentionPreview preview);
    void describe();
    /// Where the metric is taken to be best: as in the run on screen, else in the middle.
    std::int64_t assumedBest(std::int64_t steps);

    Draft& draft_;
    RunOutlook& outlook_;
    RunModel& run_;
    widgets::SectionHeader* header_;
    widgets::LifelineChart* chart_;
    RetentionPreview preview_;
    QString assumption_;
    NewestJob job_{this};
    bool placed_ = false; // the moment has been put somewhere
};

} // namespace weft::ui
