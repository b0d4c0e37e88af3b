// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/mesh/rules/tile_panel.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/draft/override_edit.h"
#include "ui/pages/plan/mesh/rules/dimension_row.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/flow_layout.h"
#include "widgets/controls/text_label.h"
#include "widgets/mesh/shard_strip.h"
#include "widgets/mesh/tile_view.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QSignalBlocker>
#include <QSlider>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextStyle;

constexpr int kMargin = widgets::space::kGroup;
constexpr int kTilePanelWide = 340; // narrower: that there is no padding goes without saying
constexpr int kBesideLeast = 130; // room for tiles beside the shards; both at text size 1
constexpr double kBesideRatio = 1.6; // wider arrays have the shards below them

} // namespace

TilePanel::TilePanel(QWidget* parent) : PlanPanel(Shows::Step, parent) {
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    auto* panel = new widgets::Surface;
    outer->addWidget(panel);
    auto* column = new QVBoxLayout(panel);
    column->setContentsMargins(kMargin, 0, kMargin, widgets::space::kControl);
    column->setSpacing(widgets::space::kTight);
    column->addWidget(createHead());
    auto* sides = new QHBoxLayout;
    side_ = new widgets::SegmentedControl(
        {tr("Parameter"), tr("Gradient"), tr("Optimizer"), tr("Activation")});
    side_->setObjectName("tensorSide");
    side_->setCompact(true);
    side_->setAccessibleName(tr("Side of the tensor"));
    QSizePolicy keeps = side_->sizePolicy(); // hidden for the batch, and nothing moves
    keeps.setRetainSizeWhenHidden(true);
    side_->setSizePolicy(keeps);
    sides->addWidget(side_);
    sides->addStretch(1);
    column->addLayout(sides);
    dimensions_ = new DimensionRow;
    column->addWidget(dimensions_);
    column->addWidget(createPieces());
    view_ = new widgets::TileView;
    view_->setObjectName("tileView");
    strip_ = new widgets::ShardStrip;
    strip_->setObjectName("shardStrip");
    drawing_ = new QBoxLayout(QBoxLayout::TopToBottom);
    drawing_->setSpacing(widgets::space::kTight);
    drawing_->addWidget(view_, 1);
    drawing_->addWidget(strip_);
    column->addLayout(drawing_, 1);
    auto* foot = new QHBoxLayout;
    facts_ = new widgets::TextLabel({}, TextStyle::Caption);
    facts_->setObjectName("tensorFacts");
    facts_->setWordWrap(true);
    foot->addWidget(facts_, 1);
    touch_ = new widgets::Badge({}, Role::Accent);
    touch_->setObjectName("tensorTouch");
    touch_->setWidest(tr("read, written"));
    touch_->setToolTip(tr("What the op that the step is at does with it"));
    foot->addWidget(touch_);
    padding_ = new widgets::TextLabel({}, TextStyle::Caption, Role::Muted);
    padding_->setObjectName("tensorPadding");
    foot->addWidget(padding_);
    column->addLayout(foot);
    connect(dimensions_, &DimensionRow::adopted, this, &TilePanel::adopted);
    connect(side_, &widgets::SegmentedControl::currentIndexChanged, this, &TilePanel::renew);
    connect(view_, &widgets::TileView::deviceActivated, this, &TilePanel::chooseDevice);
    connect(strip_, &widgets::ShardStrip::deviceActivated, this, &TilePanel::chooseDevice);
}

QWidget* TilePanel::createHead() {
    auto* head = new QWidget;
    head->setMinimumHeight(widgets::size::kPanelHeaderHeight);
    auto* flow = new widgets::FlowLayout(head); // beside a long name there is no room for more
    flow->setContentsMargins(0, widgets::space::kControl, 0, widgets::space::kTight);
    flow->setSpacing(widgets::space::kControl);
    name_ = new widgets::ElidedLabel({}, TextStyle::Mono);
    name_->setObjectName("tensorName");
    name_->setElideMode(Qt::ElideLeft); // the end says more than the beginning
    flow->addWidget(name_);
    type_ = new widgets::TextLabel({}, TextStyle::Caption, Role::Muted);
    flow->addWidget(type_);
    return head;
}

