// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/mesh/step/collective_panel.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/plan/pattern_steps.h"
#include "ui/models/collective_model.h"
#include "ui/pages/plan/mesh/step/pattern_panel.h"
#include "ui/pages/table.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/delegates/mark_delegate.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/delegates/tag_delegate.h"
#include "widgets/controls/text_label.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QSortFilterProxyModel>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr int kCollectivePanelWide = 900;   // narrower: what it hides behind goes; at text size 1
constexpr int kCollectivePanelMiddle = 800; // narrower still: the phase goes
constexpr int kCollectivePanelNarrow = 640; // and the times and counts
constexpr int kCollectivePanelSlim = 480;   // and the bytes, which the chosen row says too
constexpr int kLeastTable = 64;
constexpr int kLeastWhy = 110; // that wraps; narrower, the chosen row's story says it
constexpr int kWhichLetters = 22;
constexpr int kCollectivePanelCellPadding = 16;
constexpr int kMarkRoom = 14;
constexpr int kCollectivePanelTagRoom = 12;
constexpr double kWhatShare = 0.55; // of the room for what and why
enum CollectiveSheet { CollectiveEmptySheet, CollectiveTableSheet, ArrowsSheet, PatternSheet };
enum CollectiveForm { CollectiveTableForm, CollectiveArrowsForm, CollectiveHowForm };

/// The first group along the axes: the devices that a pattern is shown on.
std::vector<int> groupOf(const plan::ExecutionPlan& plan, const CollectiveRow& row) {
    std::vector<int> axes; // of the mesh
    for (const std::string& name : row.first.axes) {
        axes.push_back(plan.mesh.find(name));
    }
    for (const auto& group : plan.mesh.groups(axes)) {
        if (row.first.kind == "send_recv" || plan.stage_of(group.front()) == row.stage) {
            return {group.begin(), group.end()};
        }
    }
    return {};
}

} // namespace

CollectivePanel::CollectivePanel(QWidget* parent) : PlanPanel(Shows::Step, parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    auto* panel = new widgets::Surface;
    auto* inner = new QVBoxLayout(panel);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->setSpacing(0);
    column->addWidget(panel);
    header_ = new widgets::SectionHeader(tr("Collectives"));
    form_ = new widgets::SegmentedControl({tr("Table"), tr("Arrows")});
    form_->addSegment(tr("How it works"), tr("How the chosen collective works, on small numbers"));
    form_->setObjectName("collectiveForm");
    form_->setAccessibleName(tr("Collectives as"));
    form_->setCompact(true);
    connect(form_, &widgets::SegmentedControl::currentIndexChanged, this,
            &CollectivePanel::showPage);
    header_->addControl(form_);
    inner->addWidget(header_);
    stack_ = new QStackedWidget;
    empty_ = new widgets::EmptyState;
    empty_->setObjectName("collectiveMessage");
    simulate_ = empty_->addButton(tr("Simulate several"), false);
    simulate_->setObjectName("collectiveSimulate");
    connect(simulate_, &QPushButton::clicked, this, &CollectivePanel::simulateRequested);
    stack_->addWidget(widgets::verticalScroll(empty_));
    stack_->addWidget(createTable());
    stack_->addWidget(createArrows());
    pattern_ = new PatternPanel;
    stack_->addWidget(pattern_);
    inner->addWidget(stack_, 1);
    auto* foot = new QHBoxLayout;
    foot->setContentsMargins(widgets::space::kGroup, widgets::space::kTight, widgets::space::kGroup,
                             widgets::space::kTight);
    why_ = new widgets::TextLabel({}, widgets::TextStyle::Caption, widgets::Role::Muted);
    why_->setObjectName("collectiveWhy");
    why_->setWordWrap(true);
    why_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    why_->hide();
    foot->addWidget(why_);
    inner->addLayout(foot);
    arrangeColumns();
    describe();
}

