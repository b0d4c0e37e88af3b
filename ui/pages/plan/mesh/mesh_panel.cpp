// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/mesh/mesh_panel.h"

#include "ui/bridge/convert.h"
#include "ui/pages/plan/mesh/device_panel.h"
#include "ui/pages/plan/mesh/findings_panel.h"
#include "ui/pages/plan/mesh/live_panel.h"
#include "ui/pages/plan/mesh/mesh_drawer.h"
#include "ui/pages/plan/mesh/others/advice_panel.h"
#include "ui/pages/plan/mesh/others/checkpoint_panel.h"
#include "ui/pages/plan/mesh/others/plan_compare_panel.h"
#include "ui/pages/plan/mesh/rules/rules_panel.h"
#include "ui/pages/plan/mesh/rules/tensor_tree.h"
#include "ui/pages/plan/mesh/rules/tile_panel.h"
#include "ui/pages/plan/mesh/step/collective_panel.h"
#include "ui/pages/plan/mesh/step/pipeline_panel.h"
#include "ui/pages/plan/moment/scrub_panel.h"
#include "ui/settings/settings.h"
#include "ui/studio.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/card.h"
#include "widgets/mesh/device_grid.h"
#include "widgets/mesh/tile_view.h"

#include <QEvent>
#include <QScrollArea>
#include <QScrollBar>
#include <QShortcut>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr int kMeshPanelTreeWidth = 460;
constexpr int kGridWidth = 370;
constexpr int kTilesWidth = 450;
constexpr int kCollectivesWidth = 730;
constexpr int kPipelineWidth = 550;
constexpr int kUpperHeight = 266;
constexpr int kLowerHeight = 200;
constexpr int kMeshPanelLeastHeight = 466; // of both, at text size 1
constexpr int kFadeMs = 60;

/// Asks for the height that it must have, not the one that its panels would like.
class LowSplitter : public widgets::ThinSplitter {
public:
    using ThinSplitter::ThinSplitter;
    QSize sizeHint() const override { return {QSplitter::sizeHint().width(), minimumHeight()}; }
};

/// "2d over model=2 × data=2, ZeRO 1": the order of the axes is placement.
QString editText(const MeshEdit& edit) {
    QStringList axes;
    for (const MeshAxis& axis : edit.axes) {
        axes.append(QStringLiteral("%1=%2").arg(toQString(axis.name)).arg(axis.size));
    }
    const QString text =
        MeshPanel::tr("%1 over %2").arg(toQString(edit.strategy), axes.join(QStringLiteral(" × ")));
    return edit.zero_stage > 0 ? MeshPanel::tr("%1, ZeRO %2").arg(text).arg(edit.zero_stage) : text;
}

} // namespace

