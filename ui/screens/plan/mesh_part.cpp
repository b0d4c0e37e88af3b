// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/screens/plan/mesh_part.h"

#include "ui/bridge/convert.h"
#include "ui/screens/plan/exchange_part.h"
#include "ui/screens/plan/pipeline_part.h"
#include "ui/screens/plan/tensor_tree.h"
#include "ui/screens/plan/tile_part.h"
#include "widgets/card.h"
#include "widgets/device_grid.h"
#include "widgets/messages.h"

#include <QEvent>
#include <QPushButton>
#include <QScrollArea>
#include <QSplitter>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

// More cards than anybody looks at; the rest is counted.
constexpr std::int64_t kMostCards = 256;
constexpr int kTreeWidth = 460;
constexpr int kGridWidth = 370;
constexpr int kTilesWidth = 450;
constexpr int kUpperHeight = 340;
constexpr int kLowerHeight = 230;
constexpr int kLeastHeight = 520; // of both

/// "data=0 model=1"
QString placeOf(const sharding::Mesh& mesh, std::int64_t device) {
    QStringList out;
    const auto coordinates = mesh.coordinates(device);
    for (std::size_t i = 0; i < mesh.axes.size(); ++i) {
        out.append(toQString(mesh.axes[i].name) + "=" + QString::number(coordinates[i]));
    }
    return out.join(' ');
}

/// "[0:32]": the samples of a microstep that a device reads; empty where its stage reads none.
QString samplesOf(const plan::ExecutionPlan& plan, std::int64_t device) {
    const plan::PlannedProgram* step = plan.find("train_step", plan.stage_of(device));
    if (step == nullptr) {
        return {};
    }
    for (const plan::PlannedPort& port : step->arguments) {
        if (port.name != "inputs" || port.whole.shape.rank() < 2) {
            continue;
        }
        const auto ranges =
            sharding::ranges(port.placement.dims[1], port.whole.shape[1], plan.mesh, device);
        return ranges.empty() ? QString()
                              : QStringLiteral("[%1:%2]")
                                    .arg(ranges.front().first)
                                    .arg(ranges.back().first + ranges.back().count);
    }
    return {};
}

std::vector<widgets::MemorySegment> arenaSegments(const plan::ExecutionPlan& plan, int stage) {
    std::vector<widgets::MemorySegment> out;
    const plan::PlannedProgram* program = plan::largest_program(plan, stage);
    if (program == nullptr) {
        return out;
    }
    const auto bytes = plan::bytes_by_category(plan, *program);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (bytes[i] > 0) {
            out.push_back({toWidget(static_cast<plan::Category>(i)), bytes[i]});
        }
    }
    std::sort(out.begin(), out.end(),
              [](const auto& a, const auto& b) { return a.category < b.category; });
    return out;
}

/// Of one device: simulated ones share what the host leaves of the limit.
std::optional<qint64> limitOfDevice(const plan::ExecutionPlan& plan) {
    if (!plan.limit_bytes) {
        return std::nullopt;
    }
    return plan.device == "cpu" ? (*plan.limit_bytes - plan.host.bytes()) / plan.mesh.devices()
                                : *plan.limit_bytes;
}

} // namespace

