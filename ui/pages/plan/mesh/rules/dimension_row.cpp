// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/mesh/rules/dimension_row.h"

#include "ui/bridge/convert.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/flow_layout.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/menu_text.h"
#include "widgets/look/style.h"
#include "widgets/mesh/axis_chip.h"

#include <QDragEnterEvent>
#include <QHBoxLayout>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>

#include <algorithm>
#include <utility>

namespace weft::ui {
namespace {

using widgets::DropSlot;
using widgets::Role;
using widgets::TextStyle;

constexpr int kDimensionRowGap = 6;
constexpr int kLeastBecause = 110;

QString sourceText(SplitSource source) {
    switch (source) {
    case SplitSource::Rule: return DimensionRow::tr("by a rule of the draft");
    case SplitSource::Strategy: return DimensionRow::tr("by the strategy's rule");
    case SplitSource::Override: return DimensionRow::tr("by an override");
    case SplitSource::Zero: return DimensionRow::tr("by ZeRO, which the ZeRO stage decides");
    }
    return {};
}

} // namespace

DimensionRow::DimensionRow(QWidget* parent)
    : QWidget(parent), flow_(new widgets::FlowLayout(this)) {
    setObjectName("tensorDimensions");
    flow_->setContentsMargins(0, 0, 0, 0);
    flow_->setSpacing(kDimensionRowGap);
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Minimum);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
}

void DimensionRow::setTensor(std::shared_ptr<const PlanDigest> digest, const plan::StateSlot& slot,
                             std::shared_ptr<const compile::RunConfig> config) {
    digest_ = std::move(digest);
    slot_ = &slot;
    const bool was_editable = isEditable();
    config_ = std::move(config);
    const TensorEdit before = std::exchange(edit_, tensorEdit(*config_, slot));
    if (!was_editable || edit_ != before) { // every plan of a draft comes by here
        rebuild();
    }
}

void DimensionRow::setSheet(const TensorSheet* sheet) {
    digest_.reset();
    slot_ = nullptr;
    config_.reset();
    edit_ = {};
    if (sheet == nullptr) {
        clear();
        return;
    }
    for (int dim = 0; dim < sheet->tiles.rank(); ++dim) {
        const auto d = static_cast<std::size_t>(dim);
        DimEdit& made = edit_.dims.emplace_back();
        made.extent = sheet->tiles.shape[d];
        for (const QString& axis : sheet->axes[d]) {
            made.axes.push_back({axis.toStdString(), SplitSource::Rule});
        }
    }
    rebuild();
}

void DimensionRow::clear() {
    widgets::clearLayout(*flow_);
    cells_.clear();
    because_ = nullptr;
    reason_ = nullptr;
}

void DimensionRow::addWords(const QString& words) {
    flow_->addWidget(new widgets::TextLabel(words, TextStyle::Caption, Role::Muted));
}

void DimensionRow::rebuild() {
    const widgets::KeptFocus focus(*this);
    clear();
    const auto rank = edit_.dims.size();
    addWords(rank == 0 ? tr("a single number") : rank == 1 ? tr("dimension") : tr("dimensions"));
    for (std::size_t dim = 0; dim < rank; ++dim) {
        if (dim > 0) {
            addWords(QStringLiteral("×"));
        }
        cells_.push_back(new DimensionCell(*this, static_cast<int>(dim), edit_.dims[dim]));
        flow_->addWidget(cells_.back());
    }
    if (isEditable()) {
        addBecause();
    }
    arrange();
    focus.giveBack(findChild<DropSlot*>());
}

void DimensionRow::addBecause() {
    because_ = new QWidget;
    auto* row = new QHBoxLayout(because_);
    row->setContentsMargins(kDimensionRowGap, 0, 0, 0);
    row->setSpacing(kDimensionRowGap);
    reason_ = new widgets::ElidedLabel(edit_.because, TextStyle::Caption, Role::Muted);
    reason_->setObjectName("splitReason");
    row->addWidget(reason_, 1);
    if (!edit_.pattern.empty() || edit_.own_rule) {
        auto* back = new QPushButton(edit_.pattern.empty() ? tr("Back to the strategy")
                                                           : tr("Back to the rule"));
        back->setObjectName("splitBack");
        back->setToolTip(edit_.pattern.empty()
                             ? tr("Takes the draft's own rules for this tensor's dimensions away, "
                                  "for all tensors that have them")
                             : tr("Takes the override %1 away").arg(toQString(edit_.pattern)));
        widgets::setButtonKind(back, widgets::ButtonKind::Flat);
        widgets::setCompact(back);
        connect(back, &QPushButton::clicked, this, &DimensionRow::goBack);
        row->addWidget(back);
    }
    least_because_ = std::max(kLeastBecause, row->minimumSize().width() + kLeastBecause / 2);
    because_->setMinimumWidth(least_because_);
    because_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    flow_->addWidget(because_);
}

void DimensionRow::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrange();
}

