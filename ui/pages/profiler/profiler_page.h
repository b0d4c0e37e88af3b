// SPDX-License-Identifier: GPL-3.0-or-later
// Profiler: steps of the run on screen, recorded while it trains. Why they are slow, what each
// device did when, where the time goes, how near to the ceilings of the machine, and what changed
// since another recording.
#pragma once

#include "ui/bridge/profile/recordings.h"
#include "ui/pages/page.h"

class QComboBox;
class QSplitter;
class QStackedWidget;

namespace weft::widgets {
class RooflineChart;
class SectionHeader;
class SplitButton;
} // namespace weft::widgets

namespace weft::ui {

class TimePanel;
class TimelinePanel;
class CausePanel;

class ProfilerPage : public Page {
    Q_OBJECT
public:
    ProfilerPage(Studio& studio, Actions& actions);

    void activated() override;
    const Recordings& recordings() const { return recordings_; }

private:
    QWidget* createHeader();
    QWidget* createContent();
    QWidget* createRoofline();
    void followRun();
    void record(int steps);
    void fillChoosers();
    void chooseBefore(int index);
    void refresh();
    void showSheet();
    void fitTimeline();
    void updateRecord();
    QString recordProblem() const;
    void chooseCall(int call);
    void chooseRow(const std::string& name);
    void writeTrace();

    Studio& studio_;
    Recordings recordings_;
    std::shared_ptr<const OpenRecording> drawn_;
    std::shared_ptr<const OpenRecording> drawn_before_;
    std::filesystem::path elsewhere_; // a recording of another folder to compare with
    std::string chosen_row_;
    std::size_t fitted_devices_ = 0; // that the height of the step was made for
    RooflineData roofline_data_;
    bool recording_ = false; // the run has accepted it and not ended it
    widgets::SectionHeader* header_;
    QComboBox* chooser_;
    QComboBox* before_chooser_;
    widgets::SplitButton* record_;
    QStackedWidget* stack_;
    QSplitter* rows_; // the step, and what is below it
    widgets::EmptyState* message_;
    QPushButton* home_;
    QPushButton* record_here_;
    CausePanel* verdict_;
    TimelinePanel* timeline_;
    TimePanel* times_;
    widgets::SectionHeader* roofline_header_;
    widgets::RooflineChart* roofline_;
};

} // namespace weft::ui