MeshPart::MeshPart(Draft& draft, PlanPreview& preview, PlanPreview::Planner planner,
                   QWidget* parent)
    : QWidget(parent), draft_(draft), preview_(preview),
      example_preview_(example_, std::move(planner)), example_edit_(exampleMesh()) {
    auto* content = new QWidget;
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    bar_ = new MeshBar;
    column->addWidget(bar_);
    note_ = new widgets::Banner(widgets::MessageKind::Info);
    note_->setObjectName("meshExample");
    note_->setText(tr("An example"),
                   tr("The draft computes on one device. This is what these would hold and do."));
    QPushButton* use = note_->addButton(tr("Use these devices"));
    use->setObjectName("useExample");
    connect(use, &QPushButton::clicked, this, [this] { choose(MeshBar::Where::Simulated); });
    column->addWidget(note_);
    column->addWidget(new widgets::Hairline);
    auto* rows = new QSplitter(Qt::Vertical);
    rows->setHandleWidth(1);
    rows->setChildrenCollapsible(false);
    rows->addWidget(createTensors());
    auto* lower = new QSplitter(Qt::Horizontal);
    lower->setHandleWidth(1);
    lower->setChildrenCollapsible(false);
    exchanges_ = new ExchangePart;
    lower->addWidget(exchanges_);
    pipeline_ = new PipelinePart;
    lower->addWidget(pipeline_);
    rows->addWidget(lower);
    rows->setStretchFactor(0, 3);
    rows->setStretchFactor(1, 2);
    rows->setSizes({kUpperHeight, kLowerHeight});
    rows->setMinimumHeight(kLeastHeight);
    column->addWidget(rows, 1);
    // A low window scrolls the page instead of squeezing its drawings.
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->addWidget(widgets::verticalScroll(content));
    connect(exchanges_, &ExchangePart::opChosen, this, &MeshPart::opChosen);
    connect(exchanges_, &ExchangePart::tensorChosen, this, &MeshPart::showTensor);
    connect(exchanges_, &ExchangePart::simulateRequested, this,
            [this] { choose(MeshBar::Where::Simulated); });
    connect(pipeline_, &PipelinePart::useRequested, this, [this](const QString& wanted) {
        MeshEdit changed = bar_->edit(); // "pipeline=4"
        changed.devices = wanted.section('=', 1).toInt();
        edit(withStrategy(changed, wanted.section('=', 0, 0).toStdString()));
    });
    connect(bar_, &MeshBar::edited, this, &MeshPart::edit);
    connect(bar_, &MeshBar::whereChosen, this, &MeshPart::choose);
    connect(&preview_, &PlanPreview::changed, this, &MeshPart::update);
    connect(&example_preview_, &PlanPreview::changed, this, &MeshPart::update);
    connect(&draft_, &Draft::changed, this, &MeshPart::onDraftChanged);
}

/// The tensors, the devices, and how a tensor lies on them.
QWidget* MeshPart::createTensors() {
    auto* columns = new QSplitter(Qt::Horizontal);
    columns->setHandleWidth(1);
    columns->setChildrenCollapsible(false);
    tensors_ = new TensorTree;
    columns->addWidget(tensors_);
    columns->addWidget(createDevices());
    tiles_ = new TilePart;
    columns->addWidget(tiles_);
    columns->setSizes({kTreeWidth, kGridWidth, kTilesWidth});
    connect(tensors_, &TensorTree::tensorChosen, tiles_, &TilePart::setTensor);
    connect(tiles_, &TilePart::shownChanged, this, &MeshPart::light);
    connect(tiles_, &TilePart::deviceSelected, this, [this](int device) {
        devices_->setSelectedDevice(device);
        light();
    });
    connect(devices_, &widgets::DeviceGrid::deviceSelected, this, [this](int device) {
        tiles_->setSelectedDevice(device);
        light();
    });
    return columns;
}

void MeshPart::showTensor(const QString& name) {
    tensors_->choose(name);
    tiles_->setTensor(tensors_->chosen());
}

/// The devices that hold the same part as the selected one, or any part at all.
void MeshPart::light() {
    devices_->setLit(tiles_->selectedDevice() < 0 ? std::vector<int>() : tiles_->sharingDevices());
}

QWidget* MeshPart::createDevices() {
    auto* panel = new widgets::Panel;
    auto* inner = new QVBoxLayout(panel);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->setSpacing(0);
    header_ = new widgets::SectionHeader(tr("Devices"));
    inner->addWidget(header_);
    devices_ = new widgets::DeviceGrid;
    devices_->setObjectName("meshGrid");
    auto* holder = new QWidget;
    auto* margins = new QVBoxLayout(holder);
    margins->setContentsMargins(widgets::space::kGroup, widgets::space::kGroup,
                                widgets::space::kGroup, widgets::space::kGroup);
    margins->addWidget(devices_);
    margins->addStretch(1);
    inner->addWidget(widgets::verticalScroll(holder), 1);
    return panel;
}

bool MeshPart::isExample() const {
    return draft_.isValid() && MeshEdit::of(draft_.config()).single();
}

void MeshPart::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    onDraftChanged();
}

void MeshPart::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    example_preview_.setActive(false);
}