// Places for a further axis are spelled out only where all dimensions stand on one line then.
void DimensionRow::arrange() {
    int wanted = 0;
    for (int i = 0; i < flow_->count(); ++i) {
        QWidget* widget = flow_->itemAt(i)->widget();
        auto* cell = qobject_cast<DimensionCell*>(widget);
        if (widget != because_) {
            wanted += flow_->spacing() + (cell ? cell->fullWidth() : widget->sizeHint().width());
        }
    }
    for (DimensionCell* cell : cells_) {
        cell->setShort(wanted - flow_->spacing() > width());
    }
    updateGeometry();
}

void DimensionRow::say(const QString& words, Role role) {
    if (reason_ != nullptr) {
        reason_->setText(words.isEmpty() ? edit_.because : words);
        reason_->setRole(words.isEmpty() ? Role::Muted : role);
        because_->setMinimumWidth(least_because_);
    }
}

SplitOutcome DimensionRow::outcomeOf(int dim, const QString& axis) const {
    return isEditable() ? splitOutcome(*config_, *slot_, dim, axis.toStdString())
                        : SplitOutcome{false, tr("the parameter decides"), 0};
}

QMenu* DimensionRow::createMenu(int dim, QWidget* parent) {
    auto* menu = new QMenu(parent);
    menu->setObjectName("splitMenu");
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addAction(tr("Split dimension %1 over").arg(dim))->setEnabled(false);
    for (const MeshAxis& axis : MeshEdit::of(*config_).axes) {
        const QString name = toQString(axis.name);
        const SplitOutcome outcome = outcomeOf(dim, name);
        const QString text = outcome.text.isEmpty() ? name : tr("%1: %2").arg(name, outcome.text);
        if (outcome.possible) {
            QMenu* choice = menu->addMenu(widgets::menuText(text));
            choice->menuAction()->setObjectName("splitOver_" + name);
            addScopes(choice, dim, name);
        } else {
            menu->addAction(widgets::menuText(outcome.text))->setEnabled(false);
        }
    }
    QMenu* none = menu->addMenu(tr("none"));
    none->menuAction()->setObjectName("splitOver_none");
    none->setEnabled(!edit_.dims[static_cast<std::size_t>(dim)].axes.empty());
    addScopes(none, dim, {});
    return menu;
}

void DimensionRow::addScopes(QMenu* menu, int dim, const QString& axis) {
    const std::string logical = edit_.dims[static_cast<std::size_t>(dim)].logical;
    QAction* alone = menu->addAction(tr("This tensor"));
    alone->setObjectName("splitTensor");
    connect(alone, &QAction::triggered, this,
            [this, dim, axis] { apply(dim, axis, SplitScope::Tensor); });
    if (logical.empty()) {
        return;
    }
    const SplitOutcome outcome =
        axis.isEmpty() ? SplitOutcome{true, {}, 0}
                       : splitOutcome(*config_, *slot_, dim, axis.toStdString(), SplitScope::Rule);
    QAction* all =
        menu->addAction(tr("All %n like it (%1)", nullptr, tensorsWith(*digest_->plan, logical))
                            .arg(ruleText(*config_, *slot_, dim, axis.toStdString())));
    all->setObjectName("splitRule");
    all->setEnabled(outcome.possible);
    all->setToolTip(outcome.text);
    connect(all, &QAction::triggered, this,
            [this, dim, axis] { apply(dim, axis, SplitScope::Rule); });
}

void DimensionRow::drop(int dim, const QString& axis) {
    const SplitOutcome outcome = outcomeOf(dim, axis);
    if (!outcome.possible) {
        say(tr("Not there: %1").arg(outcome.text), Role::Warning);
        // All of it, on a line of its own where it needs one; not before the pointer let go.
        const int words =
            reason_->fontMetrics().horizontalAdvance(reason_->text()) + 2 * kDimensionRowGap;
        because_->setMinimumWidth(
            std::clamp(words, least_because_, std::max(least_because_, width())));
        return;
    }
    if (edit_.dims[static_cast<std::size_t>(dim)].logical.empty()) {
        apply(dim, axis, SplitScope::Tensor);
        return;
    }
    auto* menu = new QMenu(this);
    menu->setObjectName("splitScope");
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addAction(tr("Split over %1").arg(widgets::menuText(axis)))->setEnabled(false);
    addScopes(menu, dim, axis);
    const QWidget* cell = cells_[static_cast<std::size_t>(dim)];
    menu->popup(cell->mapToGlobal(QPoint(0, cell->height())));
}

void DimensionRow::apply(int dim, const QString& axis, SplitScope scope) {
    const QString name = scope == SplitScope::Tensor
                             ? toQString(slot_->name)
                             : ruleText(*config_, *slot_, dim, axis.toStdString());
    const QString what = scope == SplitScope::Rule ? name
                         : axis.isEmpty()
                             ? tr("%1 whole along dimension %2").arg(name).arg(dim)
                             : tr("%1 split over %2 along dimension %3").arg(name, axis).arg(dim);
    emit adopted(withSplit(*config_, *slot_, dim, axis.toStdString(), scope), what);
}

