// SPDX-License-Identifier: GPL-3.0-or-later
// The draft's mesh, A, beside another one, B: a strategy's, one that the advisor found, one that
// was kept, or the draft's own before the last edit.
#pragma once

#include "ui/bridge/plan/plan_compare.h"
#include "ui/bridge/plan/plan_job.h"
#include "ui/pages/plan/plan_panel.h"

#include <functional>

class QComboBox;
class QPushButton;
class QSortFilterProxyModel;
class QTableView;

namespace weft::widgets {
class ElidedLabel;
class EmptyState;
class MemoryBar;
class ProgressLine;
class SectionHeader;
class TextLabel;
} // namespace weft::widgets

class QStackedWidget;

namespace weft::ui {

class FigureModel;
class TensorCompareModel;

class PlanComparePanel : public PlanPanel {
    Q_OBJECT
public:
    explicit PlanComparePanel(Planner::Plan plan, QWidget* parent = nullptr);

    /// How specs are written.
    void setDialect(sharding::SpecDialect dialect);
    /// What the advisor found for the run.
    void setProposals(const std::vector<MeshWay>& ways);

signals:
    /// The user wants these "--set" assignments in the draft.
    void adopted(const std::vector<std::string>& overrides, const QString& what);

protected:
    void planChanged(const ShownPlan& before) override;
    void staleChanged() override;
    // Plans B only while somebody looks.
    void showEvent(QShowEvent* event) override;

private:
    /// A mesh to compare with: assignments on top of the draft, or a run of its own.
    struct Choice {
        QString title;
        std::string id;                     // stays over changes of the list
        std::vector<std::string> overrides; // without a run
        std::optional<MeshRun> run;
        std::shared_ptr<const PlanDigest> digest; // of the run, when it is known
    };

    QWidget* createHeader();
    QWidget* createTables();
    QWidget* createMemory();
    void listChoices();
    const Choice* chosen() const;
    std::optional<MeshRun> runOf(const Choice& choice) const;
    void planOther();
    void update();
    void fill();
    void keep();
    void adopt();

    sharding::SpecDialect dialect_ = sharding::SpecDialect::jax;
    bool wanted_ = false; // B is to be planned when somebody looks
    std::optional<Choice> before_;
    std::vector<Choice> kept_;
    std::vector<MeshWay> proposals_;
    std::vector<Choice> choices_; // as the box lists them
    PlanJob other_;
    widgets::SectionHeader* header_;
    QComboBox* box_;
    QPushButton* keep_;
    QPushButton* use_;
    widgets::ProgressLine* progress_;
    QStackedWidget* stack_;
    widgets::EmptyState* empty_;
    widgets::MemoryBar* bar_;
    widgets::TextLabel* sides_;
    FigureModel* figures_;
    QTableView* figure_table_;
    TensorCompareModel* tensors_;
    QSortFilterProxyModel* tensor_proxy_;
    QStackedWidget* tensor_stack_;
    QTableView* tensor_table_;
};

} // namespace weft::ui
