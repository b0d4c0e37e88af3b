// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/screens/table.h"

#include "widgets/painting.h"

#include <QEvent>
#include <QHeaderView>

#include <algorithm>
#include <cmath>

namespace weft::ui {
namespace {

constexpr int kRowHeight = 24; // at text size 1
constexpr int kCellPadding = 16;
constexpr int kLeastRest = 96; // likewise: of the column that takes what is left

/// Rows are as high as the text needs, also when its size changes.
class RowHeight : public QObject {
public:
    explicit RowHeight(QTableView* table) : QObject(table), table_(table) {
        table->installEventFilter(this);
        apply();
    }

    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() == QEvent::FontChange) {
            apply();
        }
        return QObject::eventFilter(watched, event);
    }

private:
    void apply() {
        const int height = static_cast<int>(kRowHeight * widgets::Theme::current().fontScale());
        table_->verticalHeader()->setMinimumSectionSize(height);
        table_->verticalHeader()->setDefaultSectionSize(height);
    }

    QTableView* table_;
};

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
    new RowHeight(table);
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
    int left = table->viewport()->width();
    for (int column = 0; column < model->columnCount(); ++column) {
        table->showColumn(column);
        left -= column == rest ? 0 : table->columnWidth(column);
    }
    const double least = kLeastRest * widgets::Theme::current().fontScale();
    for (auto last = longest.rbegin(); last != longest.rend() && left < least; ++last) {
        left += table->columnWidth(last->first);
        table->hideColumn(last->first);
    }
}

} // namespace weft::ui