MeshPanel::MeshPanel(Studio& studio, PlanPreview& preview, const Planner& planner,
                     ScrubPanel& scrub, QWidget* parent)
    : QWidget(parent), settings_(studio.settings()), draft_(studio.draft()),
      machine_(studio.machine()), preview_(preview), scrub_(scrub),
      example_preview_(example_, planner), example_edit_(exampleMesh()) {
    auto* content = new QWidget;
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    upper_ = new QWidget;
    auto* upper = new QVBoxLayout(upper_);
    upper->setContentsMargins(0, 0, 0, 0);
    upper->setSpacing(0);
    bar_ = new MeshBar;
    upper->addWidget(bar_);
    upper->addWidget(new widgets::Hairline);
    column->addWidget(upper_);
    rows_ = new LowSplitter(Qt::Vertical);
    rows_->addWidget(createTensors());
    createLower(studio, planner);
    rows_->addWidget(drawer_);
    rows_->setStretchFactor(0, 3);
    rows_->setStretchFactor(1, 2);
    rows_->setSizes({kUpperHeight, kLowerHeight});
    rows_->installEventFilter(this);
    column->addWidget(rows_, 1);
    keepHeight();
    // A low window scrolls the page instead of squeezing its drawings.
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->setSpacing(0);
    scroll_ = widgets::verticalScroll(content);
    outer->addWidget(scroll_, 1);
    connect(drawer_, &MeshDrawer::currentChanged, this, [this] {
        update(); // what is hidden is not kept up to date
        showLower();
    });
    connect(&scrub_, &ScrubPanel::momentChanged, this, [this](const StepMoment& moment) {
        if (isVisible()) {
            showMoment(moment);
        }
    });
    connect(bar_, &MeshBar::edited, this, &MeshPanel::edit);
    connect(bar_, &MeshBar::adopted, this, &MeshPanel::adopt);
    connect(bar_, &MeshBar::whereChosen, this, &MeshPanel::choose);
    connect(bar_, &MeshBar::gpusChosen, this, &MeshPanel::chooseGpus);
    connect(&machine_, &MachineLook::changed, this, &MeshPanel::showGpus);
    fading_.setSingleShot(true);
    fading_.setInterval(kFadeMs);
    connect(&fading_, &QTimer::timeout, this, &MeshPanel::showPlan);
    connect(&preview_, &PlanPreview::changed, this, &MeshPanel::update);
    connect(&example_preview_, &PlanPreview::changed, this, &MeshPanel::update);
    for (const PlanPreview* one : {&preview_, &example_preview_}) {
        connect(one, &PlanPreview::alternativesChanged, this,
                [this] { findings_->setMemoryFixes(shown().fixes()); });
    }
    connect(&draft_, &Draft::changed, this, &MeshPanel::onDraftChanged);
    connect(&settings_, &Settings::changed, this, &MeshPanel::writeSpecs);
    addFullKeys();
    writeSpecs();
}

void MeshPanel::createLower(Studio& studio, const Planner& planner) {
    drawer_ = new MeshDrawer;
    drawer_->add(tr("Step"), tr("What the devices say to each other, and when each works"),
                 createStep());
    rules_ = new RulesPanel;
    connect(rules_, &RulesPanel::adopted, this, &MeshPanel::adopt);
    drawer_->add(tr("Rules"), tr("What places arrays and layers on the mesh, to edit"), rules_);
    createFindings();
    addAdvice(studio, planner);
    live_ = new LivePanel(studio.run());
    drawer_->add(tr("Live"), tr("What the devices of the run on screen do"), live_);
    connect(live_, &LivePanel::deviceSelected, this, &MeshPanel::selectDevice);
    connect(live_, &LivePanel::told, pipeline_, &PipelinePanel::setMeasured);
}

/// Keys of the page: wherever the focus is, there is one drawer.
void MeshPanel::addFullKeys() {
    auto* fill = new QShortcut(QKeySequence(Qt::Key_F11), this);
    connect(fill, &QShortcut::activated, this, [this] {
        devices_->isFull() ? devices_->setFull(false) : drawer_->setFull(!drawer_->isFull());
    });
    restore_ = new QShortcut(QKeySequence(Qt::Key_Escape), this);
    restore_->setEnabled(false);
    connect(restore_, &QShortcut::activated, this, [this] {
        drawer_->setFull(false);
        devices_->setFull(false);
    });
    connect(drawer_, &MeshDrawer::fullChanged, this, &MeshPanel::setLowerFull);
    connect(devices_, &DevicePanel::fullChanged, this, &MeshPanel::setDevicesFull);
}

bool MeshPanel::isFull() const {
    return drawer_->isFull() || devices_->isFull();
}

void MeshPanel::setDevicesFull(bool full) {
    for (QWidget* other : {upper_, static_cast<QWidget*>(tensors_), static_cast<QWidget*>(tiles_),
                           static_cast<QWidget*>(drawer_)}) {
        other->setVisible(!full);
    }
    restore_->setEnabled(full);
    keepHeight();
}

void MeshPanel::showLower() {
    scroll_->ensureWidgetVisible(drawer_, 0, 0);
}

