// SPDX-License-Identifier: GPL-3.0-or-later
// A table of rows of one kind whose columns are each described in one place.
#pragma once

#include "widgets/look/theme.h"

#include <QAbstractTableModel>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace weft::ui {

/// What is left out is the usual: words on the left, in the font and the colour of the table, that
/// are said as they are shown and sorted by. Numbers stand on the right, in digits of one width.
template <class Row>
struct TableColumn {
    QString title{};
    std::function<QString(const Row&)> text;
    bool number = false;
    std::optional<widgets::TextStyle> font{};
    std::optional<widgets::Role> color{};
    std::function<QVariant(const Row&)> key{};   // to sort by, where it is not the text
    std::function<QString(const Row&)> spoken{}; // for a screen reader
    std::function<QString(const Row&)> tip{};    // where it is not that of the row
    QString title_tip{};
};

/// What rests on the row beside the column, a model adds in data().
template <class Row>
class TableModel : public QAbstractTableModel {
public:
    /// What a column is sorted by: numbers as such.
    static constexpr int kSortRole = Qt::UserRole;

    const std::vector<Row>& rows() const { return rows_; }
    const Row& row(int index) const { return rows_[static_cast<std::size_t>(index)]; }

    int rowCount(const QModelIndex& parent = {}) const override {
        return parent.isValid() ? 0 : static_cast<int>(rows_.size());
    }

    int columnCount(const QModelIndex& parent = {}) const override {
        return parent.isValid() ? 0 : static_cast<int>(columns_.size());
    }

    QVariant data(const QModelIndex& index, int role) const override {
        using widgets::Theme;
        if (!index.isValid()) {
            return {};
        }
        const Row& shown = row(index.row());
        const TableColumn<Row>& column = columns_[static_cast<std::size_t>(index.column())];
        switch (role) {
        case Qt::DisplayRole: return column.text(shown);
        case kSortRole: return column.key ? column.key(shown) : QVariant(column.text(shown));
        case Qt::AccessibleTextRole: return (column.spoken ? column.spoken : column.text)(shown);
        case Qt::ToolTipRole:
            return column.tip ? QVariant(column.tip(shown))
                   : tip_     ? QVariant(tip_(shown))
                              : QVariant();
        case Qt::TextAlignmentRole: return alignmentOf(column);
        case Qt::FontRole:
            return column.number ? QVariant(Theme::current().font(widgets::TextStyle::Mono))
                   : column.font ? QVariant(Theme::current().font(*column.font))
                                 : QVariant();
        case Qt::ForegroundRole:
            return column.color ? QVariant(Theme::current().color(*column.color)) : QVariant();
        default: return {};
        }
    }

    QVariant headerData(int section, Qt::Orientation orientation, int role) const override {
        if (orientation != Qt::Horizontal || section >= columnCount()) {
            return {};
        }
        const TableColumn<Row>& column = columns_[static_cast<std::size_t>(section)];
        switch (role) {
        case Qt::DisplayRole: return column.title;
        case Qt::TextAlignmentRole: return alignmentOf(column);
        case Qt::ToolTipRole:
            return column.title_tip.isEmpty() ? QVariant() : QVariant(column.title_tip);
        default: return {};
        }
    }

protected:
    explicit TableModel(QObject* parent) : QAbstractTableModel(parent) {}

    /// In the order of their numbers; `tip`: of every cell of a row.
    void describe(std::vector<TableColumn<Row>> columns,
                  std::function<QString(const Row&)> tip = {}) {
        columns_ = std::move(columns);
        tip_ = std::move(tip);
    }
    /// With the next reset.
    void setTitle(int column, const QString& title) {
        columns_[static_cast<std::size_t>(column)].title = title;
    }

    /// Where these are the `same` rows, they stay, and what they say is new. Returns `same`.
    bool replaceRows(std::vector<Row> rows, bool same) {
        if (!same) {
            beginResetModel();
        }
        rows_ = std::move(rows);
        if (!same) {
            endResetModel();
        } else if (!rows_.empty()) {
            dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
        }
        return same;
    }

    std::vector<Row> rows_;

private:
    static QVariant alignmentOf(const TableColumn<Row>& column) {
        return QVariant::fromValue(
            Qt::Alignment((column.number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
    }

    std::vector<TableColumn<Row>> columns_;
    std::function<QString(const Row&)> tip_;
};

} // namespace weft::ui
