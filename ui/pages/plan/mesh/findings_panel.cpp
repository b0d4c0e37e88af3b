// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/mesh/findings_panel.h"

#include "ui/bridge/convert.h"
#include "ui/models/finding_model.h"
#include "ui/pages/table.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QScrollArea>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr int kDetailsWidth = 300;
constexpr int kTableShare = 3;
constexpr int kDetailsShare = 2;
constexpr double kMostWhere = 0.4; // of the table's width
enum FindingsSheet { FindingsEmptySheet, ListSheet };

} // namespace

FindingsPanel::FindingsPanel(QWidget* parent) : PlanPanel(Shows::Step, parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    auto* panel = new widgets::Surface;
    auto* inner = new QVBoxLayout(panel);
    inner->setContentsMargins(0, 0, 0, 0);
    column->addWidget(panel);
    stack_ = new QStackedWidget;
    empty_ = new widgets::EmptyState("check");
    empty_->setObjectName("findingsMessage");
    stack_->addWidget(empty_);
    auto* page = new QWidget;
    auto* row = new QHBoxLayout(page);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    model_ = new FindingModel(this);
    table_ = ui::createTable(model_, "findingsTable", tr("Findings of the plan"));
    table_->setTextElideMode(Qt::ElideMiddle);
    table_->installEventFilter(this);
    row->addWidget(table_, kTableShare);
    row->addWidget(new widgets::Hairline(Qt::Vertical));
    row->addWidget(createDetails(), kDetailsShare);
    stack_->addWidget(page);
    inner->addWidget(stack_);
    connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
        showDetails();
        if (const int chosen = selectedRow(); chosen >= 0 && !settling_) {
            if (const QString& tensor = model_->row(chosen).tensor; !tensor.isEmpty()) {
                emit tensorChosen(tensor);
            }
        }
    });
    settle(0);
}

QWidget* FindingsPanel::createDetails() {
    details_ = new QWidget;
    auto* column = new QVBoxLayout(details_);
    column->setContentsMargins(widgets::space::kGroup, widgets::space::kControl,
                               widgets::space::kGroup, widgets::space::kControl);
    column->setSpacing(widgets::space::kControl);
    story_ = new widgets::TextLabel;
    story_->setObjectName("findingStory");
    story_->setWordWrap(true);
    story_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(story_);
    fixes_ = new QVBoxLayout;
    fixes_->setSpacing(widgets::space::kTight);
    column->addLayout(fixes_);
    column->addStretch(1);
    QScrollArea* scroll = widgets::verticalScroll(details_);
    scroll->setMinimumWidth(kDetailsWidth);
    return scroll;
}

int FindingsPanel::count() const {
    return model_->rowCount();
}

void FindingsPanel::planChanged(const ShownPlan&) {
    const int selected = selectedRow();
    const int count_before = count();
    {
        const QScopedValueRollback settling(settling_, true);
        model_->setDigest(digest_);
        settle(std::max(0, selected));
    }
    if (count() != count_before) {
        emit countChanged(count());
    }
}

void FindingsPanel::setMemoryFixes(const std::vector<plan::Alternative>& fixes) {
    model_->setMemoryFixes(fixes);
    showDetails();
}

void FindingsPanel::staleChanged() {
    table_->setEnabled(!stale_);
    details_->setEnabled(!stale_);
}

/// The row that was chosen before, or the last.
void FindingsPanel::settle(int row) {
    const bool any = count() > 0;
    stack_->setCurrentIndex(any ? ListSheet : FindingsEmptySheet);
    const bool single = !digest_ || digest_->plan->mesh.single();
    empty_->setTitle(single ? tr("One device splits nothing")
                            : tr("Everything is split as the rules say"));
    empty_->setText(single ? tr("On a mesh, what does not divide over its axes is listed here.")
                           : tr("Nothing is padded, and nothing is kept whole by accident."));
    arrangeColumns();
    if (any) {
        table_->selectRow(std::min(row, count() - 1));
    }
    showDetails();
}

int FindingsPanel::selectedRow() const {
    const QModelIndexList rows = table_->selectionModel()->selectedRows();
    return rows.isEmpty() ? -1 : rows.front().row();
}

void FindingsPanel::showDetails() {
    widgets::clearLayout(*fixes_);
    const int row = selectedRow();
    story_->setText(row < 0 ? QString() : model_->row(row).story);
    if (row < 0) {
        return;
    }
    for (const sharding::FindingFix& fix : model_->row(row).fixes) {
        const QString what = toQString(fix.change);
        auto* button = new QPushButton(withoutPrefix(what));
        button->setObjectName("findingFix");
        button->setToolTip(what);
        widgets::setCompact(button);
        connect(button, &QPushButton::clicked, this,
                [this, fix, what] { emit adopted(fix.overrides, what); });
        fixes_->addWidget(button, 0, Qt::AlignLeft);
    }
}

// The table may be laid out long after this panel: it is on a page that was never shown.
bool FindingsPanel::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Resize || event->type() == QEvent::FontChange) {
        arrangeColumns();
    }
    return QWidget::eventFilter(watched, event);
}

void FindingsPanel::arrangeColumns() {
    QString where;
    for (int row = 0; row < model_->rowCount(); ++row) {
        const QString text = model_->index(row, FindingModel::WhereColumn).data().toString();
        where = text.size() > where.size() ? text : where;
    }
    setColumnWidths(table_, {{FindingModel::WhatColumn, tr("does not fit")},
                             {FindingModel::WhereColumn, where},
                             {FindingModel::BytesColumn, QStringLiteral("1,023.9 MiB")}});
    table_->setColumnWidth(FindingModel::WhereColumn,
                           std::min(table_->columnWidth(FindingModel::WhereColumn),
                                    static_cast<int>(kMostWhere * table_->width())));
    table_->horizontalHeader()->setSectionResizeMode(FindingModel::WhyColumn, QHeaderView::Stretch);
}

} // namespace weft::ui
