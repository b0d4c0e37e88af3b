// SPDX-License-Identifier: GPL-3.0-or-later
// What preparing data takes in the run on screen, stage by stage, and who waits for whom.
#pragma once

#include <QWidget>

class QPushButton;

namespace weft::widgets {
class BarList;
class SectionHeader;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class Draft;
class RunModel;

/// Hidden as long as no run has told.
class LoadingPanel : public QWidget {
    Q_OBJECT
public:
    /// What the sentence advises is set in `draft`.
    LoadingPanel(RunModel& run, Draft& draft, QWidget* parent = nullptr);

private:
    void update();
    void showStages();

    RunModel& run_;
    Draft& draft_;
    widgets::SectionHeader* header_;
    widgets::BarList* bars_;
    widgets::TextLabel* rates_;
    widgets::TextLabel* sentence_;
    QPushButton* set_;
    int cores_;
};

} // namespace weft::ui
