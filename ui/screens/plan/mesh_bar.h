// SPDX-License-Identifier: GPL-3.0-or-later
// What the mesh is made of: this machine, simulated devices or hardware that need not be here; a
// strategy; axes with their sizes, in the order that is placement.
#pragma once

#include "ui/bridge/mesh_edit.h"

#include <QWidget>

class QPushButton;
class QSpinBox;

namespace weft::widgets {
class Badge;
class ElidedLabel;
class SegmentedControl;
} // namespace weft::widgets

namespace weft::ui {

class AxisRow;
class StrategyCards;

class MeshBar : public QWidget {
    Q_OBJECT
public:
    enum class Where { Here, Simulated, Planned };

    explicit MeshBar(QWidget* parent = nullptr);

    /// Shows a mesh; no signal is emitted. `example`: it is not the draft's, which has one device.
    void setEdit(const MeshEdit& edit, Where where, bool example);
    /// Takes little height.
    void setLow(bool low);
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
    widgets::Badge* example_;
    widgets::ElidedLabel* remark_;
    QPushButton* use_;
    StrategyCards* cards_;
    AxisRow* axes_;
    widgets::SegmentedControl* zero_;
};

} // namespace weft::ui
