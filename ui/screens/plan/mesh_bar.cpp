// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/screens/plan/mesh_bar.h"

#include "ui/bridge/convert.h"
#include "ui/screens/plan/strategy_cards.h"
#include "widgets/card.h"
#include "widgets/controls.h"
#include "widgets/icon.h"
#include "widgets/text_label.h"

#include <QHBoxLayout>
#include <QShortcut>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

constexpr int kMostDevices = 1 << 20; // that can be planned for

} // namespace

MeshBar::MeshBar(QWidget* parent) : QWidget(parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(widgets::space::kMargin, widgets::space::kControl,
                               widgets::space::kMargin, widgets::space::kControl);
    column->setSpacing(widgets::space::kControl);
    column->addWidget(createSwitch());
    cards_ = new StrategyCards;
    connect(cards_, &StrategyCards::strategyChosen, this,
            [this](const std::string& strategy) { change(withStrategy(edit_, strategy)); });
    column->addWidget(cards_);
    column->addWidget(createAxes());
}

QWidget* MeshBar::createSwitch() {
    auto* line = new QWidget;
    auto* row = new QHBoxLayout(line);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(widgets::space::kControl);
    switch_ = new widgets::SegmentedControl(
        {tr("This machine"), tr("Simulate devices"), tr("Plan for hardware")});
    switch_->setObjectName("meshWhere");
    switch_->setAccessibleName(tr("Where the draft computes"));
    connect(switch_, &widgets::SegmentedControl::currentIndexChanged, this,
            [this](int index) { emit whereChosen(static_cast<Where>(index)); });
    row->addWidget(switch_);
    devices_ = new QSpinBox;
    devices_->setObjectName("meshDevices");
    devices_->setAccessibleName(tr("Number of devices"));
    devices_->setRange(1, kMostDevices);
    devices_->setSuffix(tr(" devices"));
    devices_->setKeyboardTracking(false);
    connect(devices_, &QSpinBox::valueChanged, this,
            [this](int count) { change(withDevices(edit_, count)); });
    row->addWidget(devices_);
    remark_ = new TextLabel({}, TextStyle::Caption, Role::Muted);
    row->addWidget(remark_);
    row->addStretch(1);
    return line;
}

QWidget* MeshBar::createAxes() {
    auto* line = new QWidget;
    auto* row = new QHBoxLayout(line);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(widgets::space::kControl);
    row->addWidget(new TextLabel(tr("Axes"), TextStyle::Caption, Role::Muted));
    chips_ = new QHBoxLayout;
    chips_->setSpacing(widgets::space::kControl);
    row->addLayout(chips_);
    product_ = new TextLabel({}, TextStyle::MonoSmall, Role::Muted);
    product_->setObjectName("meshProduct");
    row->addWidget(product_);
    row->addStretch(1);
    row->addWidget(new TextLabel(tr("ZeRO"), TextStyle::Caption, Role::Muted));
    zero_ = new widgets::SegmentedControl;
    zero_->setObjectName("meshZero");
    zero_->setAccessibleName(tr("ZeRO stage: what data ranks split"));
    zero_->addSegment("0", tr("Data ranks keep all state"));
    zero_->addSegment("1", tr("Data ranks split optimizer state"));
    zero_->addSegment("2", tr("Data ranks split optimizer state and gradients"));
    zero_->addSegment("3", tr("Data ranks split optimizer state, gradients and parameters"));
    zero_->setCompact(true);
    connect(zero_, &widgets::SegmentedControl::currentIndexChanged, this, [this](int stage) {
        MeshEdit changed = edit_;
        changed.zero_stage = stage;
        change(changed);
    });
    row->addWidget(zero_);
    return line;
}

QWidget* MeshBar::createChip(std::size_t axis) {
    const MeshAxis& own = edit_.axes[axis];
    const QString name = toQString(own.name);
    auto* chip = new widgets::Card;
    chip->setObjectName("axis_" + name);
    auto* row = new QHBoxLayout(chip);
    row->setContentsMargins(widgets::space::kControl, 1, 1, 1);
    row->setSpacing(widgets::space::kTight);
    row->addWidget(new TextLabel(name, TextStyle::Mono, Role::Accent));
    auto* size = new QSpinBox;
    size->setObjectName("axisSize_" + name);
    size->setAccessibleName(tr("Size of axis %1").arg(name));
    size->setRange(1, kMostDevices);
    size->setKeyboardTracking(false);
    size->setFrame(false);
    size->setValue(own.size);
    connect(size, &QSpinBox::valueChanged, this,
            [this, axis](int value) { change(withAxisSize(edit_, axis, value)); });
    row->addWidget(size);
    if (axis > 0) {
        auto* earlier = new QPushButton(widgets::icon("chevron-left"), {});
        earlier->setObjectName("axisEarlier_" + name);
        earlier->setToolTip(tr("Move %1 before %2: order is placement, the last axis has its "
                               "partners side by side")
                                .arg(name, toQString(edit_.axes[axis - 1].name)));
        earlier->setAccessibleName(tr("Move %1 left").arg(name));
        widgets::setButtonKind(earlier, widgets::ButtonKind::Flat);
        widgets::setCompact(earlier);
        connect(earlier, &QPushButton::clicked, this,
                [this, axis] { change(withAxisMoved(edit_, axis, axis - 1)); });
        row->addWidget(earlier);
    }
    return chip;
}

void MeshBar::rebuildAxes() {
    if (shown_axes_ == edit_.axes) {
        return;
    }
    // A size that is being typed stays in its box.
    const bool same_names =
        shown_axes_.size() == edit_.axes.size() &&
        std::equal(shown_axes_.begin(), shown_axes_.end(), edit_.axes.begin(),
                   [](const MeshAxis& a, const MeshAxis& b) { return a.name == b.name; });
    shown_axes_ = edit_.axes;
    if (same_names) {
        for (const MeshAxis& axis : edit_.axes) {
            if (auto* box = findChild<QSpinBox*>("axisSize_" + toQString(axis.name))) {
                const QSignalBlocker quiet(box);
                box->setValue(axis.size);
            }
        }
        return;
    }
    while (QLayoutItem* item = chips_->takeAt(0)) {
        if (item->widget() != nullptr) {
            item->widget()->hide();
            item->widget()->deleteLater();
        }
        delete item;
    }
    for (std::size_t i = 0; i < edit_.axes.size(); ++i) {
        if (i > 0) {
            chips_->addWidget(new TextLabel("×", TextStyle::Body, Role::Muted));
        }
        chips_->addWidget(createChip(i));
    }
}

void MeshBar::setEdit(const MeshEdit& edit, Where where) {
    edit_ = edit;
    where_ = where;
    {
        const QSignalBlocker quiet(switch_);
        switch_->setCurrentIndex(static_cast<int>(where));
    }
    {
        const QSignalBlocker quiet(devices_);
        devices_->setValue(edit.devices);
    }
    {
        const QSignalBlocker quiet(zero_);
        zero_->setCurrentIndex(edit.zero_stage);
    }
    remark_->setText(where == Where::Planned
                         ? tr("planned only: nothing of it need be here")
                         : tr("exact, not faster: every device is a thread of this machine"));
    cards_->setStrategy(edit.strategy);
    rebuildAxes();
    QStringList factors;
    for (const MeshAxis& axis : edit.axes) {
        factors.append(QString::number(axis.size));
    }
    product_->setText(tr("%1 = %n device(s)", nullptr, edit.devices).arg(factors.join(" × ")));
}

void MeshBar::change(const MeshEdit& edit) {
    if (edit != edit_) {
        emit edited(edit);
    }
}

} // namespace weft::ui