void DimensionRow::remove(int dim, const QString& axis) {
    emit adopted(withoutSplit(*config_, *slot_, dim, axis.toStdString()),
                 tr("%1 not split over %2").arg(toQString(slot_->name), axis));
}

void DimensionRow::goBack() {
    const QString name = toQString(slot_->name);
    if (edit_.pattern.empty()) {
        emit adopted(withoutOwnRules(*config_, *slot_), tr("%1 as the strategy has it").arg(name));
    } else {
        emit adopted(withoutOverride(*config_, *slot_), tr("%1 as the rules have it").arg(name));
    }
}

DimensionCell::DimensionCell(DimensionRow& row, int dim, const DimEdit& edit)
    : row_(row), dim_(dim), split_(!edit.axes.empty()), slot_(nullptr) {
    setObjectName(QStringLiteral("dimension_%1").arg(dim));
    auto* line = new QHBoxLayout(this);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(kDimensionRowGap);
    line->addWidget(
        new widgets::TextLabel(QString::number(edit.extent), TextStyle::Mono, Role::Text));
    for (const DimAxis& axis : edit.axes) {
        const QString name = toQString(axis.axis);
        auto* tag = new widgets::AxisTag(name);
        tag->setObjectName(QStringLiteral("split_%1_%2").arg(dim).arg(name));
        tag->setAccessibleName(tr("Dimension %1 is split over %2").arg(dim).arg(name));
        const bool own = row.isEditable() && axis.source != SplitSource::Zero;
        tag->setRemovable(own);
        tag->setToolTip(
            row.isEditable()
                ? tr("split over the axis %1 of the mesh, %2").arg(name, sourceText(axis.source))
                : tr("split over the axis %1 of the mesh").arg(name));
        if (row.isEditable()) {
            connect(tag, &QAbstractButton::clicked, this, &DimensionCell::openMenu);
        }
        connect(tag, &widgets::AxisTag::removeRequested, this,
                [this, name] { row_.remove(dim_, name); });
        line->addWidget(tag);
    }
    if (!row.isEditable()) {
        return;
    }
    setAcceptDrops(true);
    slot_ = new DropSlot(tr("drop an axis"));
    slot_->setObjectName(QStringLiteral("slot_%1").arg(dim));
    slot_->setAccessibleName(tr("Split dimension %1 over…").arg(dim));
    slot_->setToolTip(tr("Drop an axis of the mesh here, or choose one"));
    connect(slot_, &QAbstractButton::clicked, this, &DimensionCell::openMenu);
    line->addWidget(slot_);
    slot_->setVisible(!split_); // before it has a parent it would be a window
}

void DimensionCell::setShort(bool is_short) {
    if (slot_ != nullptr) {
        slot_->setShort(is_short);
    }
}

int DimensionCell::fullWidth() const {
    int out = -layout()->spacing();
    for (int i = 0; i < layout()->count(); ++i) {
        const QWidget* widget = layout()->itemAt(i)->widget();
        if (!widget->isHidden()) {
            out += layout()->spacing() +
                   (widget == slot_ ? slot_->fullWidth() : widget->sizeHint().width());
        }
    }
    return out;
}

void DimensionCell::openMenu() {
    QMenu* menu = row_.createMenu(dim_, this);
    menu->popup(mapToGlobal(QPoint(0, height())));
}

void DimensionCell::dragEnterEvent(QDragEnterEvent* event) {
    const QString axis = widgets::axisOf(event->mimeData());
    if (axis.isEmpty() || slot_ == nullptr) {
        return;
    }
    // Taken even where it cannot stay: what is wrong is said here, and again when it is dropped.
    event->acceptProposedAction();
    const SplitOutcome outcome = row_.outcomeOf(dim_, axis);
    slot_->setVisible(true);
    slot_->setState(outcome.possible ? DropSlot::State::Welcome : DropSlot::State::Refused,
                    !outcome.possible ? tr("not here")
                    : outcome.padding_bytes > 0
                        ? tr("%1, %2 of padding").arg(axis, shortMemory(outcome.padding_bytes))
                        : axis);
    row_.say(outcome.text, outcome.possible ? Role::Muted : Role::Warning);
}

void DimensionCell::dragLeaveEvent(QDragLeaveEvent*) {
    slot_->setState(DropSlot::State::Empty);
    slot_->setVisible(!split_);
    row_.say({}, Role::Muted);
}

void DimensionCell::dropEvent(QDropEvent* event) {
    const QString axis = widgets::axisOf(event->mimeData());
    slot_->setState(DropSlot::State::Empty);
    slot_->setVisible(!split_);
    row_.say({}, Role::Muted);
    if (!axis.isEmpty()) {
        event->acceptProposedAction();
        row_.drop(dim_, axis);
    }
}

} // namespace weft::ui
