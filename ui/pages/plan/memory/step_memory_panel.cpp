// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/memory/step_memory_panel.h"

#include "ui/bridge/convert.h"
#include "ui/models/tensor_model.h"
#include "ui/pages/table.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/views/memory_timeline.h"

#include <QHeaderView>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

constexpr int kAliveWidth = 368;
constexpr int kBothSides = 460;  // narrower: the curve or what is alive; at text size 1
constexpr int kWideAlive = 440;  // narrower: the lifetime goes into the tooltip
constexpr int kLeastAlive = 200; // narrower still: how many there are goes
enum AliveAt { AtCursor, AtPeak };

} // namespace

StepMemoryPanel::StepMemoryPanel(QWidget* parent) : PlanPanel(Shows::Step, parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* splitter = new widgets::ThinSplitter(Qt::Horizontal);
    sides_[0] = createTimeline();
    sides_[1] = createAlive();
    splitter->addWidget(sides_[0]);
    splitter->addWidget(sides_[1]);
    splitter->setStretchFactor(0, 1);
    splitter->setStretchFactor(1, 0);
    splitter->setSizes({900, kAliveWidth});
    column->addWidget(splitter, 1);
    arrangeSides();
}

QPushButton* StepMemoryPanel::createTurn(const char* object_name, const QString& text,
                                         const QString& help, bool to_alive) {
    auto* turn = new QPushButton(text);
    turn->setObjectName(object_name);
    turn->setToolTip(help);
    widgets::setCompact(turn);
    connect(turn, &QPushButton::clicked, this, [this, to_alive] {
        alive_side_ = to_alive;
        arrangeSides();
        turns_[to_alive ? 1 : 0]->setFocus();
    });
    return turn;
}

void StepMemoryPanel::arrangeSides() {
    const bool both = width() >= kBothSides * widgets::Theme::current().fontScale();
    for (const int side : {0, 1}) {
        sides_[side]->setVisible(both || alive_side_ == (side == 1));
        turns_[side]->setVisible(!both);
    }
}

void StepMemoryPanel::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrangeSides();
}

void StepMemoryPanel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        arrangeSides();
    }
}

QWidget* StepMemoryPanel::createTimeline() {
    auto* left = new widgets::Surface;
    auto* column = new QVBoxLayout(left);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    header_ = new widgets::SectionHeader(tr("Memory"));
    turns_[0] = createTurn("showAlive", tr("Alive"), tr("Tensors alive at the cursor"), true);
    header_->addControl(turns_[0]);
    column->addWidget(header_);
    timeline_ = new widgets::MemoryTimeline;
    timeline_->setObjectName("memoryTimeline");
    column->addWidget(timeline_, 1);
    connect(timeline_, &widgets::PaintedView::cursorChanged, this, &StepMemoryPanel::moveTo);
    return left;
}

QWidget* StepMemoryPanel::createAlive() {
    auto* right = new widgets::Surface;
    auto* column = new QVBoxLayout(right);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    alive_header_ = new widgets::SectionHeader(tr("Alive"));
    alive_at_ = new widgets::SegmentedControl({tr("Cursor"), tr("Peak")});
    alive_at_->setObjectName("aliveAt");
    alive_at_->setCompact(true);
    alive_at_->setAccessibleName(tr("Tensors alive at the cursor or at the peak"));
    alive_header_->addControl(alive_at_);
    turns_[1] = createTurn("showCurve", tr("Memory"), tr("Memory over the step"), false);
    alive_header_->addControl(turns_[1]);
    column->addWidget(alive_header_);
    alive_ = new TensorModel(this);
    alive_table_ = createTable(alive_, "aliveTable", tr("Tensors alive"));
    alive_table_->setTextElideMode(Qt::ElideMiddle); // ops and layers begin alike
    QHeaderView* head = alive_table_->horizontalHeader();
    head->setSectionResizeMode(TensorModel::NameColumn, QHeaderView::Stretch);
    arrangeAlive();
    alive_table_->installEventFilter(this);
    column->addWidget(alive_table_, 1);
    connect(alive_at_, &widgets::SegmentedControl::currentIndexChanged, this,
            &StepMemoryPanel::showAlive);
    return right;
}

bool StepMemoryPanel::eventFilter(QObject* watched, QEvent* event) {
    if (watched == alive_table_ &&
        (event->type() == QEvent::Resize || event->type() == QEvent::FontChange)) {
        arrangeAlive();
    }
    return QWidget::eventFilter(watched, event);
}

void StepMemoryPanel::arrangeAlive() {
    const double room = alive_table_->width() / widgets::Theme::current().fontScale();
    alive_table_->setColumnHidden(TensorModel::LifeColumn, room < kWideAlive);
    alive_table_->setColumnHidden(TensorModel::CountColumn, room < kLeastAlive);
    setColumnWidths(alive_table_, {{TensorModel::CountColumn, "×999"},
                                   {TensorModel::BytesColumn, "999.9 MiB"},
                                   {TensorModel::LifeColumn, "1234–5678"}});
}

void StepMemoryPanel::planChanged(const ShownPlan& before) {
    // Another plan has other ops: the cursor goes to its peak, unless the user put it elsewhere.
    const int at = cursor();
    const bool at_peak = !before.digest || at == before.digest->peak;
    const int ops = digest_ ? static_cast<int>(digest_->ops.size()) : 0;
    const int wanted = !digest_ ? -1 : at_peak || at >= ops ? digest_->peak : at;
    {
        const QSignalBlocker quiet(timeline_);
        timeline_->setData(digest_ ? digest_->timeline : widgets::TimelineData{});
        timeline_->setLimit(digest_ && digest_->plan->limit_bytes
                                ? std::optional<qint64>(*digest_->plan->limit_bytes)
                                : std::nullopt);
        timeline_->setCursorItem(wanted);
    }
    QString subtitle = digest_ ? tr("over a step · %1 ops").arg(formatCount(ops)) : QString();
    if (digest_ && digest_->plan->pipeline) {
        subtitle += tr(" · stage %1, which needs most of %2")
                        .arg(digest_->stage)
                        .arg(digest_->plan->pipeline->stages);
    }
    header_->setSubtitle(subtitle);
    moveTo(wanted);
}

void StepMemoryPanel::staleChanged() {
    timeline_->setStale(stale_);
    alive_table_->setEnabled(!stale_);
}

void StepMemoryPanel::setGhost(const PlanDigest* other, const QString& label) {
    timeline_->setGhost(other != nullptr ? other->totals : std::vector<qint64>{}, label);
}

int StepMemoryPanel::cursor() const {
    return timeline_->cursorItem();
}

void StepMemoryPanel::setCursor(int op) {
    if (digest_ && op >= 0 && op < static_cast<int>(digest_->ops.size())) {
        timeline_->setCursorItem(op);
    }
}

void StepMemoryPanel::moveTo(int op) {
    showAlive();
    emit cursorChanged(op);
}

void StepMemoryPanel::showAlive() {
    const bool at_peak = alive_at_->currentIndex() == AtPeak;
    const int op = !digest_ ? -1 : at_peak ? digest_->peak : cursor();
    alive_->setContent(digest_, op);
    alive_header_->setSubtitle(
        op < 0 ? QString()
               : tr("op %1 · %2 in %n tensor(s)", nullptr, alive_->tensorCount())
                     .arg(op + 1)
                     .arg(widgets::formatMemory(alive_->totalBytes())));
}

} // namespace weft::ui
