// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/lower_docks.h"

#include "ui/models/problem_model.h"
#include "ui/pages/table.h"
#include "ui/shell/system_panel.h"
#include "widgets/controls/log_view.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"

#include <QDockWidget>
#include <QHeaderView>
#include <QMainWindow>
#include <QStackedWidget>
#include <QTabBar>
#include <QTableView>

namespace weft::ui {
namespace {

constexpr int kLowerDocksHeight = 220;

void toggle(QDockWidget& dock) {
    dock.setVisible(!dock.isVisible());
    if (dock.isVisible()) {
        dock.raise();
    }
}

// Its room is for the others.
bool isEmpty(const ProblemModel& problems, int column) {
    for (int row = 0; row < problems.rowCount(); ++row) {
        if (!problems.index(row, column).data().toString().isEmpty()) {
            return false;
        }
    }
    return true;
}

} // namespace

LowerDocks::LowerDocks(QMainWindow& window, ProblemModel& problems, Studio& studio)
    : QObject(&window), window_(window), problems_(problems), log_(new widgets::LogView) {
    console_ = add(tr("Console"), "consoleDock", log_);
    list_ = add(tr("Problems"), "problemsDock", createProblems());
    system_ = add(tr("System"), "systemDock", new SystemPanel(studio));
    window_.tabifyDockWidget(list_, console_);
    window_.tabifyDockWidget(console_, system_);
    for (QTabBar* tabs : window_.findChildren<QTabBar*>()) {
        tabs->setFocusPolicy(Qt::NoFocus); // unseen with both docks closed; each has its shortcut
    }
    window_.resizeDocks({list_}, {kLowerDocksHeight}, Qt::Vertical);
    hideAll();
}

QDockWidget* LowerDocks::add(const QString& title, const QString& name, QWidget* content) {
    auto* dock = new QDockWidget(title, &window_);
    dock->setObjectName(name);
    dock->setWidget(content);
    window_.addDockWidget(Qt::BottomDockWidgetArea, dock);
    return dock;
}

QWidget* LowerDocks::createProblems() {
    auto* table = new QTableView;
    table->setTabKeyNavigation(false); // Tab leaves the table
    table->setObjectName("problemsTable");
    table->setAccessibleName(tr("Problems"));
    table->setModel(&problems_);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setShowGrid(false);
    table->setWordWrap(false);
    table->verticalHeader()->hide();
    table->setFrameShape(QFrame::NoFrame);
    scaleRows(table, widgets::size::kRowHeight);
    QHeaderView* header = table->horizontalHeader();
    header->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    for (const int column :
         {ProblemModel::SourceColumn, ProblemModel::WhereColumn, ProblemModel::LineColumn}) {
        header->setSectionResizeMode(column, QHeaderView::ResizeToContents);
    }
    for (const int column : {ProblemModel::MessageColumn, ProblemModel::HintColumn}) {
        header->setSectionResizeMode(column, QHeaderView::Stretch);
    }
    connect(table, &QTableView::activated, this,
            [this](const QModelIndex& index) { emit problemActivated(index.row()); });
    auto* none = new widgets::TextLabel(tr("No problems in the draft or the run on screen"),
                                        widgets::TextStyle::Body, widgets::Role::Muted);
    none->setAlignment(Qt::AlignCenter);
    auto* pages = new QStackedWidget;
    pages->addWidget(none);
    pages->addWidget(table);
    const auto choose = [this, pages, table] {
        pages->setCurrentIndex(problems_.rowCount() > 0 ? 1 : 0);
        for (const int column :
             {ProblemModel::WhereColumn, ProblemModel::LineColumn, ProblemModel::HintColumn}) {
            table->setColumnHidden(column, isEmpty(problems_, column));
        }
    };
    connect(&problems_, &ProblemModel::countChanged, pages, choose);
    choose();
    return pages;
}

void LowerDocks::toggleConsole() {
    toggle(*console_);
}

void LowerDocks::toggleProblems() {
    toggle(*list_);
}

void LowerDocks::toggleSystem() {
    toggle(*system_);
}

void LowerDocks::showProblems() {
    list_->show();
    list_->raise();
}

void LowerDocks::hideAll() {
    console_->hide();
    list_->hide();
    system_->hide();
}

} // namespace weft::ui
