// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/written_row_model.h"

#include "ui/bridge/convert.h"
#include "widgets/look/painting.h"

#include <algorithm>

namespace weft::ui {

WrittenRowModel::WrittenRowModel(QObject* parent) : QAbstractTableModel(parent) {}

void WrittenRowModel::setColumns(std::vector<data::InputColumn> columns) {
    beginResetModel();
    columns_ = std::move(columns);
    cells_.assign(columns_.size(), {});
    endResetModel();
}

void WrittenRowModel::setCells(std::vector<std::string> cells) {
    cells_ = std::move(cells);
    cells_.resize(columns_.size());
    if (!cells_.empty()) {
        emit dataChanged(index(0, ValueColumn), index(rowCount() - 1, ValueColumn));
    }
}

void WrittenRowModel::clear() {
    setCells({});
}

bool WrittenRowModel::isBlank() const {
    return std::all_of(cells_.begin(), cells_.end(), [](const auto& cell) { return cell.empty(); });
}

QString WrittenRowModel::placeholder(int row) const {
    const data::InputColumn& known = column(row);
    return !known.may_be_missing   ? tr("to be filled in")
           : known.instead.empty() ? tr("missing")
                                   : tr("missing: %1").arg(toQString(known.instead));
}

QString WrittenRowModel::textOf(int row) const {
    return toQString(cells_[static_cast<std::size_t>(row)]);
}

int WrittenRowModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(columns_.size());
}

int WrittenRowModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant WrittenRowModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) {
        return {};
    }
    const QString name = toQString(column(index.row()).name);
    const bool value = index.column() == ValueColumn;
    const QString text = textOf(index.row());
    const widgets::Theme& theme = widgets::Theme::current();
    switch (role) {
    case Qt::DisplayRole: return !value ? name : text.isEmpty() ? placeholder(index.row()) : text;
    case Qt::EditRole: return value ? text : name;
    case Qt::ToolTipRole:
        return value && text.isEmpty() && !column(index.row()).instead.empty()
                   ? tr("Without a value, %1 stands for it")
                         .arg(toQString(column(index.row()).instead))
                   : name;
    case Qt::AccessibleTextRole:
        return value ? tr("%1: %2").arg(name, text.isEmpty() ? placeholder(index.row()) : text)
                     : name;
    case Qt::FontRole:
        return theme.font(value && !text.isEmpty() && column(index.row()).categories.empty()
                              ? widgets::TextStyle::Mono
                              : widgets::TextStyle::Body);
    case Qt::ForegroundRole:
        return theme.color(value && text.isEmpty() ? widgets::Role::Muted : widgets::Role::Text);
    default: return {};
    }
}

bool WrittenRowModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    std::string text = value.toString().trimmed().toStdString();
    std::string& cell = cells_[static_cast<std::size_t>(index.row())];
    if (role != Qt::EditRole || index.column() != ValueColumn || text == cell) {
        return false;
    }
    cell = std::move(text);
    emit dataChanged(index, index);
    emit edited();
    return true;
}

Qt::ItemFlags WrittenRowModel::flags(const QModelIndex& index) const {
    const Qt::ItemFlags flags =
        index.isValid() ? Qt::ItemIsEnabled | Qt::ItemIsSelectable : Qt::NoItemFlags;
    return index.column() == ValueColumn ? flags | Qt::ItemIsEditable : flags;
}

QVariant WrittenRowModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
        return {};
    }
    return section == NameColumn ? tr("column") : tr("value");
}

} // namespace weft::ui
