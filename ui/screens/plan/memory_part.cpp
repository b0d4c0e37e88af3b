// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/screens/plan/memory_part.h"

#include "ui/bridge/convert.h"
#include "ui/models/tensor_model.h"
#include "ui/screens/table.h"
#include "widgets/card.h"
#include "widgets/controls.h"
#include "widgets/icon.h"
#include "widgets/memory_timeline.h"
#include "widgets/text_label.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QSlider>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

constexpr int kTickMs = 33;
constexpr double kPassSeconds = 24; // of a whole step at normal speed
constexpr int kSpeeds[] = {1, 4, 16};
constexpr int kAliveWidth = 368;
constexpr int kWideAlive = 340; // narrower: the lifetime goes into the tooltip
enum AliveAt { AtCursor, AtPeak };

} // namespace

MemoryPart::MemoryPart(QWidget* parent) : QWidget(parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* splitter = new QSplitter(Qt::Horizontal);
    splitter->setHandleWidth(1);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(createTimeline());
    splitter->addWidget(createAlive());
    splitter->setStretchFactor(0, 1);
    splitter->setStretchFactor(1, 0);
    splitter->setSizes({900, kAliveWidth});
    column->addWidget(splitter, 1);
    column->addWidget(new widgets::Hairline);
    column->addWidget(createScrubber());
    playing_.setInterval(kTickMs);
    connect(&playing_, &QTimer::timeout, this, &MemoryPart::tick);
}

QWidget* MemoryPart::createTimeline() {
    auto* left = new widgets::Panel;
    auto* column = new QVBoxLayout(left);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    header_ = new widgets::SectionHeader(tr("Memory over one step"));
    column->addWidget(header_);
    timeline_ = new widgets::MemoryTimeline;
    timeline_->setObjectName("memoryTimeline");
    column->addWidget(timeline_, 1);
    connect(timeline_, &widgets::PaintedView::cursorChanged, this, &MemoryPart::moveTo);
    return left;
}

QWidget* MemoryPart::createAlive() {
    auto* right = new widgets::Panel;
    right->setMinimumWidth(240);
    auto* column = new QVBoxLayout(right);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    alive_header_ = new widgets::SectionHeader(tr("Alive"));
    alive_at_ = new widgets::SegmentedControl({tr("Cursor"), tr("Peak")});
    alive_at_->setObjectName("aliveAt");
    alive_at_->setCompact(true);
    alive_at_->setAccessibleName(tr("Tensors alive at the cursor or at the peak"));
    alive_header_->addControl(alive_at_);
    column->addWidget(alive_header_);
    alive_ = new TensorModel(this);
    alive_table_ = createTable(alive_, "aliveTable", tr("Tensors alive"));
    QHeaderView* head = alive_table_->horizontalHeader();
    head->setSectionResizeMode(TensorModel::NameColumn, QHeaderView::Stretch);
    setColumnWidths(alive_table_, {{TensorModel::CountColumn, "×999"},
                                   {TensorModel::BytesColumn, "999.9 MiB"},
                                   {TensorModel::LifeColumn, "1234–5678"}});
    alive_table_->installEventFilter(this);
    column->addWidget(alive_table_, 1);
    connect(alive_at_, &widgets::SegmentedControl::currentIndexChanged, this,
            &MemoryPart::showAlive);
    return right;
}

QWidget* MemoryPart::createScrubber() {
    auto* bar = new widgets::Panel;
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(widgets::space::kGroup, 4, widgets::space::kGroup, 4);
    row->setSpacing(widgets::space::kControl);
    const auto button = [&](const char* name, const QString& icon, const QString& text) {
        auto* made = new QPushButton(widgets::icon(icon), {});
        made->setObjectName(name);
        made->setToolTip(text);
        made->setAccessibleName(text);
        row->addWidget(made);
        return made;
    };
    QPushButton* back = button("previousOp", "chevron-left", tr("Previous op"));
    play_ = button("playOps", "play", tr("Play the step"));
    play_->setCheckable(true);
    QPushButton* forward = button("nextOp", "chevron-right", tr("Next op"));
    slider_ = new QSlider(Qt::Horizontal);
    slider_->setObjectName("opSlider");
    slider_->setAccessibleName(tr("Op of the step"));
    slider_->setMinimumWidth(80);
    row->addWidget(slider_, 2);
    place_ = new widgets::ElidedLabel({}, widgets::TextStyle::Mono);
    row->addWidget(place_, 3);
    speed_ = new widgets::SegmentedControl;
    for (const int speed : kSpeeds) {
        speed_->addSegment(QStringLiteral("%1×").arg(speed), tr("Speed of playing"));
    }
    speed_->setCompact(true);
    speed_->setAccessibleName(tr("Speed of playing"));
    row->addWidget(speed_);
    connect(back, &QPushButton::clicked, this, [this] { setCursor(cursor() - 1); });
    connect(forward, &QPushButton::clicked, this, [this] { setCursor(cursor() + 1); });
    connect(play_, &QPushButton::toggled, this, &MemoryPart::play);
    connect(slider_, &QSlider::valueChanged, this, &MemoryPart::setCursor);
    return bar;
}

