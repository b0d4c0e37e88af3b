// SPDX-License-Identifier: GPL-3.0-or-later
// The tensors of the plan by layer, with a filter; one is always chosen while there are any.
#pragma once

#include "ui/bridge/plan/step_moment.h"
#include "ui/pages/plan/plan_panel.h"

#include <QHash>

#include <vector>

class QLineEdit;
class QTreeView;

namespace weft::widgets {
class SectionHeader;
class SegmentedControl;
} // namespace weft::widgets

namespace weft::ui {

class TensorTreeModel;

class TensorTree : public PlanPanel {
    Q_OBJECT
public:
    explicit TensorTree(QWidget* parent = nullptr);

    /// How specs are written.
    void setDialect(sharding::SpecDialect dialect);
    /// Marks what the op of a moment reads and writes.
    void setMoment(const StepMoment& moment);
    /// The name of a tensor of the tree; empty without a plan.
    QString chosen() const { return chosen_; }
    void choose(const QString& name);
    void focusFilter();

signals:
    /// By the user, or because another plan lacks the last one.
    void tensorChosen(const QString& name);
    /// The user wants specs written so.
    void dialectChosen(sharding::SpecDialect dialect);

protected:
    /// Keeps the chosen tensor and the open groups as far as the new plan has them.
    void planChanged(const ShownPlan& before) override;
    void staleChanged() override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QWidget* createDialects();
    void settle();
    void openGroups(const QModelIndex& parent);
    void select(const QString& name);
    void describe();
    /// What the texts of a column need, in pixels.
    void measure();
    void measure(const QModelIndex& parent, int depth);
    void arrangeColumns();

    QString chosen_;
    QHash<QString, bool> open_; // groups that the user opened or closed, by path
    bool settling_ = false;     // rows change by themselves: that is no choice
    std::vector<double> needs_; // of each column
    widgets::SectionHeader* header_;
    widgets::SegmentedControl* dialect_;
    QLineEdit* filter_;
    TensorTreeModel* model_;
    QTreeView* view_;
};

} // namespace weft::ui
