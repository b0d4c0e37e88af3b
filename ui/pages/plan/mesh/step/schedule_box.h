// SPDX-License-Identifier: GPL-3.0-or-later
// How layers and microbatches are spread over a pipeline: the schedule, which layers each stage
// has, and what data ranks split of the state.
#pragma once

#include "ui/bridge/draft/stage_edit.h"
#include "ui/bridge/plan/plan_digest.h"

#include <QWidget>

#include <memory>

class QComboBox;
class QPushButton;

namespace weft::widgets {
class ElidedLabel;
class SectionHeader;
class SegmentedControl;
class StageStrip;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class ZeroControl;

class ScheduleBox : public QWidget {
    Q_OBJECT
public:
    explicit ScheduleBox(QWidget* parent = nullptr);

    void show(std::shared_ptr<const compile::RunConfig> config,
              std::shared_ptr<const PlanDigest> digest);
    void setStale(bool stale);

signals:
    /// "--set" assignments for the draft, and what they are.
    void adopted(const std::vector<std::string>& overrides, const QString& what);

private:
    QWidget* createChoices();
    QWidget* createStages();
    void renew();
    void chooseSchedule(int index);
    void chooseFile();
    void chooseStages(const std::vector<int>& counts);
    void layAlong(const QString& axis);
    /// Says what would be wrong, or hands the edit on.
    void change(const std::vector<std::string>& assignments, const QString& what);
    void say(const QString& words);

    std::shared_ptr<const compile::RunConfig> config_;
    std::shared_ptr<const PlanDigest> digest_;
    StageEdit stages_;
    widgets::SectionHeader* header_;
    QComboBox* schedule_;
    ZeroControl* zero_;
    widgets::SegmentedControl* widths_;
    widgets::ElidedLabel* words_;
    QPushButton* balanced_;
    widgets::StageStrip* strip_;
    widgets::TextLabel* wrong_;
};

} // namespace weft::ui
