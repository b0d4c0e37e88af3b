// SPDX-License-Identifier: GPL-3.0-or-later
// Mesh & Plan: what the draft will hold and cost, before it starts. Tab Mesh: who holds what, and
// who says what to whom; tab Plan: verdict, memory over
// the step, ops, what could be otherwise; tab Program: what each pass made of it.
#pragma once

#include "ui/bridge/plan/plan_preview.h"
#include "ui/pages/page.h"
#include "ui/pages/plan/export_menu.h"

class QComboBox;
class QPushButton;
class QStackedWidget;

namespace weft::widgets {
class Banner;
class EmptyState;
class ProgressLine;
class SegmentedControl;
} // namespace weft::widgets

namespace weft::ui {

class StepMemoryPanel;
class MeshPanel;
class OpPanel;
class ProgramPanel;
class ScrubPanel;

class PlanPage : public Page {
    Q_OBJECT
public:
    PlanPage(Studio& studio, Actions& actions);

    widgets::NavState navState() const override;
    bool editsDraft() const override { return true; }
    PlanPreview& preview() { return preview_; }

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QWidget* createHeader();
    QWidget* createPlan();
    QWidget* createSide();
    void describeHardware();
    void followDraftsHardware(const cost::Hardware* named);
    void wantHardware(bool wanted);
    void update();
    void showPlan();
    /// For windows of little height.
    void keepLow();
    void updateWhatIf();
    void updateTrouble();
    /// Of the first error, on the page that has it.
    void showWrongField();
    void adopt(const std::vector<std::string>& overrides, const QString& what);
    /// One moment for the panels that show the step: the scrubber's.
    void connectMoment();
    void showMoment();
    PlannedRun planned() const;

    Studio& studio_;
    Actions& actions_;
    PlanPreview preview_;
    widgets::SegmentedControl* tab_ = nullptr;
    QComboBox* hardware_;
    int chosen_hardware_ = 1; // the last that was not this machine
    const cost::Hardware* named_hardware_ = nullptr; // by the last draft that could be read
    QPushButton* exporting_;
    widgets::ProgressLine* progress_;
    widgets::Banner* trouble_;
    QStackedWidget* stack_;
    widgets::EmptyState* message_;
    QPushButton* home_;
    QPushButton* field_;
    MeshPanel* mesh_ = nullptr;
    StepMemoryPanel* memory_;
    OpPanel* ops_;
    ProgramPanel* program_;
    ScrubPanel* scrub_;
    bool settling_ = false; // the memory's cursor follows, and chooses nothing
};

} // namespace weft::ui
