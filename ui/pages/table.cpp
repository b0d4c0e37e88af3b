// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/table.h"

#include "widgets/look/painting.h"

#include <QEvent>
#include <QHeaderView>
#include <QScrollBar>
#include <QStyle>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weft::ui {
namespace {

constexpr int kTableRowHeight = 24;
constexpr int kTableCellPadding = 16;

/// Rows are as high as the text needs, also when its size changes.
class RowHeight : public QObject {
public:
    RowHeight(QTableView* table, int height) : QObject(table), table_(table), height_(height) {
        table->installEventFilter(this);
        table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
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
        const int height = static_cast<int>(height_ * widgets::Theme::current().fontScale());
        table_->verticalHeader()->setMinimumSectionSize(height);
        table_->verticalHeader()->setDefaultSectionSize(height);
    }

    QTableView* table_;
    int height_; // at text size 1
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
        lack_ = Lack::HidesLast;
        apply();
    }

    void share(int rest) {
        rest_ = rest;
        lack_ = Lack::CutsTexts;
        apply();
    }

    void scroll(int rest, int least) {
        rest_ = rest;
        least_ = least;
        lack_ = Lack::Scrolls;
        table_->setHorizontalScrollBarPolicy(Qt::ScrollBarAsNeeded);
        table_->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
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
    enum class Lack { HidesLast, CutsTexts, Scrolls };    // of room

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
        const int whole = table_->width() - table_->verticalScrollBar()->sizeHint().width();
        if (lack_ == Lack::Scrolls) {
            setColumnWidths(table_, {{rest_, longestIn(rest_) + QLatin1Char(' ')}});
            table_->setColumnWidth(
                rest_, std::max({leastRest(), table_->columnWidth(rest_), leftBy(samples, whole)}));
            return;
        }
        table_->horizontalHeader()->setSectionResizeMode(rest_, QHeaderView::Stretch);
        lack_ == Lack::CutsTexts ? narrow(samples, whole) : hideLast(samples, whole);
    }

    int leftBy(const Samples& samples, int whole) const {
        return std::accumulate(samples.begin(), samples.end(), whole,
                               [this](int left, const auto& sample) {
                                   return left - table_->columnWidth(sample.first);
                               });
    }

    int leastRest() const {
        return std::max(static_cast<int>(least_ * widgets::Theme::current().fontScale()),
                        table_->horizontalHeader()->sectionSizeHint(rest_));
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
        int left = leftBy(samples, whole);
        const int least = leastRest();
        for (auto last = samples.rbegin(); last != samples.rend() && left < least; ++last) {
            left += table_->columnWidth(last->first);
            table_->hideColumn(last->first);
        }
    }

    QTableView* table_;
    int rest_ = 0;
    int least_ = 0;
    Lack lack_ = Lack::HidesLast;
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
    scaleRows(table, kTableRowHeight);
    table->horizontalHeader()->setHighlightSections(false);
    table->horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    table->horizontalHeader()->setMinimumSectionSize(24);
    return table;
}

void scaleRows(QTableView* table, int height) {
    new RowHeight(table, height);
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

void scrollColumns(QTableView* table, int rest, int least) {
    fitOf(table).scroll(rest, least);
}

} // namespace weft::ui
