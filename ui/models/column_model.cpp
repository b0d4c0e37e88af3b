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

ColumnModel::ColumnModel(QObject* parent) : TableModel(parent) {
    using data::Column;
    using widgets::Role;
    using widgets::TextStyle;
    const auto name = [](const Column& column) { return toQString(column.name); };
    const auto missing = [](const Column& column) {
        return column.missing > 0 ? formatCount(column.missing) : QString();
    };
    describe({{.title = tr("predict"),
               .text = name,
               .font = TextStyle::Body,
               .color = Role::Text,
               .tip = name},
              {.title = tr("holds"),
               .text = contentOf,
               .font = TextStyle::Body,
               .color = Role::Muted,
               .tip = contentOf},
              {.title = tr("missing"),
               .text = missing,
               .number = true,
               .color = Role::Warning,
               .tip = missing},
              {.title = tr("for example"),
               .text = examplesOf,
               .font = TextStyle::Body,
               .color = Role::Muted,
               .tip = examplesOf}});
}

void ColumnModel::setColumns(std::vector<data::Column> columns, const QStringList& targets) {
    const bool same_rows = columns.size() == rows_.size();
    if (!same_rows) {
        beginResetModel();
    }
    rows_ = std::move(columns);
    targets_ = targets;
    if (!same_rows) {
        endResetModel();
    } else if (!rows_.empty()) {
        emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
    }
}

/// Those to predict are ticked.
QVariant ColumnModel::data(const QModelIndex& index, int role) const {
    const QString name = toQString(row(index.row()).name);
    const bool target = index.column() == NameColumn && targets_.contains(name);
    if (role == Qt::CheckStateRole && index.column() == NameColumn) {
        return target ? Qt::Checked : Qt::Unchecked;
    }
    if (target) {
        switch (role) {
        case Qt::ToolTipRole: return name + tr("\nis predicted");
        case Qt::AccessibleTextRole: return tr("%1, is predicted").arg(name);
        case Qt::FontRole: return widgets::Theme::current().font(widgets::TextStyle::Strong);
        default: break;
        }
    }
    return TableModel::data(index, role);
}

// One column is always predicted: ticking a first other one moves the tick, ticking more adds.
bool ColumnModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (role != Qt::CheckStateRole || index.column() != NameColumn) {
        return false;
    }
    const QString name = toQString(rows_[static_cast<std::size_t>(index.row())].name);
    const data::Column& column = rows_[static_cast<std::size_t>(index.row())];
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
        return std::any_of(rows_.begin(), rows_.end(), [&](const data::Column& known) {
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
        rows_[static_cast<std::size_t>(index.row())].kind != data::Column::Kind::empty;
    return ticks ? plain | Qt::ItemIsUserCheckable : plain;
}

} // namespace weft::ui
