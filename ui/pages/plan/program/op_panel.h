// SPDX-License-Identifier: GPL-3.0-or-later
// The ops of the step: grouped, filtered, sorted; the selected row and the cursor are one thing.
#pragma once

#include "ui/pages/plan/plan_panel.h"

class QLineEdit;
class QTableView;

namespace weft::widgets {
class SectionHeader;
class SegmentedControl;
class ShareDelegate;
} // namespace weft::widgets

namespace weft::ui {

class OpFilter;
class OpModel;

class OpPanel : public PlanPanel {
    Q_OBJECT
public:
    explicit OpPanel(QWidget* parent = nullptr);

    /// Selects the row of an op without asking for it.
    void showOp(int op);
    void focusFilter();

signals:
    /// The user chose a row: its first op.
    void opChosen(int op);

protected:
    void planChanged(const ShownPlan& before) override;
    void staleChanged() override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void describe();
    bool namesKernels() const;
    void arrangeColumns();

    int shown_ = -1;
    bool settling_ = false; // rows change by themselves: what the table makes current is no choice
    widgets::SectionHeader* header_;
    widgets::SegmentedControl* grouping_;
    QLineEdit* filter_;
    OpModel* model_;
    OpFilter* proxy_;
    QTableView* table_;
    widgets::ShareDelegate* share_;
};

} // namespace weft::ui
