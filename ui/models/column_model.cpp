// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/column_model.h"

#include "ui/bridge/convert.h"

#include <algorithm>
#include <cmath>

namespace weft::ui {
namespace {

constexpr int kExamples = 4;
constexpr std::size_t kDayText = 10; // of "2023-04-30 12:30"

// Both ends in one style; four digits may be a year, which nobody writes with a comma.
QString numberOf(const data::Column& column, double value) {
    const double widest = std::max(std::abs(column.minimum), std::abs(column.maximum));
    if (!column.whole_numbers || widest >= 1e15) {
        return widgets::formatNumber(value);
    }
    const qint64 whole = std::llround(value);
    return widest < 10000 ? QString::number(whole) : formatCount(whole);
}

/// What is in a column, in a few words: "3 kinds", "1 to 99".
QString contentOf(const data::Column& column) {
    switch (column.kind) {
    case data::Column::Kind::number:
        return ColumnModel::tr("%1, %2 to %3")
            .arg(column.whole_numbers ? ColumnModel::tr("whole number") : ColumnModel::tr("number"),
                 numberOf(column, column.minimum), numberOf(column, column.maximum));
    case data::Column::Kind::category:
        return ColumnModel::tr("%n kind(s)", nullptr, static_cast<int>(column.distinct));
    case data::Column::Kind::date:
        return (column.has_times ? ColumnModel::tr("date and time, %1 to %2")
                                 : ColumnModel::tr("date, %1 to %2"))
            .arg(toQString(column.earliest.substr(0, kDayText)),
                 toQString(column.latest.substr(0, kDayText)));
    case data::Column::Kind::text:
        if (column.unclear_dates) {
            return ColumnModel::tr("dates, day or month first?");
        }
        return ColumnModel::tr("text, mostly different");
    case data::Column::Kind::empty: break;
    }
    return ColumnModel::tr("empty");
}

QString examplesOf(const data::Column& column) {
    QStringList shown;
    for (const std::string& example : column.examples) {
        if (shown.size() == kExamples) {
            break;
        }
        shown << toQString(example).simplified();
    }
    return shown.join(QStringLiteral(" · "));
}

} // namespace

ColumnModel::ColumnModel(QObject* parent) : QAbstractTableModel(parent) {}

void ColumnModel::setColumns(std::vector<data::Column> columns, const QStringList& targets) {
    const bool same_rows = columns.size() == columns_.size();
    if (!same_rows) {
        beginResetModel();
    }
    columns_ = std::move(columns);
    targets_ = targets;
    if (!same_rows) {
        endResetModel();
    } else if (!columns_.empty()) {
        emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
    }
}

int ColumnModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(columns_.size());
}

int ColumnModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QString ColumnModel::display(const data::Column& column, int section) const {
    switch (section) {
    case NameColumn: return toQString(column.name);
    case KindColumn: return contentOf(column);
    case MissingColumn: return column.missing > 0 ? formatCount(column.missing) : QString();
    case ExampleColumn: return examplesOf(column);
    default: return {};
    }
}

QVariant ColumnModel::data(const QModelIndex& index, int role) const {
    const data::Column& column = columns_[static_cast<std::size_t>(index.row())];
    const widgets::Theme& theme = widgets::Theme::current();
    const bool target = targets_.contains(toQString(column.name));
    switch (role) {
    case Qt::DisplayRole: return display(column, index.column());
    case Qt::ToolTipRole:
        return display(column, index.column()) +
               (index.column() == NameColumn && target ? tr("\nis predicted") : QString());
    case Qt::CheckStateRole:
        return index.column() == NameColumn ? QVariant(target ? Qt::Checked : Qt::Unchecked)
                                            : QVariant();
    case Qt::AccessibleTextRole:
        return index.column() == NameColumn && target
                   ? tr("%1, is predicted").arg(toQString(column.name))
                   : display(column, index.column());
    case Qt::FontRole:
        return theme.font(index.column() == MissingColumn          ? widgets::TextStyle::Mono
                          : target && index.column() == NameColumn ? widgets::TextStyle::Strong
                                                                   : widgets::TextStyle::Body);
    case Qt::ForegroundRole:
        return theme.color(index.column() == MissingColumn ? widgets::Role::Warning
                           : index.column() == NameColumn  ? widgets::Role::Text
                                                           : widgets::Role::Muted);
    case Qt::TextAlignmentRole:
        return QVariant((index.column() == MissingColumn ? Qt::AlignRight : Qt::AlignLeft) |
                        Qt::AlignVCenter);
    default: return {};
    }
}

// One column is always predicted: ticking a first other one moves the tick, ticking more adds.
bool ColumnModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (role != Qt::CheckStateRole || index.column() != NameColumn) {
        return false;
    }
    const QString name = toQString(columns_[static_cast<std::size_t>(index.row())].name);
    const data::Column& column = columns_[static_cast<std::size_t>(index.row())];
    if (value.toInt() != Qt::Checked) {
        QStringList left = targets_;
        left.removeAll(name);
        if (left.isEmpty()) {
            return false;
        }
        emit targetsChosen(left);
        return true;
    }
    // Several numbers can be predicted at a time; a class stands alone.
    const auto is_number = [this](const QString& wanted) {
        return std::any_of(columns_.begin(), columns_.end(), [&](const data::Column& known) {
            return toQString(known.name) == wanted && known.kind == data::Column::Kind::number &&
                   !known.whole_numbers;
        });
    };
    const bool together = column.kind == data::Column::Kind::number && !column.whole_numbers &&
                          std::all_of(targets_.begin(), targets_.end(), is_number);
    emit targetsChosen(together ? targets_ + QStringList{name} : QStringList{name});
    return true;
}

Qt::ItemFlags ColumnModel::flags(const QModelIndex& index) const {
    if (!index.isValid()) {
        return Qt::NoItemFlags;
    }
    const Qt::ItemFlags plain = Qt::ItemIsEnabled | Qt::ItemIsSelectable;
    const bool ticks =
        index.column() == NameColumn &&
        columns_[static_cast<std::size_t>(index.row())].kind != data::Column::Kind::empty;
    return ticks ? plain | Qt::ItemIsUserCheckable : plain;
}

QVariant ColumnModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) {
        return {};
    }
    if (role == Qt::TextAlignmentRole) {
        return QVariant((section == MissingColumn ? Qt::AlignRight : Qt::AlignLeft) |
                        Qt::AlignVCenter);
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    switch (section) {
    case NameColumn: return tr("predict");
    case KindColumn: return tr("holds");
    case MissingColumn: return tr("missing");
    case ExampleColumn: return tr("for example");
    default: return {};
    }
}

} // namespace weft::ui
