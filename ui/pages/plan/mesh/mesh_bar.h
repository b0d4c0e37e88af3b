// SPDX-License-Identifier: GPL-3.0-or-later
// What the mesh is made of: this machine's CPU or GPUs, simulated devices or hardware that need not
// be here; a strategy; axes with their sizes, in the order that is placement; how the batch is
// dealt out.
#pragma once

#include "ui/bridge/draft/mesh_edit.h"
#include "ui/bridge/run/machine_facts.h"

#include <QWidget>

class QMenu;
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
    enum class Where { Here, Gpus, Simulated, Planned };

    explicit MeshBar(QWidget* parent = nullptr);

    /// Shows a mesh; no signal is emitted. `example`: it is not the draft's, which has one device.
    /// `gpus`: those that the draft names.
    void setEdit(const MeshEdit& edit, Where where, bool example,
                 const std::vector<int>& gpus = {});
    /// The configuration whose batch is dealt out.
    void setConfig(const compile::RunConfig& config);
    /// The GPUs of this machine, or why there are none; in a sentence.
    void setGpus(const std::vector<GpuFacts>& gpus, const QString& problem);
    /// Takes little height.
    void setLow(bool low);
    const MeshEdit& edit() const { return edit_; }

signals:
    void edited(const MeshEdit& edit);
    /// The switch was moved.
    void whereChosen(MeshBar::Where where);
    /// Others of the GPUs, by number.
    void gpusChosen(const std::vector<int>& gpus);
    /// "--set" assignments for the draft, and what they are.
    void adopted(const std::vector<std::string>& overrides, const QString& what);

protected:
    void changeEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* createSwitch();
    QWidget* createArrangement();
    QPushButton* createGpuButton();
    void fillGpuMenu();
    QString gpusText() const;
    QString whereText() const;
    void describe();
    void keepHeight();
    void change(const MeshEdit& edit);

    MeshEdit edit_;
    std::vector<int> chosen_gpus_; // by the draft, also where the mesh is an example
    Where where_ = Where::Simulated;
    bool is_example_ = false;
    bool low_ = false;
    widgets::SegmentedControl* switch_;
    QPushButton* gpu_button_;
    QMenu* gpu_menu_;
    std::vector<GpuFacts> gpus_;
    QString no_gpus_; // why
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