void MeshPanel::setLowerFull(bool full) {
    upper_->setVisible(!full);
    rows_->widget(0)->setVisible(!full);
    restore_->setEnabled(full);
    keepHeight();
    if (full) {
        scroll_->verticalScrollBar()->setValue(0);
    } else { // where one was, once the tensors have their room again
        QMetaObject::invokeMethod(this, &MeshPanel::showLower, Qt::QueuedConnection);
    }
}

/// The tensors, the devices, and how a tensor lies on them.
QWidget* MeshPanel::createTensors() {
    auto* columns = new widgets::ThinSplitter(Qt::Horizontal);
    tensors_ = new TensorTree;
    columns->addWidget(tensors_);
    devices_ = new DevicePanel;
    columns->addWidget(devices_);
    tiles_ = new TilePanel;
    columns->addWidget(tiles_);
    columns->setSizes({kMeshPanelTreeWidth, kGridWidth, kTilesWidth});
    connect(tensors_, &TensorTree::dialectChosen, this, [this](sharding::SpecDialect dialect) {
        Preferences values = settings_.values();
        values.specs = dialect;
        settings_.set(values);
    });
    connect(tensors_, &TensorTree::tensorChosen, tiles_, &TilePanel::setTensor);
    connect(tiles_, &TilePanel::adopted, this, &MeshPanel::adopt);
    connect(tiles_, &TilePanel::shownChanged, this,
            [this] { devices_->grid()->setShards(tiles_->view()->shards()); });
    connect(tiles_, &TilePanel::deviceSelected, this, &MeshPanel::selectDevice);
    connect(devices_->grid(), &widgets::DeviceGrid::deviceSelected, this, &MeshPanel::selectDevice);
    return columns;
}

void MeshPanel::writeSpecs() {
    const sharding::SpecDialect dialect = settings_.values().specs;
    tensors_->setDialect(dialect);
    tiles_->setDialect(dialect);
    rules_->setDialect(dialect);
    compare_->setDialect(dialect);
    checkpoint_->setDialect(dialect);
}

void MeshPanel::setLow(bool low) {
    bar_->setLow(low);
}

void MeshPanel::showTensor(const QString& name) {
    tensors_->choose(name);
    tiles_->setTensor(tensors_->chosen());
}

void MeshPanel::createFindings() {
    findings_ = new FindingsPanel;
    const int findings =
        drawer_->add(tr("Findings"), tr("What is padded, kept whole or too much"), findings_);
    connect(findings_, &FindingsPanel::countChanged, this, [this, findings](int count) {
        drawer_->setTitle(findings, count == 0 ? tr("Findings") : tr("Findings %1").arg(count));
    });
    connect(findings_, &FindingsPanel::tensorChosen, this, &MeshPanel::showTensor);
    connect(findings_, &FindingsPanel::adopted, this, &MeshPanel::adopt);
}

/// What the devices say to each other, and when each works.
QWidget* MeshPanel::createStep() {
    auto* columns = new widgets::ThinSplitter(Qt::Horizontal);
    collectives_ = new CollectivePanel;
    columns->addWidget(collectives_);
    pipeline_ = new PipelinePanel;
    columns->addWidget(pipeline_);
    columns->setSizes({kCollectivesWidth, kPipelineWidth});
    connect(collectives_, &CollectivePanel::opChosen, this, [this](int op) { scrub_.setOp(op); });
    connect(collectives_, &CollectivePanel::tensorChosen, this, &MeshPanel::showTensor);
    connect(collectives_, &CollectivePanel::simulateRequested, this,
            [this] { choose(MeshBar::Where::Simulated); });
    connect(pipeline_, &PipelinePanel::useRequested, this, [this](const QString& wanted) {
        MeshEdit changed = bar_->edit(); // "pipeline=4"
        changed.devices = wanted.section('=', 1).toInt();
        edit(withStrategy(changed, wanted.section('=', 0, 0).toStdString()));
    });
    connect(pipeline_, &PipelinePanel::actionChosen, this,
            [this](int stage, int action) { scrub_.setAction(stage, action); });
    return columns;
}

