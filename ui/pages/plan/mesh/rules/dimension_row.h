// SPDX-License-Identifier: GPL-3.0-or-later
// The dimensions of a tensor with the axes that split them. An axis is dropped onto a dimension, or
// chosen from its menu; a tag is taken away. What says how the tensor is split stands beside them,
// with the way back.
#pragma once

#include "core/plan/plan.h"
#include "ui/bridge/draft/spec_edit.h"
#include "ui/bridge/plan/plan_digest.h"
#include "ui/bridge/plan/tensor_tiles.h"

#include <QWidget>

#include <memory>

class QMenu;
class QPushButton;

namespace weft::widgets {
class DropSlot;
class ElidedLabel;
class FlowLayout;
} // namespace weft::widgets

namespace weft::ui {

class DimensionCell;

class DimensionRow : public QWidget {
    Q_OBJECT
public:
    explicit DimensionRow(QWidget* parent = nullptr);

    /// A tensor of a plan on the mesh of a configuration, to edit.
    void setTensor(std::shared_ptr<const PlanDigest> digest, const plan::StateSlot& slot,
                   std::shared_ptr<const compile::RunConfig> config);
    /// A tensor to look at alone; none: nothing is shown.
    void setSheet(const TensorSheet* sheet);

    /// What a drop of an axis would do, or why it does nothing.
    SplitOutcome outcomeOf(int dim, const QString& axis) const;
    /// The choice for whom a dimension is split over an axis; says why not when it cannot be.
    void drop(int dim, const QString& axis);
    /// Words in the place of the reason, until the pointer leaves; empty: the reason again.
    void say(const QString& words, widgets::Role role);
    /// "Split over": the axes of the mesh and none, each with its choice for whom.
    QMenu* createMenu(int dim, QWidget* parent);
    void remove(int dim, const QString& axis);
    bool isEditable() const { return config_ != nullptr; }

signals:
    /// "--set" assignments for the draft, and what they are.
    void adopted(const std::vector<std::string>& overrides, const QString& what);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void clear();
    void addWords(const QString& words);
    void addBecause();
    void rebuild();
    void arrange();
    void addScopes(QMenu* menu, int dim, const QString& axis);
    void apply(int dim, const QString& axis, SplitScope scope);
    void goBack();

    std::shared_ptr<const PlanDigest> digest_; // keeps the slot
    const plan::StateSlot* slot_ = nullptr;
    std::shared_ptr<const compile::RunConfig> config_;
    TensorEdit edit_;
    widgets::FlowLayout* flow_;
    std::vector<DimensionCell*> cells_;
    QWidget* because_ = nullptr;
    int least_because_ = 0;
    widgets::ElidedLabel* reason_ = nullptr;
};

/// One dimension: its size, the axes that split it, and the place for another one.
class DimensionCell : public QWidget {
    Q_OBJECT
public:
    DimensionCell(DimensionRow& row, int dim, const DimEdit& edit);
    /// The place for a further axis shows a plus alone.
    void setShort(bool is_short);
    /// Of a cell that is not short.
    int fullWidth() const;

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dragLeaveEvent(QDragLeaveEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void openMenu();

    DimensionRow& row_;
    int dim_;
    bool split_;
    widgets::DropSlot* slot_;
};

} // namespace weft::ui