QWidget* TilePanel::createPieces() {
    pieces_ = new QWidget;
    auto* row = new QHBoxLayout(pieces_);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(6);
    const auto combo = [&](const char* object_name, const QString& label, const QString& name) {
        row->addWidget(new widgets::TextLabel(label, TextStyle::Caption, Role::Muted));
        auto* made = new QComboBox;
        made->setObjectName(object_name);
        made->setAccessibleName(name);
        widgets::setCompact(made);
        row->addWidget(made);
        return made;
    };
    rows_ = combo("tileRows", tr("down"), tr("Dimension drawn downwards"));
    columns_ = combo("tileColumns", tr("across"), tr("Dimension drawn sideways"));
    piece_ = new QSlider(Qt::Horizontal);
    piece_->setObjectName("tilePiece");
    piece_->setAccessibleName(tr("Piece of the other dimensions"));
    row->addWidget(piece_, 1);
    piece_text_ = new widgets::ElidedLabel({}, TextStyle::MonoSmall);
    row->addWidget(piece_text_, 1);
    row->addStretch(0);
    const auto choose = [this](QComboBox* chosen, QComboBox* other) {
        // Both cannot show the same dimension: the other one gives way.
        if (chosen->currentIndex() == other->currentIndex()) {
            const QSignalBlocker quiet(other);
            other->setCurrentIndex(chosen == rows_ ? view_->rowAxis() : view_->columnAxis());
        }
        view_->setAxes(rows_->currentIndex(), columns_->currentIndex());
        offerAxes();
    };
    connect(rows_, &QComboBox::currentIndexChanged, this,
            [this, choose] { choose(rows_, columns_); });
    connect(columns_, &QComboBox::currentIndexChanged, this,
            [this, choose] { choose(columns_, rows_); });
    connect(piece_, &QSlider::valueChanged, this, [this](int piece) {
        view_->setPiece(piece);
        showPiece();
    });
    pieces_->hide();
    return pieces_;
}

void TilePanel::planChanged(const ShownPlan&) {
    // A plan without programs knows where state lies, nothing of what a step computes: that is
    // looked at as it was until the step is planned.
    awaits_step_ = digest_ && digest_->plan->programs.empty() && sheet_ &&
                   (side_->currentIndex() == static_cast<int>(TensorSide::Activation) ||
                    !plan::find_tensor(*digest_->plan, tensor_.toStdString()));
    if (!awaits_step_) {
        drawn_ = digest_;
        renew();
    }
    staleChanged();
}

void TilePanel::setConfig(const compile::RunConfig& config) {
    if (config_ && config_->document == config.document) {
        return;
    }
    config_ = std::make_shared<const compile::RunConfig>(config);
    showDimensions();
}

void TilePanel::staleChanged() {
    const bool faint = stale_ || awaits_step_;
    view_->setStale(faint);
    strip_->setStale(faint);
    facts_->setRole(faint ? Role::Faint : Role::Text);
}

void TilePanel::setDialect(sharding::SpecDialect dialect) {
    if (dialect != dialect_) {
        dialect_ = dialect;
        renew();
    }
}

void TilePanel::setMoment(const StepMoment& moment) {
    if (moment.touches != touches_) {
        touches_ = moment.touches;
        showTouch();
    }
}

void TilePanel::showTouch() {
    const auto found =
        std::find_if(touches_.begin(), touches_.end(), [this](const TensorTouch& touch) {
            return touch.tensor == tensor_ && static_cast<int>(touch.side) == side_->currentIndex();
        });
    const bool touched = sheet_ && found != touches_.end();
    touch_->setText(!touched          ? QString()
                    : !found->written ? tr("read")
                    : found->read     ? tr("read, written")
                                      : tr("written"));
}

void TilePanel::setTensor(const QString& name) {
    if (name != tensor_) {
        tensor_ = name;
        renew();
    }
}

void TilePanel::setSelectedDevice(int device) {
    device_ = device;
    view_->setSelectedDevice(device);
    strip_->setSelectedDevice(device);
}

void TilePanel::chooseDevice(int device) {
    // A second click on the same one puts the light out.
    setSelectedDevice(device == device_ ? -1 : device);
    emit deviceSelected(device_);
}

QString TilePanel::partText() const {
    if (!sheet_) {
        return {};
    }
    QStringList extents;
    for (const qint64 extent : sheet_->local) {
        extents.append(QString::number(extent));
    }
    return "[" + extents.join(", ") + "]";
}

void TilePanel::renew() {
    const std::optional<plan::Tensor> tensor =
        drawn_ ? plan::find_tensor(*drawn_->plan, tensor_.toStdString()) : std::nullopt;
    offerSides(tensor ? &*tensor : nullptr);
    showSheet(tensor ? tensorSheet(*drawn_->plan, *tensor,
                                   static_cast<TensorSide>(side_->currentIndex()), dialect_)
                     : std::nullopt);
    emit shownChanged();
}

QString TilePanel::whyNot(const plan::Tensor& tensor, TensorSide side) const {
    const plan::StateSlot* slot = drawn_->plan->find_slot(tensor.name);
    if (slot == nullptr || slot->category != plan::Category::parameters) {
        return tr("Of parameters only");
    }
    switch (side) {
    case TensorSide::Activation: return tr("No layer of the training step reads it");
    case TensorSide::Optimizer:
        return slot->trainable ? tr("The optimizer keeps nothing of its shape") : tr("Not trained");
    default:
        return slot->trainable ? tr("Split over the data ranks as the update comes to it")
                               : tr("Not trained");
    }
}

