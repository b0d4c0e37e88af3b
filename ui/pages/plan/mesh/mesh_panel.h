// SPDX-License-Identifier: GPL-3.0-or-later
// The mesh of the draft, to see and to edit: who holds what, who says what to whom, who works when.
// A draft that computes on one device shows what four would do, until an edit takes that over.
#pragma once

#include "ui/bridge/draft/draft.h"
#include "ui/bridge/plan/plan_preview.h"
#include "ui/pages/plan/mesh/mesh_bar.h"

#include <QTimer>
#include <QWidget>

class QScrollArea;
class QShortcut;
class QSplitter;

namespace weft::ui {

class AdvicePanel;
class CheckpointPanel;
class PlanComparePanel;
class DevicePanel;
class CollectivePanel;
class FindingsPanel;
class LivePanel;
class MachineLook;
class MeshDrawer;
class PipelinePanel;
class RulesPanel;
class Studio;
class ScrubPanel;
class Settings;
struct MeshRun;
struct StepMoment;
class TensorTree;
class TilePanel;

class MeshPanel : public QWidget {
    Q_OBJECT
public:
    /// `preview` plans the draft; `planner` plans the example beside it. `scrub` moves what is
    /// shown here while it is looked at.
    MeshPanel(Studio& studio, PlanPreview& preview, const Planner& planner, ScrubPanel& scrub,
              QWidget* parent = nullptr);

    /// Of the draft, or of the example.
    const PlanPreview& shown() const { return isExample() ? example_preview_ : preview_; }
    /// Nothing was drawn yet.
    bool isBare() const { return layout_ == nullptr; }
    /// For windows of little height.
    void setLow(bool low);

signals:
    /// "--set" assignments for the draft, and what they are.
    void adopted(const std::vector<std::string>& overrides, const QString& what);
    /// Another switch than the bar's decides this: plan for hardware, or for this machine.
    void hardwareWanted(bool wanted);

protected:
    // Follows the draft, and plans the example, only while somebody looks.
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void changeEvent(QEvent* event) override;
    /// What the tensors need changes with the one that is shown.
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    bool isExample() const;
    void onDraftChanged();
    void edit(const MeshEdit& edit);
    void adopt(const std::vector<std::string>& overrides, const QString& what);
    void choose(MeshBar::Where where);
    void chooseGpus(const std::vector<int>& gpus);
    void showGpus();
    void update();
    void showPlan();
    /// A low window scrolls the page instead of squeezing it.
    void keepHeight();
    /// A low window scrolls to it.
    void showLower();
    /// The drawer alone, or beneath the mesh.
    void setLowerFull(bool full);
    /// The devices alone, or among what they hold.
    void setDevicesFull(bool full);
    bool isFull() const;
    void createLower(Studio& studio, const Planner& planner);
    void addFullKeys();
    QWidget* createTensors();
    QWidget* createStep();
    void createFindings();
    void addAdvice(Studio& studio, const Planner& planner);
    void selectDevice(int device);
    void showTensor(const QString& name);
    void showMoment(const StepMoment& moment);
    /// As the settings have it.
    void writeSpecs();
    void showLayout(const std::shared_ptr<const PlanDigest>& layout, bool stale);
    void showDigest(const std::shared_ptr<const PlanDigest>& digest, bool stale);

    Settings& settings_;
    Draft& draft_;
    MachineLook& machine_;
    PlanPreview& preview_;
    ScrubPanel& scrub_;
    Draft example_;
    PlanPreview example_preview_;
    QTimer fading_; // before what is shown looks stale
    MeshEdit example_edit_;
    std::shared_ptr<const PlanDigest> layout_; // that is shown
    std::shared_ptr<const PlanDigest> digest_; // likewise
    std::shared_ptr<const MeshRun> run_;       // whose plan that is
    QScrollArea* scroll_;
    MeshBar* bar_;
    QWidget* upper_; // all that the drawer gives way to
    QSplitter* rows_;
    QShortcut* restore_;
    DevicePanel* devices_;
    TensorTree* tensors_;
    TilePanel* tiles_;
    MeshDrawer* drawer_;
    LivePanel* live_;
    CollectivePanel* collectives_;
    PipelinePanel* pipeline_;
    RulesPanel* rules_;
    FindingsPanel* findings_;
    AdvicePanel* advice_;
    PlanComparePanel* compare_;
    CheckpointPanel* checkpoint_;
};

} // namespace weft::ui
