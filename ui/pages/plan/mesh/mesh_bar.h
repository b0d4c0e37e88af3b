// SPDX-License-Identifier: GPL-3.0-or-later
// What the mesh is made of: this machine, simulated devices or hardware that need not be here; a
// strategy; axes with their sizes, in the order that is placement; how the batch is dealt out.
#pragma once

#include "ui/bridge/draft/mesh_edit.h"

#include <QWidget>

class QPushButton;
class QSpinBox;

namespace weft::widgets {
class Badge;
class SegmentedControl;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class AxisRow;
class BatchRow;
class StrategyBox;
class StrategyCards;
class ZeroControl;

class MeshBar : public QWidget {
    Q_OBJECT
public:
    enum class Where { Here, Simulated, Planned };

    explicit MeshBar(QWidget* parent = nullptr);

    /// Shows a mesh; no signal is emitted. `example`: it is not the draft's, which has one device.
    void setEdit(const MeshEdit& edit, Where where, bool example);
    /// The configuration whose batch is dealt out.
    void setConfig(const compile::RunConfig& config);
    /// Takes little height.
    void setLow(bool low);
    const MeshEdit& edit() const { return edit_; }

signals:
    void edited(const MeshEdit& edit);
    /// The switch was moved.
    void whereChosen(MeshBar::Where where);
    /// "--set" assignments for the draft, and what they are.
    void adopted(const std::vector<std::string>& overrides, const QString& what);

protected:
    void changeEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* createSwitch();
    QWidget* createArrangement();
    void describe();
    void keepHeight();
    void change(const MeshEdit& edit);

    MeshEdit edit_;
    Where where_ = Where::Simulated;
    bool is_example_ = false;
    bool low_ = false;
    widgets::SegmentedControl* switch_;
    QSpinBox* devices_;
    widgets::Badge* example_;
    widgets::TextLabel* remark_;
    QString problem_; // of the batch
    QPushButton* use_;
    StrategyCards* cards_;
    StrategyBox* strategies_; // in the place of the cards where it is low
    AxisRow* axes_;
    BatchRow* batch_;
    ZeroControl* zero_;
};

} // namespace weft::ui