QWidget* CollectivePanel::createTable() {
    model_ = new CollectiveModel(this);
    proxy_ = new QSortFilterProxyModel(this);
    proxy_->setSourceModel(model_);
    proxy_->setSortRole(CollectiveModel::kSortRole);
    table_ = ui::createTable(proxy_, "collectiveTable", tr("Collectives of the step"));
    table_->setItemDelegateForColumn(CollectiveModel::AxesColumn,
                                     new widgets::TagDelegate(CollectiveModel::kAxesRole, table_));
    table_->setItemDelegateForColumn(
        CollectiveModel::KindColumn,
        new widgets::MarkDelegate(CollectiveModel::kRunningRole, table_));
    table_->setMinimumHeight(kLeastTable);
    table_->setTextElideMode(Qt::ElideMiddle); // the end says as much as the beginning
    table_->setWordWrap(true);
    table_->setSortingEnabled(true);
    table_->sortByColumn(-1, Qt::AscendingOrder); // the heaviest first, as they come
    connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
        explain();
        if (const int row = selectedRow(); row >= 0 && !settling_) {
            const std::vector<int>& ops = model_->row(row).ops;
            if (!ops.empty()) {
                emit opChosen(ops.front());
            }
        }
    });
    connect(table_, &QTableView::clicked, this, [this](const QModelIndex& index) {
        if (index.column() == CollectiveModel::WhyColumn) {
            follow(proxy_->mapToSource(index).row());
        }
    });
    connect(table_, &QTableView::activated, this,
            [this](const QModelIndex& index) { follow(proxy_->mapToSource(index).row()); });
    return table_;
}

QWidget* CollectivePanel::createArrows() {
    auto* page = new QWidget;
    auto* row = new QHBoxLayout(page);
    row->setContentsMargins(widgets::space::kGroup, widgets::space::kControl, 0, 0);
    row->setSpacing(0);
    auto* side = new QVBoxLayout;
    side->setSpacing(widgets::space::kControl);
    which_ = new QComboBox;
    which_->setObjectName("collectiveWhich");
    which_->setAccessibleName(tr("Collectives drawn"));
    which_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    which_->setMinimumContentsLength(kWhichLetters);
    widgets::setCompact(which_);
    side->addWidget(which_);
    note_ = new widgets::TextLabel({}, widgets::TextStyle::Caption, widgets::Role::Muted);
    note_->setObjectName("collectiveNote");
    note_->setWordWrap(true);
    side->addWidget(note_);
    side->addStretch(1);
    row->addLayout(side);
    arrows_ = new widgets::CollectiveView;
    arrows_->setObjectName("collectiveArrows");
    row->addWidget(arrows_, 1);
    connect(which_, &QComboBox::activated, this, [this](int index) { selectRow(index - 1); });
    return page;
}

/// To the op in the step, and to the tensor that makes the collective necessary.
void CollectivePanel::follow(int row) {
    const CollectiveRow& followed = model_->row(row);
    if (!followed.ops.empty()) {
        emit opChosen(followed.ops.front());
    }
    if (!followed.first.tensor.empty()) {
        emit tensorChosen(toQString(followed.first.tensor));
    }
}

void CollectivePanel::selectRow(int row) {
    if (row < 0) {
        table_->clearSelection();
        table_->selectionModel()->clearCurrentIndex();
        return;
    }
    const QModelIndex index =
        proxy_->mapFromSource(model_->index(row, CollectiveModel::KindColumn));
    table_->selectRow(index.row());
    table_->scrollTo(index);
}

// In the model. The focus alone selects nothing.
int CollectivePanel::selectedRow() const {
    const QModelIndexList rows = table_->selectionModel()->selectedRows();
    return rows.isEmpty() ? -1 : proxy_->mapToSource(rows.front()).row();
}

void CollectivePanel::planChanged(const ShownPlan&) {
    const QScopedValueRollback settling(settling_, true);
    model_->setDigest(digest_);
    pattern_row_ = -1;
    arrangeColumns();
    offerRows();
    describe();
    explain();
}

