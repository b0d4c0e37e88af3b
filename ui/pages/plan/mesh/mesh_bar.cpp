// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/mesh/mesh_bar.h"

#include "ui/bridge/convert.h"
#include "ui/pages/axis_row.h"
#include "ui/pages/plan/mesh/rules/batch_row.h"
#include "ui/pages/plan/mesh/rules/strategy_cards.h"
#include "ui/pages/plan/mesh/zero_control.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/flow_layout.h"
#include "widgets/controls/pill.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/menu_text.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QMenu>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

constexpr int kMeshBarMostDevices = 1 << 20; // that can be planned for
constexpr int kLeastRemark = 160;
constexpr int kRemarkSlack = 4;

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
    column->addWidget(createArrangement());
    keepHeight();
    remark_->installEventFilter(this);
}

QWidget* MeshBar::createSwitch() {
    auto* line = new QWidget;
    auto* row = new widgets::FlowLayout(line);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(widgets::space::kControl);
    switch_ = new widgets::SegmentedControl(
        {tr("This machine"), tr("GPUs"), tr("Simulate devices"), tr("Plan for hardware")});
    switch_->setObjectName("meshWhere");
    switch_->setAccessibleName(tr("Where the draft computes"));
    connect(switch_, &widgets::SegmentedControl::currentIndexChanged, this,
            [this](int index) { emit whereChosen(static_cast<Where>(index)); });
    row->addWidget(switch_);
    row->addWidget(createGpuButton());
    devices_ = new QSpinBox;
    devices_->setObjectName("meshDevices");
    devices_->setAccessibleName(tr("Number of devices"));
    devices_->setRange(1, kMeshBarMostDevices);
    devices_->setSuffix(tr(" devices"));
    devices_->setKeyboardTracking(false);
    connect(devices_, &QSpinBox::valueChanged, this,
            [this](int count) { change(withDevices(edit_, count)); });
    row->addWidget(devices_);
    strategies_ = new StrategyBox;
    strategies_->hide();
    connect(strategies_, &StrategyBox::strategyChosen, this,
            [this](const std::string& strategy) { change(withStrategy(edit_, strategy)); });
    row->addWidget(strategies_);
    example_ = new widgets::Badge(tr("example"), Role::Accent);
    example_->setObjectName("meshExample");
    row->addWidget(example_);
    remark_ = new TextLabel({}, TextStyle::Caption, Role::Muted);
    remark_->setObjectName("meshRemark");
    remark_->setWordWrap(true);
    remark_->setMinimumWidth(kLeastRemark);
    remark_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    row->addWidget(remark_);
    use_ = new QPushButton(tr("Use these devices"));
    use_->setObjectName("useExample");
    use_->setToolTip(tr("Let the draft compute on them, simulated"));
    connect(use_, &QPushButton::clicked, this, [this] {
        emit whereChosen(where_ == Where::Planned ? Where::Planned : Where::Simulated);
    });
    row->addWidget(use_);
    return line;
}

QPushButton* MeshBar::createGpuButton() {
    gpu_button_ = new QPushButton;
    gpu_button_->setObjectName("meshGpus");
    gpu_button_->setAccessibleName(tr("GPUs that the draft computes on"));
    gpu_button_->setToolTip(tr("Which GPUs of this machine the draft computes on"));
    gpu_menu_ = new QMenu(gpu_button_);
    gpu_menu_->setObjectName("meshGpuMenu");
    gpu_button_->setMenu(gpu_menu_);
    connect(gpu_menu_, &QMenu::aboutToShow, this, &MeshBar::fillGpuMenu);
    return gpu_button_;
}

/// The last one stays chosen: the switch beside it goes back to the CPU.
void MeshBar::fillGpuMenu() {
    gpu_menu_->clear();
    for (const GpuFacts& gpu : gpus_) {
        const bool chosen = std::ranges::count(chosen_gpus_, gpu.number) > 0;
        QAction* action = gpu_menu_->addAction(widgets::menuText(gpuText(gpu)));
        action->setObjectName(QStringLiteral("gpu_%1").arg(gpu.number));
        action->setCheckable(true);
        action->setChecked(chosen);
        action->setEnabled(!chosen || chosen_gpus_.size() > 1);
        connect(action, &QAction::triggered, this, [this, number = gpu.number](bool wanted) {
            std::vector<int> gpus = chosen_gpus_;
            wanted ? gpus.push_back(number) : void(std::erase(gpus, number));
            std::ranges::sort(gpus);
            emit gpusChosen(gpus);
        });
    }
}

/// Axes, batch and ZeRO, on one line where there is room for all of them.
QWidget* MeshBar::createArrangement() {
    auto* line = new QWidget;
    auto* flow = new widgets::FlowLayout(line);
    flow->setContentsMargins(0, 0, 0, 0);
    flow->setSpacing(widgets::space::kGroup);
    flow->setLineSpacing(widgets::space::kControl);
    axes_ = new AxisRow;
    connect(axes_, &AxisRow::edited, this, &MeshBar::change);
    QSizePolicy policy = axes_->sizePolicy(); // what its order means is said above
    policy.setHorizontalPolicy(QSizePolicy::Preferred);
    axes_->setSizePolicy(policy);
    flow->addWidget(axes_);
    batch_ = new BatchRow;
    connect(batch_, &BatchRow::adopted, this, &MeshBar::adopted);
    connect(batch_, &BatchRow::told, this, [this](const QString& problem) {
        problem_ = problem;
        describe();
    });
    auto* dealt = new QWidget; // they go on to the next line together
    auto* row = new QHBoxLayout(dealt);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(widgets::space::kControl);
    row->addWidget(batch_);
    row->addSpacing(widgets::space::kTight);
    row->addWidget(new TextLabel(tr("ZeRO"), TextStyle::Caption, Role::Muted));
    zero_ = new ZeroControl;
    zero_->setObjectName("meshZero");
    connect(zero_, &widgets::SegmentedControl::currentIndexChanged, this,
            [this](int stage) { change(withZeroStage(edit_, stage)); });
    row->addWidget(zero_);
    flow->addWidget(dealt);
    return line;
}

