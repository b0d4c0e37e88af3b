// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/screens/plan/exchange_part.h"

#include "ui/bridge/convert.h"
#include "ui/models/exchange_model.h"
#include "ui/screens/plan/table.h"
#include "widgets/card.h"
#include "widgets/messages.h"
#include "widgets/tag_delegate.h"
#include "widgets/text_label.h"

#include <QHeaderView>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QSortFilterProxyModel>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

constexpr int kWide = 760;   // narrower: what it hides behind goes
constexpr int kMiddle = 620; // narrower still: the phase goes
enum Page { EmptyPage, TablePage };

} // namespace

ExchangePart::ExchangePart(QWidget* parent) : QWidget(parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    auto* panel = new widgets::Panel;
    auto* inner = new QVBoxLayout(panel);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->setSpacing(0);
    column->addWidget(panel);
    header_ = new widgets::SectionHeader(tr("Collectives"));
    inner->addWidget(header_);
    stack_ = new QStackedWidget;
    empty_ = new widgets::EmptyState;
    empty_->setObjectName("exchangeMessage");
    simulate_ = empty_->addButton(tr("Simulate several"), false);
    simulate_->setObjectName("exchangeSimulate");
    connect(simulate_, &QPushButton::clicked, this, &ExchangePart::simulateRequested);
    stack_->addWidget(empty_);
    stack_->addWidget(createTable());
    inner->addWidget(stack_, 1);
    arrangeColumns();
    describe();
}

QWidget* ExchangePart::createTable() {
    auto* page = new QWidget;
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    model_ = new ExchangeModel(this);
    proxy_ = new QSortFilterProxyModel(this);
    proxy_->setSourceModel(model_);
    proxy_->setSortRole(ExchangeModel::kSortRole);
    table_ = ui::createTable(proxy_, "exchangeTable", tr("Collectives of the step"));
    table_->setItemDelegateForColumn(ExchangeModel::AxesColumn,
                                     new widgets::TagDelegate(ExchangeModel::kAxesRole, table_));
    table_->setSortingEnabled(true);
    table_->sortByColumn(-1, Qt::AscendingOrder); // the heaviest first, as they come
    column->addWidget(table_, 1);
    why_ = new widgets::TextLabel({}, widgets::TextStyle::Caption, widgets::Role::Muted);
    why_->setObjectName("exchangeWhy");
    why_->setWordWrap(true);
    why_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    why_->setContentsMargins(widgets::space::kGroup, widgets::space::kTight, widgets::space::kGroup,
                             widgets::space::kTight);
    column->addWidget(why_);
    connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
        explain();
        if (const int row = selectedRow(); row >= 0 && !settling_) {
            const std::vector<int>& ops = model_->row(row).ops;
            if (!ops.empty()) {
                emit opChosen(ops.front());
            }
        }
    });
    return page;
}

// In the model. The focus alone selects nothing.
int ExchangePart::selectedRow() const {
    const QModelIndexList rows = table_->selectionModel()->selectedRows();
    return rows.isEmpty() ? -1 : proxy_->mapToSource(rows.front()).row();
}

void ExchangePart::setDigest(std::shared_ptr<const PlanDigest> digest) {
    if (digest == digest_) {
        return;
    }
    digest_ = std::move(digest);
    const QScopedValueRollback settling(settling_, true);
    model_->setDigest(digest_);
    arrangeColumns();
    describe();
    explain();
}

void ExchangePart::describe() {
    const bool full = model_->rowCount() > 0;
    stack_->setCurrentIndex(full ? TablePage : EmptyPage);
    if (full) {
        const plan::ExecutionPlan& plan = *digest_->plan;
        const QString sent = widgets::formatMemory(model_->sentBytes());
        QString text = tr("%1 in a step · %2")
                           .arg(formatCount(static_cast<std::int64_t>(model_->executions() + 0.5)),
                                plan.pipeline ? tr("up to %1 sent by a device").arg(sent)
                                              : tr("%1 sent by each device").arg(sent));
        if (model_->timed()) {
            text += tr(" · %1 ms").arg(formatMilliseconds(plan.communication_ms));
        }
        header_->setSubtitle(text);
        return;
    }
    header_->setSubtitle({});
    const bool single = !digest_ || digest_->plan->mesh.single();
    empty_->setTitle(single ? tr("One device says nothing to anybody")
                            : tr("These devices say nothing to each other"));
    empty_->setText(single ? tr("Simulate several to see what they exchange, and why.")
                           : tr("Each does the whole step by itself, so nothing has to be "
                                "exchanged."));
    simulate_->setVisible(single);
}

void ExchangePart::explain() {
    const int row = selectedRow();
    why_->setText(row >= 0 ? model_->why(row) : QString());
    why_->setVisible(row >= 0);
}

void ExchangePart::setStale(bool stale) {
    table_->setEnabled(!stale);
    why_->setRole(stale ? widgets::Role::Faint : widgets::Role::Muted);
}

void ExchangePart::showOp(int op) {
    const QScopedValueRollback settling(settling_, true);
    const int row = model_->rowOf(op);
    if (row < 0) {
        table_->clearSelection();
        table_->selectionModel()->clearCurrentIndex();
        return;
    }
    const QModelIndex index = proxy_->mapFromSource(model_->index(row, ExchangeModel::KindColumn));
    if (selectedRow() != row) {
        table_->selectRow(index.row());
        table_->scrollTo(index);
    }
}

void ExchangePart::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrangeColumns();
}

void ExchangePart::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        arrangeColumns();
    }
}

// The cause takes the room that is left; the columns that matter least go first.
void ExchangePart::arrangeColumns() {
    std::vector<std::pair<int, QString>> longest;
    for (int column = 0; column < ExchangeModel::ColumnCount; ++column) {
        QString sample;
        for (int row = 0; row < model_->rowCount(); ++row) {
            const QString text = model_->index(row, column).data().toString();
            sample = text.size() > sample.size() ? text : sample;
        }
        table_->setColumnHidden(column, sample.isEmpty());
        if (column != ExchangeModel::CauseColumn) {
            longest.emplace_back(column, sample + QLatin1Char(' '));
        }
    }
    setColumnWidths(table_, longest);
    if (width() < kWide) {
        table_->hideColumn(ExchangeModel::OverlapsColumn);
    }
    if (width() < kMiddle) {
        table_->hideColumn(ExchangeModel::PhaseColumn);
    }
    table_->horizontalHeader()->setSectionResizeMode(ExchangeModel::CauseColumn,
                                                     QHeaderView::Stretch);
}

} // namespace weft::ui
