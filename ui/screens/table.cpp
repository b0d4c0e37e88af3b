// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/screens/table.h"

#include "widgets/painting.h"

#include <QHeaderView>

#include <algorithm>
#include <cmath>

namespace weft::ui {
namespace {

constexpr int kRowHeight = 24;
constexpr int kCellPadding = 16;

} // namespace

QTableView* createTable(QAbstractItemModel* model, const char* object_name,
                        const QString& accessible_name) {
    auto* table = new QTableView;
    table->setObjectName(object_name);
    table->setAccessibleName(accessible_name);
    table->setModel(model);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setSelectionMode(QAbstractItemView::SingleSelection);
    table->setShowGrid(false);
    table->setWordWrap(false);
    table->setFrameShape(QFrame::NoFrame);
    table->setTabKeyNavigation(false);
    table->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    table->verticalHeader()->hide();
    table->verticalHeader()->setMinimumSectionSize(kRowHeight);
    table->verticalHeader()->setDefaultSectionSize(kRowHeight);
    table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    table->horizontalHeader()->setHighlightSections(false);
    table->horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    table->horizontalHeader()->setMinimumSectionSize(24);
    return table;
}

void setColumnWidths(QTableView* table, const std::vector<std::pair<int, QString>>& samples) {
    const widgets::Theme& theme = widgets::Theme::current();
    for (const auto& [column, sample] : samples) {
        const QString title = table->model()->headerData(column, Qt::Horizontal).toString();
        const double width =
            std::max(widgets::textWidth(theme.font(widgets::TextStyle::Mono), sample),
                     widgets::textWidth(theme.font(widgets::TextStyle::Caption), title));
        table->setColumnWidth(column, static_cast<int>(std::ceil(width)) + kCellPadding);
    }
}

void fitColumns(QTableView* table, int rest) {
    const QAbstractItemModel* model = table->model();
    std::vector<std::pair<int, QString>> longest;
    for (int column = 0; column < model->columnCount(); ++column) {
        QString sample;
        for (int row = 0; row < model->rowCount(); ++row) {
            const QString text = model->index(row, column).data().toString();
            sample = text.size() > sample.size() ? text : sample;
        }
        if (column != rest) {
            longest.emplace_back(column, sample + QLatin1Char(' '));
        }
    }
    setColumnWidths(table, longest);
    table->horizontalHeader()->setSectionResizeMode(rest, QHeaderView::Stretch);
}

} // namespace weft::ui