void TilePanel::offerSides(const plan::Tensor* tensor) {
    const QSignalBlocker quiet(side_);
    for (const TensorSide side :
         {TensorSide::Gradient, TensorSide::Optimizer, TensorSide::Activation}) {
        const bool there =
            tensor != nullptr && tensorSheet(*drawn_->plan, *tensor, side, dialect_).has_value();
        side_->setSegmentEnabled(static_cast<int>(side), there,
                                 tensor == nullptr ? QString() : whyNot(*tensor, side));
        if (!there && side_->currentIndex() == static_cast<int>(side)) {
            side_->setCurrentIndex(static_cast<int>(TensorSide::Parameter));
        }
    }
    side_->setVisible(tensor == nullptr || drawn_->plan->find_slot(tensor->name) != nullptr);
}

void TilePanel::showSheet(const std::optional<TensorSheet>& sheet) {
    sheet_ = sheet;
    name_->setText(sheet_ ? sheet_->name : QString());
    type_->setToolTip(sheet_ ? QStringList{sheet_->spec, sheet_->spec_remark}.join('\n').trimmed()
                             : QString());
    view_->setArray(sheet_ ? sheet_->tiles : widgets::TileArray{});
    if (sheet_ && device_ >= sheet_->tiles.deviceCount()) {
        setSelectedDevice(-1);
    }
    view_->setAccessibleName(sheet_ ? tr("%1, %2").arg(sheet_->name, partText()) : tr("Tiles"));
    showDimensions();
    offerAxes();
    showFacts();
    showTouch();
}

void TilePanel::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrange();
}

void TilePanel::arrange() {
    const bool wide = width() >= kTilePanelWide * widgets::Theme::current().fontScale();
    padding_->setVisible(wide || (sheet_ && sheet_->padding_bytes > 0));
    type_->setText(!sheet_ ? QString()
                   : wide  ? sheet_->type + QStringLiteral(" · ") + sheet_->spec
                           : sheet_->type);
    // A square has its shards beside it: below it they would take its height.
    const double left = width() - 2 * kMargin - strip_->minimumSizeHint().width();
    const bool beside = sheet_ && sheet_->tiles.rank() > 1 && view_->ratio() < kBesideRatio &&
                        left >= kBesideLeast * widgets::Theme::current().fontScale();
    drawing_->setDirection(beside ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
    strip_->setColumn(beside);
}

void TilePanel::showDimensions() {
    const plan::StateSlot* slot = drawn_ ? drawn_->plan->find_slot(tensor_.toStdString()) : nullptr;
    const bool parameter = side_->currentIndex() == static_cast<int>(TensorSide::Parameter);
    if (sheet_ && slot != nullptr && config_ && parameter && isEditable(*slot)) {
        dimensions_->setTensor(drawn_, *slot, config_);
    } else {
        dimensions_->setSheet(sheet_ ? &*sheet_ : nullptr);
    }
}

void TilePanel::offerAxes() {
    const int rank = sheet_ ? sheet_->tiles.rank() : 0;
    pieces_->setVisible(rank > 2);
    if (rank <= 2) {
        return;
    }
    const QSignalBlocker quiet_rows(rows_);
    const QSignalBlocker quiet_columns(columns_);
    const QSignalBlocker quiet_piece(piece_);
    for (QComboBox* box : {rows_, columns_}) {
        box->clear();
        for (int dim = 0; dim < rank; ++dim) {
            box->addItem(QStringLiteral("%1: %2").arg(dim).arg(
                sheet_->tiles.shape[static_cast<std::size_t>(dim)]));
        }
    }
    rows_->setCurrentIndex(view_->rowAxis());
    columns_->setCurrentIndex(view_->columnAxis());
    piece_->setRange(0, std::max(0, view_->pieceCount() - 1));
    piece_->setValue(view_->piece());
    piece_->setVisible(view_->pieceCount() > 1);
    piece_text_->setVisible(view_->pieceCount() > 1);
    showPiece();
}

void TilePanel::showPiece() {
    piece_text_->setText(view_->pieceText());
    strip_->setArray(view_->array(), view_->rowAxis(), view_->columnAxis());
    arrange();
}

void TilePanel::showFacts() {
    strip_->setArray(view_->array(), view_->rowAxis(), view_->columnAxis());
    if (!sheet_) {
        facts_->setText({});
        padding_->setText({});
        return;
    }
    QStringList parts{tr("%1 a device").arg(partText()), shortMemory(sheet_->local_bytes)};
    if (!sheet_->sum_axes.isEmpty()) {
        parts.append(tr("terms of sums over %1").arg(sheet_->sum_axes.join(", ")));
    }
    if (sheet_->copies > 1) {
        parts.append(tr("×%1 over %2").arg(sheet_->copies).arg(sheet_->copy_axes.join(", ")));
    } else if (sheet_->sum_axes.isEmpty()) {
        parts.append(tr("one copy"));
    }
    if (sheet_->stage >= 0) {
        parts.append(tr("stage %1").arg(sheet_->stage));
    }
    facts_->setText(parts.join(QStringLiteral(" · ")));
    padding_->setText(sheet_->padding_bytes == 0
                          ? tr("no padding")
                          : tr("%1 padding").arg(shortMemory(sheet_->padding_bytes)));
    arrange();
}

} // namespace weft::ui
