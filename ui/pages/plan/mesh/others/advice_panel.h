// SPDX-License-Identifier: GPL-3.0-or-later
// Better meshes, looked for when it is asked for: as a list and as memory against time, with the
// draft among them; why the others are not; and one click to take one over.
#pragma once

#include "ui/bridge/plan/mesh_search.h"

#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>

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

class AdvicePanel : public QWidget {
    Q_OBJECT
public:
    explicit AdvicePanel(Planner::Meshes meshes, QWidget* parent = nullptr);

    /// The run whose plan the next setDigest() brings.
    void setRun(const MeshRun& run);
    void setDigest(std::shared_ptr<const PlanDigest> digest);
    void setStale(bool stale);
    const std::vector<MeshWay>& ways() const { return search_.ways(); }

signals:
    /// The user wants these "--set" assignments in the draft.
    void adopted(const std::vector<std::string>& overrides, const QString& what);
    /// The meshes that are known are others.
    void waysChanged();

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
    MeshRun run_;
    std::shared_ptr<const PlanDigest> digest_;
    bool stale_ = false;
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