/// What the arrows can be of: all, or one row.
void CollectivePanel::offerRows() {
    which_->clear();
    which_->addItem(tr("All together"));
    for (int row = 0; row < model_->rowCount(); ++row) {
        which_->addItem(rowTitle(row));
    }
}

/// "all-reduce over data: grad of mlp.down"
QString CollectivePanel::rowTitle(int row) const {
    const auto text = [&](CollectiveModel::Column column) {
        return model_->index(row, column).data().toString();
    };
    return tr("%1 over %2: %3")
        .arg(text(CollectiveModel::KindColumn), text(CollectiveModel::AxesColumn),
             text(CollectiveModel::WhatColumn));
}

void CollectivePanel::showPage() {
    const bool full = model_->rowCount() > 0;
    form_->setEnabled(full);
    const bool how = full && form_->currentIndex() == CollectiveHowForm;
    const bool arrows = full && form_->currentIndex() == CollectiveArrowsForm;
    if (how) {
        showPattern();
    } else if (arrows) {
        drawArrows();
    }
    stack_->setCurrentIndex(!full    ? CollectiveEmptySheet
                            : how    ? PatternSheet
                            : arrows ? ArrowsSheet
                                     : CollectiveTableSheet);
    why_->setVisible(full && selectedRow() >= 0 && !how);
    header_->setSubtitle(!full ? QString() : how ? rowTitle(pattern_row_) : summary_);
}

/// Of the one that runs, else of the chosen row, else of all.
void CollectivePanel::drawArrows() {
    const int chosen = model_->running() >= 0 ? model_->running() : selectedRow();
    std::vector<CollectiveShare> shares;
    for (int row = 0; row < model_->rowCount(); ++row) {
        const std::vector<CollectiveShare>& own = model_->row(row).shares;
        if (chosen < 0 || row == chosen) {
            shares.insert(shares.end(), own.begin(), own.end());
        }
    }
    which_->setCurrentIndex(chosen + 1);
    widgets::CollectiveGraph graph = collectiveGraph(*digest_->plan, shares);
    const std::int64_t all = digest_->plan->mesh.devices();
    const auto drawn = static_cast<std::int64_t>(graph.devices.size());
    note_->setText(drawn == all ? QString()
                                : tr("%1 of %2 devices: one group, the others do the same")
                                      .arg(formatCount(drawn), formatCount(all)));
    arrows_->setGraph(std::move(graph));
}

/// Of the chosen row, else of the heaviest; one that stands already stays where it is.
void CollectivePanel::showPattern() {
    const int row = std::max(0, selectedRow());
    if (row == pattern_row_) {
        return;
    }
    pattern_row_ = row;
    std::vector<int> mesh;
    for (const sharding::Axis& axis : digest_->plan->mesh.axes) {
        mesh.push_back(static_cast<int>(axis.size));
    }
    const CollectiveRow& shown = model_->row(row);
    pattern_->setPattern(
        communicationPattern(shown.first.kind, groupOf(*digest_->plan, shown), std::move(mesh)));
}

void CollectivePanel::describe() {
    if (model_->rowCount() > 0) {
        const plan::ExecutionPlan& plan = *digest_->plan;
        const QString sent = widgets::formatMemory(model_->sentBytes());
        summary_ = tr("%1 in a step · %2")
                       .arg(formatCount(static_cast<std::int64_t>(model_->executions() + 0.5)),
                            plan.pipeline ? tr("up to %1 sent by a device").arg(sent)
                                          : tr("%1 sent by each device").arg(sent));
        if (model_->timed()) {
            summary_ += tr(" · %1 ms").arg(formatMilliseconds(plan.communication_ms));
        }
    }
    showPage();
    const bool single = !digest_ || digest_->plan->mesh.single();
    empty_->setTitle(single ? tr("One device says nothing to anybody")
                            : tr("These devices say nothing to each other"));
    empty_->setText(single ? tr("Simulate several to see their collectives, and why.")
                           : tr("Each does the whole step by itself, so it needs no "
                                "collectives."));
    simulate_->setVisible(single);
}