void MeshPart::onDraftChanged() {
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

void MeshPart::edit(const MeshEdit& edit) {
    if (isExample()) {
        example_edit_ = edit.single() ? exampleMesh() : edit;
        onDraftChanged();
        return;
    }
    if (draft_.isValid()) {
        emit adopted(assignmentsOf(edit, draft_.config()),
                     tr("%1 on %n device(s)", nullptr, edit.devices).arg(toQString(edit.strategy)));
    }
}

void MeshPart::choose(MeshBar::Where where) {
    if (!draft_.isValid()) {
        update();
        return;
    }
    emit hardwareWanted(where == MeshBar::Where::Planned);
    if (where == MeshBar::Where::Here && !isExample()) {
        example_edit_ = MeshEdit::of(draft_.config());
        emit adopted({"mesh.devices=\"auto\"", "mesh.strategy=\"data_parallel\"",
                      "mesh.axes=[[\"data\",-1]]", "mesh.zero_stage=0"},
                     tr("one device"));
    } else if (where == MeshBar::Where::Simulated && !isExample()) {
        MeshEdit here = MeshEdit::of(draft_.config());
        here.kind = "cpu";
        edit(here);
    } else if (where != MeshBar::Where::Here && isExample()) {
        emit adopted(assignmentsOf(example_edit_, draft_.config()),
                     tr("%1 on %n device(s)", nullptr, example_edit_.devices)
                         .arg(toQString(example_edit_.strategy)));
    }
    onDraftChanged();
}

void MeshPart::update() {
    if (!isVisible()) {
        return;
    }
    const bool example = isExample();
    note_->setVisible(example);
    if (draft_.isValid()) {
        const MeshEdit own = MeshEdit::of(draft_.config());
        bar_->setEdit(example ? example_edit_ : own,
                      preview_.hardware() != nullptr || own.kind != "cpu" ? MeshBar::Where::Planned
                      : example                                           ? MeshBar::Where::Here
                                : MeshBar::Where::Simulated);
    }
    bar_->setEnabled(draft_.isValid());
    const auto digest = shown().digest();
    const bool stale = shown().isStale();
    devices_->setStale(stale);
    tensors_->setStale(stale);
    tiles_->setStale(stale);
    exchanges_->setStale(stale);
    pipeline_->setStale(stale);
    if (digest && !digest->plan->mesh.single()) {
        showDevices(*digest->plan);
        tiles_->setDigest(digest);
        tensors_->setDigest(digest);
        exchanges_->setDigest(digest);
        pipeline_->setDigest(digest);
    }
}

void MeshPart::showDevices(const plan::ExecutionPlan& plan) {
    std::vector<widgets::DeviceCard> cards;
    const std::int64_t count = plan.mesh.devices();
    std::vector<std::vector<widgets::MemorySegment>> segments;
    for (std::size_t stage = 0; stage < plan.stages.size(); ++stage) {
        segments.push_back(arenaSegments(plan, static_cast<int>(stage)));
    }
    const bool simulated = plan.device == "cpu";
    for (std::int64_t device = 0; device < std::min(count, kMostCards); ++device) {
        const auto stage = static_cast<std::size_t>(plan.stage_of(device));
        widgets::DeviceCard card;
        card.id = static_cast<int>(device);
        card.name = toQString(plan.device) + ":" + QString::number(device);
        card.place = placeOf(plan.mesh, device);
        const QString samples = samplesOf(plan, device);
        card.note = !samples.isEmpty() ? samples : simulated ? tr("simulated") : QString();
        card.segments = segments[stage];
        card.bytes = plan.stages[stage].arena_bytes;
        cards.push_back(std::move(card));
    }
    header_->setSubtitle(
        (simulated
             ? tr("%n simulated", nullptr, static_cast<int>(count))
             : tr("%n of %1", nullptr, static_cast<int>(count)).arg(toQString(plan.device_title))) +
        (count > kMostCards ? tr(", the first %1 shown").arg(kMostCards) : QString()));
    devices_->setLimit(limitOfDevice(plan));
    std::vector<int> sizes;
    for (const sharding::Axis& axis : plan.mesh.axes) {
        sizes.push_back(static_cast<int>(axis.size));
    }
    devices_->setDevices(std::move(cards), std::move(sizes));
}

} // namespace weft::ui
