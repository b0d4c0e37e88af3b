// SPDX-License-Identifier: GPL-3.0-or-later
// What the plan pads, keeps whole or cannot hold, what that costs, and the changes after which it
// is gone, one click each.
#pragma once

#include "ui/pages/plan/plan_panel.h"

#include <string>
#include <vector>

class QStackedWidget;
class QTableView;
class QVBoxLayout;

namespace weft::widgets {
class EmptyState;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class FindingModel;

class FindingsPanel : public PlanPanel {
    Q_OBJECT
public:
    explicit FindingsPanel(QWidget* parent = nullptr);

    /// Ways to make a plan fit that does not.
    void setMemoryFixes(const std::vector<plan::Alternative>& fixes);
    int count() const;

signals:
    /// "--set" assignments for the draft, and what they are.
    void adopted(const std::vector<std::string>& overrides, const QString& what);
    /// The user chose a finding: the tensor that it is about.
    void tensorChosen(const QString& name);
    void countChanged(int count);

protected:
    void planChanged(const ShownPlan& before) override;
    void staleChanged() override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* createDetails();
    void settle(int row);
    void showDetails();
    int selectedRow() const;
    void arrangeColumns();

    bool settling_ = false; // rows change by themselves: that is no choice
    QStackedWidget* stack_;
    widgets::EmptyState* empty_;
    FindingModel* model_;
    QTableView* table_;
    widgets::TextLabel* story_;
    QWidget* details_;
    QVBoxLayout* fixes_;
};

} // namespace weft::ui
