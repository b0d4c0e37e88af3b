// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/table.h"

#include "widgets/look/painting.h"

#include <QEvent>
#include <QHeaderView>
#include <QScrollBar>
#include <QStyle>

#include <algorithm>
#include <cmath>

namespace weft::ui {
namespace {

constexpr int kTableRowHeight = 24; // at text size 1
constexpr int kTableCellPadding = 16;

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
        const int height =
            static_cast<int>(kTableRowHeight * widgets::Theme::current().fontScale());
        table_->verticalHeader()->setMinimumSectionSize(height);
        table_->verticalHeader()->setDefaultSectionSize(height);
    }

    QTableView* table_;
};

/// Columns as their texts need them, also when the table's width or its text size changes.
class ColumnFit : public QObject {
public:
    explicit ColumnFit(QTableView* table) : QObject(table), table_(table) {
        table->installEventFilter(this);
    }

    void setColumns(int rest, EmptyColumns empty, int least) {
        rest_ = rest;
        empty_ = empty;
        least_ = least;
        shared_ = false;
        apply();
    }

    void share(int rest) {
        rest_ = rest;
        shared_ = true;
        apply();
    }

    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() == QEvent::Resize || event->type() == QEvent::FontChange) {
            apply();
        }
        return QObject::eventFilter(watched, event);
    }

private:
    using Samples = std::vector<std::pair<int, QString>>; // columns with their longest texts

    QString longestIn(int column) const {
        QString out;
        for (int row = 0; row < table_->model()->rowCount(); ++row) {
            const QString text = table_->model()->index(row, column).data().toString();
            out = text.size() > out.size() ? text : out;
        }
        return out;
    }

    void apply() {
        Samples samples;
        for (int column = 0; column < table_->model()->columnCount(); ++column) {
            const QString longest = longestIn(column);
            table_->setColumnHidden(column, empty_ == EmptyColumns::Hide && longest.isEmpty());
            if (column != rest_ && !table_->isColumnHidden(column)) {
                samples.emplace_back(column, longest + QLatin1Char(' '));
            }
        }
        setColumnWidths(table_, samples);
        table_->horizontalHeader()->setSectionResizeMode(rest_, QHeaderView::Stretch);
        const int whole = table_->width() - table_->verticalScrollBar()->sizeHint().width();
        shared_ ? narrow(samples, whole) : hideLast(samples, whole);
    }

    // Who needs less than an even share leaves what is over to the others.
    void narrow(const Samples& samples, int whole) {
        std::vector<int> needs;
        for (const auto& [column, sample] : samples) {
            needs.push_back(table_->columnWidth(column));
        }
        std::sort(needs.begin(), needs.end());
        int sharers = static_cast<int>(needs.size()) + 1; // and the one that takes the rest
        int left = whole;
        for (const int need : needs) {
            if (need > left / sharers) {
                break;
            }
            left -= need;
            --sharers;
        }
        for (const auto& [column, sample] : samples) {
            table_->setColumnWidth(column, std::min(table_->columnWidth(column), left / sharers));
        }
    }

    void hideLast(const Samples& samples, int whole) {
        int left = whole;
        for (const auto& [column, sample] : samples) {
            left -= table_->columnWidth(column);
        }
        const double least = std::max<double>(least_ * widgets::Theme::current().fontScale(),
                                              table_->horizontalHeader()->sectionSizeHint(rest_));
        for (auto last = samples.rbegin(); last != samples.rend() && left < least; ++last) {
            left += table_->columnWidth(last->first);
            table_->hideColumn(last->first);
        }
    }

    QTableView* table_;
    int rest_ = 0;
    int least_ = 0;
    bool shared_ = false;
    EmptyColumns empty_ = EmptyColumns::Keep;
};

ColumnFit& fitOf(QTableView* table) {
    for (QObject* child : table->children()) {
        if (auto* own = dynamic_cast<ColumnFit*>(child)) {
            return *own;
        }
    }
    return *new ColumnFit(table);
}

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
        const QVariant font = table->model()->index(0, column).data(Qt::FontRole);
        const double width =
            std::max(widgets::textWidth(font.isValid() ? font.value<QFont>()
                                                       : theme.font(widgets::TextStyle::Mono),
                                        sample),
                     widgets::textWidth(theme.font(widgets::TextStyle::Caption), title));
        const bool ticked = table->model()->index(0, column).data(Qt::CheckStateRole).isValid();
        const int box = ticked ? table->style()->pixelMetric(QStyle::PM_IndicatorWidth) +
                                     2 * widgets::space::kControl
                               : 0;
        table->setColumnWidth(column, static_cast<int>(std::ceil(width)) + box + kTableCellPadding);
    }
}

void fitColumns(QTableView* table, int rest, EmptyColumns empty, int least) {
    fitOf(table).setColumns(rest, empty, least);
}

void shareColumns(QTableView* table, int rest) {
    fitOf(table).share(rest);
}

} // namespace weft::ui
