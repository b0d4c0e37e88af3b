// SPDX-License-Identifier: GPL-3.0-or-later
// Memory over one step, and what is alive at the cursor or at the peak.
#pragma once

#include "ui/pages/plan/plan_panel.h"

class QPushButton;
class QTableView;

namespace weft::widgets {
class MemoryTimeline;
class SectionHeader;
class SegmentedControl;
} // namespace weft::widgets

namespace weft::ui {

class TensorModel;

class StepMemoryPanel : public PlanPanel {
    Q_OBJECT
public:
    explicit StepMemoryPanel(QWidget* parent = nullptr);

    /// The same step planned otherwise, as an outline; null: none.
    void setGhost(const PlanDigest* other, const QString& label);
    int cursor() const;
    void setCursor(int op);
    widgets::MemoryTimeline* timeline() const { return timeline_; }

signals:
    void cursorChanged(int op);

protected:
    void planChanged(const ShownPlan& before) override;
    void staleChanged() override;
    /// The table of what is alive drops a column where there is no room.
    bool eventFilter(QObject* watched, QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QWidget* createTimeline();
    QWidget* createAlive();
    QPushButton* createTurn(const char* object_name, const QString& text, const QString& help,
                            bool to_alive);
    void arrangeAlive();
    /// Beside each other, or one of them where both had no room.
    void arrangeSides();
    void moveTo(int op);
    void showAlive();

    widgets::SectionHeader* header_;
    widgets::MemoryTimeline* timeline_;
    widgets::SectionHeader* alive_header_;
    widgets::SegmentedControl* alive_at_;
    TensorModel* alive_;
    QTableView* alive_table_;
    QWidget* sides_[2];       // the curve, and what is alive
    QPushButton* turns_[2];   // to the other side
    bool alive_side_ = false; // where one is shown
};

} // namespace weft::ui
