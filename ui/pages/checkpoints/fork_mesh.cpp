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
#include <QVBoxLayout>

namespace weft::ui {
namespace {

constexpr int kForkMeshMostDevices = 4096; // simulated here; more can only be planned

QWidget* named(const QString& name, QWidget* control) {
    auto* whole = new QWidget;
    auto* column = new QVBoxLayout(whole);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    column->addWidget(
        new widgets::TextLabel(name, widgets::TextStyle::Caption, widgets::Role::Muted));
    column->addWidget(control);
    control->setAccessibleName(name);
    return whole;
}

} // namespace

ForkMesh::ForkMesh(Draft& draft, QWidget* parent)
    : QWidget(parent), draft_(draft), devices_(new QSpinBox), strategy_(new QComboBox),
      axes_(new AxisRow) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(widgets::space::kControl);
    auto* row = new QHBoxLayout;
    row->setSpacing(widgets::space::kGroup);
    devices_->setObjectName("forkDevices");
    devices_->setRange(1, kForkMeshMostDevices);
    devices_->setKeyboardTracking(false);
    connect(devices_, &QSpinBox::valueChanged, this,
            [this](int count) { change(withDevices(edit_, count)); });
    row->addWidget(named(tr("devices, simulated where there are more than one"), devices_));
    strategy_->setObjectName("forkStrategy");
    strategy_->setProperty("isData", true); // names of the schema
    for (const sharding::StrategyDef* strategy : sharding::all_strategies()) {
        strategy_->addItem(toQString(strategy->name));
    }
    leaveWheelToPage(devices_);
    leaveWheelToPage(strategy_);
    connect(strategy_, &QComboBox::activated, this,
            [this] { change(withStrategy(edit_, strategy_->currentText().toStdString())); });
    row->addWidget(named(tr("strategy"), strategy_));
    row->addStretch(1);
    column->addLayout(row);
    column->addWidget(axes_);
    connect(axes_, &AxisRow::edited, this, &ForkMesh::change);
    connect(&draft_, &Draft::changed, this, &ForkMesh::follow);
    follow();
}

// While the draft is not valid, what was last asked for stays, so that it can be mended.
void ForkMesh::follow() {
    if (draft_.isValid()) {
        edit_ = MeshEdit::of(draft_.config());
    }
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
        draft_.apply(edit.single() ? oneDeviceAssignments(draft_.config())
                                   : assignmentsOf(edit, draft_.config()));
    }
}

} // namespace weft::ui