void MeshBar::setGpus(const std::vector<GpuFacts>& gpus, const QString& problem) {
    gpus_ = gpus;
    no_gpus_ = problem;
    describe();
}

void MeshBar::setEdit(const MeshEdit& edit, Where where, bool example,
                      const std::vector<int>& gpus) {
    edit_ = edit;
    chosen_gpus_ = gpus;
    where_ = where;
    {
        const QSignalBlocker quiet(switch_);
        switch_->setCurrentIndex(static_cast<int>(where));
    }
    {
        const QSignalBlocker quiet(devices_);
        devices_->setValue(edit.devices);
    }
    zero_->setStage(edit.zero_stage);
    example_->setVisible(example);
    use_->setVisible(example);
    is_example_ = example;
    cards_->setStrategy(edit.strategy);
    strategies_->setStrategy(edit.strategy);
    axes_->setEdit(edit);
    describe();
}

/// Which GPUs the draft computes on, by what is known of them; of several the fullest, which sets
/// the limit.
QString MeshBar::gpusText() const {
    if (gpus_.empty()) {
        return no_gpus_.isEmpty() ? tr("the GPUs of this machine are not known yet") : no_gpus_;
    }
    const GpuFacts* fullest = nullptr;
    for (const int number : chosen_gpus_) {
        if (static_cast<std::size_t>(number) >= gpus_.size()) {
            return tr("this machine has no GPU %1: it has %n", nullptr,
                      static_cast<int>(gpus_.size()))
                .arg(number);
        }
        const GpuFacts& gpu = gpus_[static_cast<std::size_t>(number)];
        const bool fuller = fullest == nullptr || gpu.freeBytes() < fullest->freeBytes();
        fullest = fuller ? &gpu : fullest;
    }
    if (fullest == nullptr) {
        return {};
    }
    return chosen_gpus_.size() == 1 ? gpuText(*fullest)
                                    : tr("least memory on %1").arg(gpuText(*fullest));
}

QString MeshBar::whereText() const {
    switch (where_) {
    case Where::Gpus: return gpusText();
    case Where::Planned:
        return is_example_ ? tr("the draft computes on one device")
                           : tr("planned only: nothing of it need be here");
    case Where::Here:
        return gpus_.empty() ? tr("the draft computes on one device")
                             : tr("one device: the first GPU with room for it, else the CPU");
    case Where::Simulated: break;
    }
    return tr("exact, not faster: each is a thread here");
}

/// What is wrong with the batch takes the place of what is always so.
void MeshBar::describe() {
    const bool on_gpus = where_ == Where::Gpus;
    const QString where = whereText();
    gpu_button_->setVisible(on_gpus && !gpus_.empty());
    gpu_button_->setText(toQString(
        devicesText({static_cast<int>(chosen_gpus_.size()), {}, {}, 0, "cuda", {}, chosen_gpus_})));
    // A draft may name GPUs that are not here.
    switch_->setSegmentEnabled(static_cast<int>(Where::Gpus), on_gpus || !gpus_.empty(),
                               no_gpus_.isEmpty() ? tr("The GPUs of this machine are not known yet")
                                                  : no_gpus_);
    const QString all = QStringList{where, axes_->orderText()}.join('\n').trimmed();
    QString shown = problem_;
    if (shown.isEmpty()) { // as much as there is room for
        const QFontMetrics metrics(remark_->font());
        const auto fits = [&](const QString& text) {
            return metrics.boundingRect(QRect(0, 0, remark_->width(), 1000), Qt::TextWordWrap, text)
                       .height() <= remark_->height();
        };
        shown = fits(all) ? all : fits(where) ? where : QString();
    }
    remark_->setText(shown);
    remark_->setToolTip(problem_.isEmpty() ? all : problem_);
    remark_->setRole(problem_.isEmpty() ? Role::Muted : Role::Warning);
    remark_->setVisible(!low_ || is_example_ || !problem_.isEmpty());
    switch_->setToolTip(all);
}

// Two lines, whatever is said: nothing below moves. Where it is low a problem has one when it must.
void MeshBar::keepHeight() {
    const int lines = low_ ? 1 : 2;
    remark_->setFixedHeight(QFontMetrics(remark_->font()).lineSpacing() * lines + kRemarkSlack);
}

bool MeshBar::eventFilter(QObject* watched, QEvent* event) {
    if (watched == remark_ && event->type() == QEvent::Resize) {
        describe();
    }
    return QWidget::eventFilter(watched, event);
}

void MeshBar::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        keepHeight();
    }
}

void MeshBar::setConfig(const compile::RunConfig& config) {
    batch_->setConfig(config);
}

void MeshBar::setLow(bool low) {
    if (low == low_) {
        return;
    }
    low_ = low;
    cards_->setVisible(!low);
    strategies_->setVisible(low);
    keepHeight();
    describe();
}

void MeshBar::change(const MeshEdit& edit) {
    if (edit != edit_) {
        emit edited(edit);
    }
}

} // namespace weft::ui