/// Other meshes: better ones, one beside this one, one that saved a checkpoint.
void MeshPanel::addAdvice(Studio& studio, const Planner& planner) {
    advice_ = new AdvicePanel(planner.meshes);
    drawer_->add(tr("Advice"), tr("Better meshes for as many devices"), advice_);
    compare_ = new PlanComparePanel(planner.step);
    drawer_->add(tr("Compare"), tr("This mesh and another one side by side"), compare_);
    checkpoint_ = new CheckpointPanel(studio.index());
    drawer_->add(tr("Checkpoint"), tr("What this mesh would read of a checkpoint"), checkpoint_);
    connect(advice_, &AdvicePanel::adopted, this, &MeshPanel::adopt);
    connect(advice_, &AdvicePanel::waysChanged, this, [this] {
        compare_->setProposals(advice_->ways());
        if (advice_->isVisible()) { // the answer, once it has its room
            QMetaObject::invokeMethod(this, &MeshPanel::showLower, Qt::QueuedConnection);
        }
    });
    connect(compare_, &PlanComparePanel::adopted, this, &MeshPanel::adopt);
}

/// Selecting a device lights its shards everywhere.
void MeshPanel::selectDevice(int device) {
    devices_->grid()->setSelectedDevice(device);
    tiles_->setSelectedDevice(device);
    live_->setSelectedDevice(device);
}

/// All that is shown of the step is at the same moment.
void MeshPanel::showMoment(const StepMoment& moment) {
    devices_->setMoment(moment);
    tensors_->setMoment(moment);
    tiles_->setMoment(moment);
    collectives_->showOp(moment.collective);
    pipeline_->setMoment(moment);
}

bool MeshPanel::isExample() const {
    return draft_.isValid() && MeshEdit::of(draft_.config()).single();
}

void MeshPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    machine_.lookOnce();
    showGpus();
    onDraftChanged();
    showMoment(scrub_.moment());
}

void MeshPanel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        keepHeight();
    }
}

bool MeshPanel::eventFilter(QObject* watched, QEvent* event) {
    if (watched == rows_ && event->type() == QEvent::LayoutRequest) {
        keepHeight();
    }
    return QWidget::eventFilter(watched, event);
}

void MeshPanel::keepHeight() {
    const auto least =
        isFull() ? 0
                 : static_cast<int>(kMeshPanelLeastHeight * widgets::Theme::current().fontScale());
    rows_->setMinimumHeight(std::max(least, rows_->minimumSizeHint().height()));
}

void MeshPanel::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    example_preview_.setActive(false);
    fading_.stop(); // what is hidden is not kept up to date
}

void MeshPanel::onDraftChanged() {
    if (!isVisible()) {
        return;
    }
    if (isExample()) {
        example_.setDocument(draft_.document(), draft_.baseDir());
        example_.apply(assignmentsOf(example_edit_, draft_.config()));
    }
    example_preview_.setHardware(preview_.hardware());
    example_preview_.setActive(isExample());
    update();
}

void MeshPanel::edit(const MeshEdit& edit) {
    if (isExample()) {
        example_edit_ = edit.single() ? exampleMesh() : edit;
        onDraftChanged();
        return;
    }
    if (draft_.isValid()) {
        emit adopted(assignmentsOf(edit, draft_.config()), editText(edit));
    }
}

// Editing the example by hand takes it over.
void MeshPanel::adopt(const std::vector<std::string>& overrides, const QString& what) {
    if (!draft_.isValid()) {
        return;
    }
    std::vector<std::string> all;
    if (isExample()) {
        all = assignmentsOf(example_edit_, draft_.config());
    }
    all.insert(all.end(), overrides.begin(), overrides.end());
    emit adopted(all, what);
}

void MeshPanel::showGpus() {
    const auto& facts = machine_.facts();
    bar_->setGpus(facts ? facts->gpus : std::vector<GpuFacts>(), machine_.gpusProblem());
}