void CollectivePanel::explain() {
    const int row = selectedRow();
    why_->setText(row >= 0 ? CollectiveModel::story(model_->row(row)) : QString());
    why_->setAccessibleName(why_->text());
    showPage();
}

void CollectivePanel::staleChanged() {
    table_->setEnabled(!stale_);
    which_->setEnabled(!stale_);
    arrows_->setStale(stale_);
    why_->setRole(stale_ ? widgets::Role::Faint : widgets::Role::Muted);
}

void CollectivePanel::showOp(int op) {
    const int row = model_->rowOf(op);
    if (row == model_->running()) {
        return;
    }
    model_->setRunning(row);
    if (row >= 0) {
        table_->scrollTo(proxy_->mapFromSource(model_->index(row, CollectiveModel::KindColumn)));
    }
    if (stack_->currentIndex() == ArrowsSheet) {
        drawArrows();
    }
}

void CollectivePanel::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrangeColumns();
}

void CollectivePanel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        arrangeColumns();
    }
}

// What and why share the room that is left; the columns that matter least go first.
void CollectivePanel::arrangeColumns() {
    std::vector<std::pair<int, QString>> longest;
    QString what;
    for (int column = 0; column < CollectiveModel::ColumnCount; ++column) {
        QString sample;
        for (int row = 0; row < model_->rowCount(); ++row) {
            const QString text = model_->index(row, column).data().toString();
            sample = text.size() > sample.size() ? text : sample;
        }
        table_->setColumnHidden(column, sample.isEmpty());
        if (column == CollectiveModel::WhatColumn) {
            what = sample;
        } else if (column != CollectiveModel::WhyColumn) {
            longest.emplace_back(column, sample);
        }
    }
    setColumnWidths(table_, longest);
    // In other letters than numbers: a mark stands behind the kind, and tags have edges.
    const widgets::Theme& theme = widgets::Theme::current();
    const double kind = widgets::textWidth(theme.font(widgets::TextStyle::Body), longest[0].second);
    const double axes =
        widgets::textWidth(theme.font(widgets::TextStyle::MonoSmall), longest[1].second);
    table_->setColumnWidth(CollectiveModel::KindColumn,
                           static_cast<int>(kind) + kMarkRoom + kCollectivePanelCellPadding);
    table_->setColumnWidth(CollectiveModel::AxesColumn, static_cast<int>(axes) +
                                                            kCollectivePanelTagRoom +
                                                            kCollectivePanelCellPadding);
    const auto hide = [this](int column, int least) {
        if (width() < least * widgets::Theme::current().fontScale()) {
            table_->hideColumn(column);
        }
    };
    hide(CollectiveModel::OverlapsColumn, kCollectivePanelWide);
    hide(CollectiveModel::PhaseColumn, kCollectivePanelMiddle);
    hide(CollectiveModel::MsColumn, kCollectivePanelNarrow);
    hide(CollectiveModel::CountColumn, kCollectivePanelNarrow);
    hide(CollectiveModel::BytesColumn, kCollectivePanelSlim);
    int left = width();
    for (const auto& [column, sample] : longest) {
        left -= table_->isColumnHidden(column) ? 0 : table_->columnWidth(column);
    }
    const QFont body = theme.font(widgets::TextStyle::Body);
    const double whole =
        std::ceil(widgets::textWidth(body, what)) + 1 + kCollectivePanelCellPadding;
    table_->setColumnWidth(CollectiveModel::WhatColumn,
                           static_cast<int>(std::min(whole, kWhatShare * std::max(0, left))));
    table_->horizontalHeader()->setSectionResizeMode(CollectiveModel::WhyColumn,
                                                     QHeaderView::Stretch);
    const bool wraps =
        table_->columnWidth(CollectiveModel::WhyColumn) >= kLeastWhy * theme.fontScale();
    table_->setWordWrap(wraps);
    table_->resizeRowsToContents();
}

} // namespace weft::ui
