// SPDX-License-Identifier: GPL-3.0-or-later
// Memory over one step, and what is alive at the cursor or at the peak.
#pragma once

#include "ui/bridge/plan/plan_digest.h"

#include <QWidget>

#include <memory>

class QTableView;

namespace weft::widgets {
class MemoryTimeline;
class SectionHeader;
class SegmentedControl;
} // namespace weft::widgets

namespace weft::ui {

class TensorModel;

class StepMemoryPanel : public QWidget {
    Q_OBJECT
public:
    explicit StepMemoryPanel(QWidget* parent = nullptr);

    void setDigest(std::shared_ptr<const PlanDigest> digest);
    void setStale(bool stale);
    /// The same step planned otherwise, as an outline; null: none.
    void setGhost(const PlanDigest* other, const QString& label);
    int cursor() const;
    void setCursor(int op);
    widgets::MemoryTimeline* timeline() const { return timeline_; }

signals:
    void cursorChanged(int op);

protected:
    /// The table of what is alive drops a column where there is no room.
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* createTimeline();
    QWidget* createAlive();
    void arrangeAlive();
    void moveTo(int op);
    void showAlive();

    std::shared_ptr<const PlanDigest> digest_;
    widgets::SectionHeader* header_;
    widgets::MemoryTimeline* timeline_;
    widgets::SectionHeader* alive_header_;
    widgets::SegmentedControl* alive_at_;
    TensorModel* alive_;
    QTableView* alive_table_;
};

} // namespace weft::ui
