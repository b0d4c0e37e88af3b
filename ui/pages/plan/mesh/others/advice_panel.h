// SPDX-License-Identifier: GPL-3.0-or-later
// Better meshes, looked for when it is asked for: as a list and as memory against time, with the
// draft among them; why the others are not; and one click to take one over.
#pragma once

#include "ui/pages/plan/plan_panel.h"

#include <QElapsedTimer>
#include <QTimer>

class QPushButton;
class QSortFilterProxyModel;
class QStackedWidget;
class QTableView;
class QVBoxLayout;

namespace weft::widgets {
class Badge;
class ElidedLabel;
class EmptyState;
class ProgressLine;
class SectionHeader;
class TextLabel;
class TradeOffChart;
} // namespace weft::widgets

namespace weft::ui {

class AdviceModel;

class AdvicePanel : public PlanPanel {
    Q_OBJECT
public:
    explicit AdvicePanel(Planner::Meshes meshes, QWidget* parent = nullptr);

    const std::vector<MeshWay>& ways() const { return search_.ways(); }

signals:
    /// The user wants these "--set" assignments in the draft.
    void adopted(const std::vector<std::string>& overrides, const QString& what);
    /// The meshes that are known are others.
    void waysChanged();

protected:
    void planChanged(const ShownPlan& before) override;
    void staleChanged() override;

private:
    QWidget* createHeader();
    QWidget* createEmpty();
    QWidget* createResults();
    QWidget* createReasons();
    void look();
    void update();
    void updateState();
    void fill();
    void fillChart();
    void fillReasons();
    void select(int row);
    int selectedRow() const;
    void describe();
    void adopt();
    bool isOfAnother() const; // the results are of another run than the one shown

    MeshSearch search_;
    QElapsedTimer since_;
    QTimer tick_;            // while searching
    std::vector<int> order_; // row of each point of the chart
    widgets::SectionHeader* header_;
    widgets::Badge* badge_;
    QPushButton* look_;
    QPushButton* cancel_;
    QPushButton* use_;
    widgets::ProgressLine* progress_;
    QStackedWidget* stack_;
    widgets::EmptyState* empty_;
    AdviceModel* model_;
    QSortFilterProxyModel* proxy_;
    QTableView* table_;
    widgets::ElidedLabel* assignments_;
    widgets::TradeOffChart* chart_;
    QVBoxLayout* reasons_;
};

} // namespace weft::ui
