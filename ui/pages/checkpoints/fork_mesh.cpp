// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/checkpoints/fork_mesh.h"

#include "core/sharding/strategies/strategy_list.h"
#include "ui/bridge/convert.h"
#include "ui/forms/field_editor.h"
#include "ui/pages/axis_row.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/theme.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStandardItemModel>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

constexpr int kForkMeshMostDevices = 4096; // simulated here; more can only be planned
enum ForkPlace { CpuPlace, GpuPlace };

QWidget* named(widgets::TextLabel* name, QWidget* control) {
    auto* whole = new QWidget;
    auto* column = new QVBoxLayout(whole);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    column->addWidget(name);
    column->addWidget(control);
    control->setAccessibleName(name->text());
    return whole;
}

widgets::TextLabel* nameLabel(const QString& name) {
    return new widgets::TextLabel(name, widgets::TextStyle::Caption, widgets::Role::Muted);
}

} // namespace

ForkMesh::ForkMesh(Draft& draft, MachineLook& machine, QWidget* parent)
    : QWidget(parent), draft_(draft), machine_(machine), place_(new QComboBox),
      count_name_(nameLabel(tr("devices, simulated where there are more than one"))),
      devices_(new QSpinBox), strategy_(new QComboBox), axes_(new AxisRow) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(widgets::space::kControl);
    auto* row = new QHBoxLayout;
    row->setSpacing(widgets::space::kGroup);
    place_->setObjectName("forkPlace");
    place_->addItems({tr("CPU"), tr("GPUs")});
    connect(place_, &QComboBox::activated, this, &ForkMesh::choosePlace);
    row->addWidget(named(nameLabel(tr("computes on")), place_));
    devices_->setObjectName("forkDevices");
    devices_->setRange(1, kForkMeshMostDevices);
    devices_->setKeyboardTracking(false);
    connect(devices_, &QSpinBox::valueChanged, this,
            [this](int count) { change(withDevices(edit_, count)); });
    row->addWidget(named(count_name_, devices_));
    strategy_->setObjectName("forkStrategy");
    strategy_->setProperty("isData", true); // names of the schema
    for (const sharding::StrategyDef* strategy : sharding::all_strategies()) {
        strategy_->addItem(toQString(strategy->name));
    }
    leaveWheelToPage(place_);
    leaveWheelToPage(devices_);
    leaveWheelToPage(strategy_);
    connect(strategy_, &QComboBox::activated, this,
            [this] { change(withStrategy(edit_, strategy_->currentText().toStdString())); });
    row->addWidget(named(nameLabel(tr("strategy")), strategy_));
    row->addStretch(1);
    column->addLayout(row);
    column->addWidget(axes_);
    connect(axes_, &AxisRow::edited, this, &ForkMesh::change);
    connect(&draft_, &Draft::changed, this, &ForkMesh::follow);
    connect(&machine_, &MachineLook::changed, this, &ForkMesh::offerPlaces);
    machine_.lookOnce();
    follow();
    offerPlaces();
}

/// GPUs where there are some; a run that had some elsewhere keeps them until it is told otherwise.
void ForkMesh::offerPlaces() {
    const bool some = machine_.facts() && !machine_.facts()->gpus.empty();
    auto* items = qobject_cast<QStandardItemModel*>(place_->model());
    items->item(GpuPlace)->setEnabled(some);
    const QString why = some ? QString() : machine_.gpusProblem();
    items->item(GpuPlace)->setToolTip(why);
    place_->setToolTip(why.isEmpty() ? QString() : tr("No GPUs: %1").arg(why));
}

void ForkMesh::choosePlace(int place) {
    std::vector<int> gpus;
    if (place == GpuPlace) {
        for (const GpuFacts& gpu : machine_.facts()->gpus) {
            gpus.push_back(gpu.number);
        }
    }
    change(withGpus(edit_, gpus));
}

// While the draft is not valid, what was last asked for stays, so that it can be mended.
void ForkMesh::follow() {
    if (draft_.isValid()) {
        edit_ = MeshEdit::of(draft_.config());
    }
    const bool on_gpus = edit_.kind == "cuda";
    place_->setCurrentIndex(on_gpus ? GpuPlace : CpuPlace);
    count_name_->setText(on_gpus ? tr("GPUs")
                                 : tr("devices, simulated where there are more than one"));
    devices_->setAccessibleName(count_name_->text());
    {
        const QSignalBlocker quiet(devices_);
        devices_->setValue(edit_.devices);
    }
    strategy_->setCurrentText(toQString(edit_.strategy));
    strategy_->parentWidget()->setVisible(!edit_.single());
    axes_->setVisible(!edit_.single());
    axes_->setEdit(edit_);
}

void ForkMesh::change(const MeshEdit& edit) {
    if (edit != edit_) {
        edit_ = edit;
        const bool on_cpu = edit.single() && edit.kind == "cpu";
        std::vector<std::string> assignments =
            on_cpu ? oneDeviceAssignments(draft_.config()) : assignmentsOf(edit, draft_.config());
        if (on_cpu) {
            assignments.emplace_back("mesh.devices=\"cpu\""); // chosen, not left to the machine
        }
        draft_.apply(assignments);
    }
}

} // namespace weft::ui