bool MemoryPart::eventFilter(QObject* watched, QEvent* event) {
    if (watched == alive_table_ && event->type() == QEvent::Resize) {
        alive_table_->setColumnHidden(TensorModel::LifeColumn, alive_table_->width() < kWideAlive);
    }
    return QWidget::eventFilter(watched, event);
}

void MemoryPart::setDigest(std::shared_ptr<const PlanDigest> digest) {
    if (sameStep(digest, digest_)) {
        return;
    }
    // Another plan has other ops: the cursor goes to its peak, unless the user put it elsewhere.
    const bool at_peak = !digest_ || cursor() == digest_->peak;
    const int before = cursor();
    digest_ = std::move(digest);
    const int ops = digest_ ? static_cast<int>(digest_->ops.size()) : 0;
    const int wanted = !digest_ ? -1 : at_peak || before >= ops ? digest_->peak : before;
    {
        const QSignalBlocker quiet(timeline_);
        timeline_->setData(digest_ ? digest_->timeline : widgets::TimelineData{});
        timeline_->setLimit(digest_ && digest_->plan->limit_bytes
                                ? std::optional<qint64>(*digest_->plan->limit_bytes)
                                : std::nullopt);
        timeline_->setCursorItem(wanted);
        const QSignalBlocker quiet_slider(slider_);
        slider_->setRange(0, std::max(0, ops - 1));
        slider_->setPageStep(std::max(1, ops / 20));
    }
    QString subtitle = digest_ ? tr("%1 ops").arg(formatCount(ops)) : QString();
    if (digest_ && digest_->plan->pipeline) {
        subtitle += tr(" · stage %1, which needs most of %2")
                        .arg(digest_->stage)
                        .arg(digest_->plan->pipeline->stages);
    }
    header_->setSubtitle(subtitle);
    moveTo(wanted);
}

void MemoryPart::setStale(bool stale) {
    timeline_->setStale(stale);
    alive_table_->setEnabled(!stale);
    place_->setRole(stale ? widgets::Role::Faint : widgets::Role::Text);
}

void MemoryPart::setGhost(const PlanDigest* other, const QString& label) {
    timeline_->setGhost(other != nullptr ? other->totals : std::vector<qint64>{}, label);
}

int MemoryPart::cursor() const {
    return timeline_->cursorItem();
}

void MemoryPart::setCursor(int op) {
    if (digest_ && op >= 0 && op < static_cast<int>(digest_->ops.size())) {
        timeline_->setCursorItem(op);
    }
}

void MemoryPart::moveTo(int op) {
    {
        const QSignalBlocker quiet(slider_);
        slider_->setValue(std::max(0, op));
    }
    if (digest_ && op >= 0) {
        const PlanOp& shown = digest_->ops[static_cast<std::size_t>(op)];
        place_->setText(
            tr("op %1 of %2 · %3 · %4")
                .arg(op + 1)
                .arg(digest_->ops.size())
                .arg(opTitle(shown),
                     widgets::formatMemory(digest_->totals[static_cast<std::size_t>(op)])));
    } else {
        place_->setText({});
    }
    showAlive();
    emit cursorChanged(op);
}

void MemoryPart::showAlive() {
    const bool at_peak = alive_at_->currentIndex() == AtPeak;
    const int op = !digest_ ? -1 : at_peak ? digest_->peak : cursor();
    alive_->setContent(digest_, op);
    alive_header_->setSubtitle(
        op < 0 ? QString()
               : tr("op %1 · %2 in %n tensor(s)", nullptr, alive_->tensorCount())
                     .arg(op + 1)
                     .arg(widgets::formatMemory(alive_->totalBytes())));
}

void MemoryPart::play(bool on) {
    play_->setIcon(widgets::icon(on ? "pause" : "play"));
    play_->setToolTip(on ? tr("Pause") : tr("Play the step"));
    play_->setAccessibleName(play_->toolTip());
    if (!on || !digest_) {
        playing_.stop();
        return;
    }
    const int last = static_cast<int>(digest_->ops.size()) - 1;
    exact_ = cursor() >= last ? 0 : std::max(0, cursor());
    playing_.start();
}

void MemoryPart::tick() {
    const int ops = digest_ ? static_cast<int>(digest_->ops.size()) : 0;
    const double speed = kSpeeds[speed_->currentIndex()];
    exact_ += ops / (kPassSeconds * 1000 / kTickMs) * speed;
    if (exact_ >= ops - 1) {
        setCursor(ops - 1);
        play_->setChecked(false);
        return;
    }
    setCursor(static_cast<int>(exact_));
}

} // namespace weft::ui
