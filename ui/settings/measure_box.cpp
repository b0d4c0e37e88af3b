// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/settings/measure_box.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/run/machine_measure.h"
#include "ui/studio.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

QString measuredMachineText(const cost::MachineKey& machine) {
    return machine.cpu.empty() ? MeasureBox::tr("This machine")
                               : MeasureBox::tr("%1, %n thread(s), %2", nullptr, machine.threads)
                                     .arg(toQString(machine.cpu), toQString(machine.kernels));
}

} // namespace

MeasureBox::MeasureBox(Studio& studio, QWidget* parent)
    : QWidget(parent), studio_(studio), machine_(new TextLabel),
      state_(new TextLabel({}, TextStyle::Caption, Role::Muted)),
      progress_(new widgets::ProgressLine), button_(new QPushButton) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(widgets::space::kMargin);
    auto* words = new QVBoxLayout;
    words->setSpacing(widgets::space::kTight);
    machine_->setWordWrap(true);
    words->addWidget(machine_);
    state_->setObjectName("measureState");
    state_->setWordWrap(true);
    words->addWidget(state_);
    progress_->setFixedHeight(2);
    QSizePolicy kept = progress_->sizePolicy();
    kept.setRetainSizeWhenHidden(true); // nothing moves when it begins
    progress_->setSizePolicy(kept);
    words->addWidget(progress_);
    row->addLayout(words, 1);
    button_->setObjectName("measureMachine");
    button_->setAutoDefault(false);
    row->addWidget(button_, 0, Qt::AlignTop);
    connect(button_, &QPushButton::clicked, this, &MeasureBox::toggle);
    MachineMeasure& measure = studio_.measure();
    connect(&measure, &MachineMeasure::changed, this, &MeasureBox::follow);
    connect(&measure, &MachineMeasure::failed, this,
            [this](const QString& problem) { problem_ = problem; });
    measure.refresh();
    follow();
}

void MeasureBox::toggle() {
    if (studio_.measure().isRunning()) {
        studio_.measure().cancel();
        return;
    }
    problem_ = studio_.measureMachine();
    follow();
}

void MeasureBox::follow() {
    const MachineMeasure& measure = studio_.measure();
    const std::optional<cost::Ceilings>& known = measure.known().ceilings;
    machine_->setText(measuredMachineText(measure.known().machine));
    QString state = known ? tr("Measured %1").arg(formatWhen(known->measured_time))
                          : tr("Not measured yet: times cannot be predicted");
    if (known && known->busy()) {
        state = tr("Measured %1, while other programs were busy: measure again when it is quiet")
                    .arg(formatWhen(known->measured_time));
    }
    if (measure.isRunning()) {
        state = measure.isCancelled()       ? tr("Cancelling …")
                : measure.doing().isEmpty() ? tr("Starting …")
                                            : tr("%1 …").arg(measure.doing());
    } else if (!problem_.isEmpty()) {
        state = problem_;
    }
    state_->setText(state);
    state_->setRole(!measure.isRunning() && !problem_.isEmpty() ? Role::Error : Role::Muted);
    progress_->setVisible(measure.isRunning());
    progress_->setBusy(measure.isRunning());
    button_->setText(tr("Measure this machine"));
    button_->setMinimumWidth(button_->sizeHint().width()); // the words beside it do not move
    if (measure.isRunning()) {
        button_->setText(tr("Cancel"));
    }
    button_->setEnabled(!measure.isRunning() || !measure.isCancelled());
}

} // namespace weft::ui
