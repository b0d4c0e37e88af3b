// SPDX-License-Identifier: GPL-3.0-or-later
// What the mesh is made of: this machine, simulated devices or hardware that need not be here; a
// strategy; axes with their sizes, in the order that is placement.
#pragma once

#include "ui/bridge/mesh_edit.h"

#include <QWidget>

class QSpinBox;

namespace weft::widgets {
class SegmentedControl;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class AxisRow;
class StrategyCards;

class MeshBar : public QWidget {
    Q_OBJECT
public:
    enum class Where { Here, Simulated, Planned };

    explicit MeshBar(QWidget* parent = nullptr);

    /// Shows a mesh; no signal is emitted.
    void setEdit(const MeshEdit& edit, Where where);
    const MeshEdit& edit() const { return edit_; }

signals:
    void edited(const MeshEdit& edit);
    /// The switch was moved.
    void whereChosen(MeshBar::Where where);

private:
    QWidget* createSwitch();
    QWidget* createAxes();
    void change(const MeshEdit& edit);

    MeshEdit edit_;
    Where where_ = Where::Simulated;
    widgets::SegmentedControl* switch_;
    QSpinBox* devices_;
    widgets::TextLabel* remark_;
    StrategyCards* cards_;
    AxisRow* axes_;
    widgets::SegmentedControl* zero_;
};

} // namespace weft::ui