/// The draft itself computes on them, whatever mesh is shown as an example.
void MeshPanel::chooseGpus(const std::vector<int>& gpus) {
    const MeshEdit wanted = withGpus(MeshEdit::of(draft_.config()), gpus);
    emit adopted(assignmentsOf(wanted, draft_.config()), toQString(devicesText(wanted)));
}

void MeshPanel::choose(MeshBar::Where where) {
    if (!draft_.isValid()) {
        update();
        return;
    }
    emit hardwareWanted(where == MeshBar::Where::Planned);
    const MeshEdit own = MeshEdit::of(draft_.config());
    if (where == MeshBar::Where::Gpus) {
        std::vector<int> all;
        for (const GpuFacts& gpu : machine_.facts()->gpus) {
            all.push_back(gpu.number);
        }
        chooseGpus(all);
    } else if (where == MeshBar::Where::Here && (!isExample() || own.kind == "cuda")) {
        if (!isExample()) {
            example_edit_ = withGpus(own, {});
        }
        emit adopted(oneDeviceAssignments(draft_.config()), tr("one device"));
    } else if (where == MeshBar::Where::Simulated && !isExample()) {
        MeshEdit here = own;
        here.kind = "cpu";
        edit(here);
    } else if (where != MeshBar::Where::Here && isExample()) {
        emit adopted(assignmentsOf(example_edit_, draft_.config()), editText(example_edit_));
    }
    onDraftChanged();
}

void MeshPanel::update() {
    if (!isVisible()) {
        return;
    }
    const bool example = isExample();
    if (draft_.isValid()) {
        const MeshEdit own = MeshEdit::of(draft_.config());
        const bool on_gpus = own.kind == "cuda";
        bar_->setEdit(example ? example_edit_ : own,
                      preview_.hardware() != nullptr || (own.kind != "cpu" && !on_gpus)
                          ? MeshBar::Where::Planned
                      : on_gpus ? MeshBar::Where::Gpus
                      : example ? MeshBar::Where::Here
                                : MeshBar::Where::Simulated,
                      example, own.gpus);
        const Draft& draft = example ? example_ : draft_;
        if (draft.isValid()) {
            bar_->setConfig(draft.config());
            tiles_->setConfig(draft.config());
            if (rules_->isVisible()) {
                rules_->setConfig(draft.config());
            }
        }
    }
    bar_->setEnabled(draft_.isValid());
    // A layout is there in a moment, for which nothing need fade.
    const bool fades = shown().isStale() && shown().digest() == digest_;
    if (!fades) {
        fading_.stop();
        showPlan();
        return;
    }
    if (shown().layout() != layout_) {
        showLayout(shown().layout(), shown().isLayoutStale());
    }
    if (!fading_.isActive()) {
        fading_.start();
    }
}

void MeshPanel::showPlan() {
    showLayout(shown().layout(), shown().isLayoutStale());
    showDigest(shown().digest(), shown().isStale());
}

/// Where the state lies is known first.
void MeshPanel::showLayout(const std::shared_ptr<const PlanDigest>& layout, bool stale) {
    if (layout && !layout->plan->mesh.single()) {
        layout_ = layout;
    }
    tiles_->setPlan({layout_, {}, stale});
    tensors_->setPlan({layout_, {}, stale});
}

void MeshPanel::showDigest(const std::shared_ptr<const PlanDigest>& digest, bool stale) {
    if (digest && digest != digest_ && !digest->plan->mesh.single()) {
        digest_ = digest;
        run_ = std::make_shared<const MeshRun>(MeshRun{shown().config(), shown().hardware()});
    }
    const ShownPlan plan{digest_, run_, stale};
    for (PlanPanel* panel : std::initializer_list<PlanPanel*>{
             collectives_, pipeline_, findings_, devices_, advice_, compare_, checkpoint_}) {
        panel->setPlan(plan);
    }
    if (rules_->isVisible()) {
        rules_->setPlan(plan);
    }
    scrub_.setPlan(plan);
}

} // namespace weft::ui
