// SPDX-License-Identifier: GPL-3.0-or-later
// Mesh & Plan: what the draft will hold and cost, before it starts. Part Mesh: who holds what, and
// who says what to whom; part Plan: verdict, memory over
// the step, ops, what could be otherwise; part Program: what each pass made of it.
#pragma once

#include "ui/bridge/plan_preview.h"
#include "ui/screens/plan/export_menu.h"
#include "ui/screens/screen.h"

#include <optional>

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

class MemoryPart;
class MeshPart;
class OpPart;
class ProgramPart;

class PlanScreen : public Screen {
    Q_OBJECT
public:
    PlanScreen(Studio& studio, Actions& actions);

    widgets::NavState navState() const override;
    bool editsDraft() const override { return true; }
    PlanPreview& preview() { return preview_; }

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    QWidget* createHeader();
    QWidget* createPlan();
    QWidget* createSide();
    void describeHardware();
    void update();
    void showPlan();
    void updateWhatIf();
    void updateTrouble();
    void adopt(const std::vector<std::string>& overrides, const QString& what);
    /// The parts that show the step are at the op that the user went to in one of them.
    void showOp();
    PlannedRun planned() const;

    Studio& studio_;
    Actions& actions_;
    PlanPreview preview_;
    widgets::SegmentedControl* part_ = nullptr;
    QComboBox* hardware_;
    QPushButton* exporting_;
    widgets::ProgressLine* progress_;
    widgets::Banner* trouble_;
    QStackedWidget* stack_;
    widgets::EmptyState* message_;
    MeshPart* mesh_ = nullptr;
    MemoryPart* memory_;
    OpPart* ops_;
    ProgramPart* program_;
    std::optional<int> op_; // of the step, that the user went to
    bool settling_ = false; // another plan comes: what moves now is no choice
};

} // namespace weft::ui
