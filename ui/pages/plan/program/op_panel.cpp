// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/program/op_panel.h"

#include "ui/bridge/convert.h"
#include "ui/models/op_model.h"
#include "ui/pages/table.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/delegates/share_delegate.h"

#include <QHeaderView>
#include <QLineEdit>
#include <QScopedValueRollback>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr int kOpPanelFilterWidth = 180;
constexpr int kOpPanelWide = 860;   // narrower: the kernel goes
constexpr int kOpPanelMiddle = 700; // narrower still: the phase goes
constexpr int kOpPanelNarrow = 440; // and times, FLOPs and bytes: the share says which are large

} // namespace

OpPanel::OpPanel(QWidget* parent) : PlanPanel(Shows::Step, parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* panel = new widgets::Surface;
    auto* inner = new QVBoxLayout(panel);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->setSpacing(0);
    column->addWidget(panel);
    header_ = new widgets::SectionHeader(tr("Ops"));
    grouping_ = new widgets::SegmentedControl({tr("By layer"), tr("By op"), tr("Each")});
    grouping_->setObjectName("opGrouping");
    grouping_->setCompact(true);
    grouping_->setAccessibleName(tr("Group the ops"));
    header_->addControl(grouping_);
    filter_ = new QLineEdit;
    filter_->setObjectName("opFilter");
    filter_->setPlaceholderText(tr("Filter"));
    filter_->setAccessibleName(tr("Filter the ops by op, layer, phase or kernel"));
    filter_->setToolTip(tr("Words of op, layer, phase or kernel (Ctrl+F)"));
    filter_->setClearButtonEnabled(true);
    filter_->setMaximumWidth(kOpPanelFilterWidth);
    widgets::setCompact(filter_);
    header_->addControl(filter_);
    inner->addWidget(header_);
    model_ = new OpModel(this);
    proxy_ = new OpFilter(this);
    proxy_->setSourceModel(model_);
    table_ = createTable(proxy_, "opTable", tr("Ops of the step"));
    table_->setTextElideMode(Qt::ElideMiddle); // the end says as much as the beginning
    share_ = new widgets::ShareDelegate(OpModel::kShareRole, table_);
    table_->setItemDelegateForColumn(OpModel::ShareColumn, share_);
    table_->setSortingEnabled(true);
    table_->sortByColumn(OpModel::ShareColumn, Qt::DescendingOrder);
    inner->addWidget(table_, 1);
    connect(grouping_, &widgets::SegmentedControl::currentIndexChanged, this, [this](int index) {
        const QScopedValueRollback settling(settling_, true);
        model_->setGrouping(static_cast<OpModel::Grouping>(index));
        // Single ops are read in their order, groups by their weight.
        const bool each = model_->grouping() == OpModel::Grouping::Each;
        table_->sortByColumn(each ? OpModel::PhaseColumn : OpModel::ShareColumn,
                             each ? Qt::AscendingOrder : Qt::DescendingOrder);
        describe();
        showOp(shown_);
    });
    connect(filter_, &QLineEdit::textChanged, this, [this](const QString& text) {
        const QScopedValueRollback settling(settling_, true);
        proxy_->setWords(text);
        describe();
        showOp(shown_);
    });
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& current) {
                if (current.isValid() && !settling_) {
                    const int op = model_->opOf(proxy_->mapToSource(current).row());
                    if (model_->rowOf(shown_) != model_->rowOf(op)) {
                        emit opChosen(op);
                    }
                }
            });
    arrangeColumns();
}

void OpPanel::planChanged(const ShownPlan&) {
    const QScopedValueRollback settling(settling_, true);
    shown_ = -1;
    model_->setDigest(digest_);
    arrangeColumns();
    describe();
}

void OpPanel::describe() {
    double full = 0;
    for (int row = 0; row < proxy_->rowCount(); ++row) {
        full = std::max(
            full, proxy_->index(row, OpModel::ShareColumn).data(OpModel::kShareRole).toDouble());
    }
    share_->setFull(full);
    if (!digest_) {
        header_->setSubtitle({});
        return;
    }
    const plan::ExecutionPlan& plan = *digest_->plan;
    QString text = tr("%1 in a step · %2FLOP")
                       .arg(formatCount(static_cast<std::int64_t>(digest_->ops.size())),
                            formatFlops(plan.flops_per_step));
    if (plan.predicted_step_ms) {
        text += tr(" · predicted %1 ms").arg(formatMilliseconds(*plan.predicted_step_ms));
    }
    if (!filter_->text().isEmpty()) {
        text = tr("%n row(s) match · ", nullptr, proxy_->rowCount()) + text;
    }
    header_->setSubtitle(text);
}

void OpPanel::staleChanged() {
    table_->setEnabled(!stale_);
}

void OpPanel::showOp(int op) {
    const QScopedValueRollback settling(settling_, true);
    shown_ = op;
    const int row = model_->rowOf(op);
    const QModelIndex index =
        row < 0 ? QModelIndex() : proxy_->mapFromSource(model_->index(row, OpModel::KindColumn));
    if (!index.isValid()) {
        table_->clearSelection();
        table_->selectionModel()->clearCurrentIndex();
    } else if (table_->currentIndex().row() != index.row() ||
               !table_->selectionModel()->hasSelection()) {
        table_->selectRow(index.row());
        table_->scrollTo(index);
    }
}

void OpPanel::focusFilter() {
    filter_->setFocus(Qt::ShortcutFocusReason);
    filter_->selectAll();
}

void OpPanel::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrangeColumns();
}

void OpPanel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        arrangeColumns();
    }
}

/// Of hardware that is not here none are known, but those of collectives, called as their ops.
bool OpPanel::namesKernels() const {
    return digest_ && std::any_of(digest_->ops.begin(), digest_->ops.end(), [](const PlanOp& op) {
               return !op.kernel.isEmpty() && op.kernel != op.kind;
           });
}

// The layer takes the room that is left; the columns that matter least go first.
void OpPanel::arrangeColumns() {
    const double room = width() / widgets::Theme::current().fontScale();
    table_->setColumnHidden(OpModel::KernelColumn, room < kOpPanelWide || !namesKernels());
    table_->setColumnHidden(OpModel::PhaseColumn, room < kOpPanelMiddle);
    for (const auto column : {OpModel::CountColumn, OpModel::FlopsColumn, OpModel::BytesColumn}) {
        table_->setColumnHidden(column, room < kOpPanelNarrow);
    }
    table_->setColumnHidden(OpModel::MsColumn, !digest_ || !digest_->timed);
    setColumnWidths(table_,
                    {{OpModel::KindColumn, QString(room < kOpPanelMiddle ? 13 : 16, 'm')},
                     {OpModel::PhaseColumn, "backward m"},
                     {OpModel::CountColumn, "×1,000"},
                     {OpModel::KernelColumn, QString(16, 'm')},
                     {OpModel::FlopsColumn, "100.0 G"},
                     {OpModel::BytesColumn, "1,000 MiB"},
                     {OpModel::MsColumn, "10,000"},
                     {OpModel::ShareColumn, QString(room < kOpPanelMiddle ? 15 : 18, 'm')}});
    table_->horizontalHeader()->setSectionResizeMode(OpModel::PathColumn, QHeaderView::Stretch);
}

} // namespace weft::ui
