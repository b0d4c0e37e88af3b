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
    enum class Form {
        Stages,  // a bar for each, the throughput, the sentence
        Sentence // the sentence alone
    };
    /// What the sentence advises is set in `draft`.
    LoadingPanel(RunModel& run, Draft& draft, Form form, QWidget* parent = nullptr);

private:
    void update();
    void showStages();

    RunModel& run_;
    Draft& draft_;
    widgets::SectionHeader* header_ = nullptr;
    widgets::BarList* bars_ = nullptr;
    widgets::TextLabel* rates_ = nullptr;
    widgets::TextLabel* sentence_;
    QPushButton* set_;
    int cores_;
};

} // namespace weft::ui
