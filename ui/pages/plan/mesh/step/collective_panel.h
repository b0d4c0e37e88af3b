// SPDX-License-Identifier: GPL-3.0-or-later
// What the devices of a mesh say to each other in a training step, why, and what it costs: as a
// table, as arrows between the devices, and how it works on small numbers.
#pragma once

#include "ui/pages/plan/plan_panel.h"

class QComboBox;
class QPushButton;
class QSortFilterProxyModel;
class QStackedWidget;
class QTableView;

namespace weft::widgets {
class EmptyState;
class CollectiveView;
class SectionHeader;
class SegmentedControl;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class CollectiveModel;
class PatternPanel;

class CollectivePanel : public PlanPanel {
    Q_OBJECT
public:
    explicit CollectivePanel(QWidget* parent = nullptr);

    /// Marks the row of an op as the one that runs; none for an op that is no exchange. What the
    /// user has chosen stays chosen.
    void showOp(int op);
    widgets::CollectiveView* arrows() const { return arrows_; }

signals:
    /// The user chose a row: its first op in the digest's program. Rows of other stages have none.
    void opChosen(int step_position);
    /// The user follows a reason to the state slot that it is about.
    void tensorChosen(const QString& name);
    /// There is one device, and the user wants several.
    void simulateRequested();

protected:
    void planChanged(const ShownPlan& before) override;
    void staleChanged() override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QWidget* createTable();
    QWidget* createArrows();
    void describe();
    void explain();
    void showPage();
    void offerRows();
    QString rowTitle(int row) const;
    void drawArrows();
    void showPattern();
    int selectedRow() const;
    void selectRow(int row);
    void follow(int row);
    void arrangeColumns();

    bool settling_ = false; // rows change by themselves: what the table makes current is no choice
    int pattern_row_ = -1;  // whose pattern is shown
    QString summary_;       // of all collectives
    widgets::SectionHeader* header_;
    widgets::SegmentedControl* form_;
    QStackedWidget* stack_;
    widgets::EmptyState* empty_;
    QPushButton* simulate_;
    CollectiveModel* model_;
    QSortFilterProxyModel* proxy_;
    QTableView* table_;
    QComboBox* which_;
    widgets::TextLabel* note_;
    widgets::CollectiveView* arrows_;
    PatternPanel* pattern_;
    widgets::TextLabel* why_;
};

} // namespace weft::ui
