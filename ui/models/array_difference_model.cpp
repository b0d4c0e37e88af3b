// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/array_difference_model.h"

#include "ui/bridge/convert.h"
#include "widgets/look/theme.h"

namespace weft::ui {
namespace {

double differenceOf(const checkpoint::TensorDifference& row, int column) {
    switch (column) {
    case ArrayDifferenceModel::NormA: return row.norm_a;
    case ArrayDifferenceModel::NormB: return row.norm_b;
    case ArrayDifferenceModel::NormDifference: return row.norm_difference;
    case ArrayDifferenceModel::Largest: return row.max_absolute;
    default: return row.max_relative;
    }
}

QVariant alignmentOfColumn(int column) {
    return QVariant::fromValue(
        Qt::Alignment(Qt::AlignVCenter |
                      (column == ArrayDifferenceModel::Name ? Qt::AlignLeft : Qt::AlignRight)));
}

} // namespace

void ArrayDifferenceModel::setDifferences(std::vector<checkpoint::TensorDifference> differences) {
    beginResetModel();
    rows_ = std::move(differences);
    for (int column = Name + 1; column < ColumnCount; ++column) {
        std::vector<double> values;
        for (const checkpoint::TensorDifference& row : rows_) {
            values.push_back(differenceOf(row, column));
        }
        styles_[static_cast<std::size_t>(column)] = widgets::NumberStyle(std::move(values));
    }
    endResetModel();
}

int ArrayDifferenceModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int ArrayDifferenceModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant ArrayDifferenceModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) {
        return {};
    }
    const checkpoint::TensorDifference& row = rows_[static_cast<std::size_t>(index.row())];
    const int column = index.column();
    switch (role) {
    case Qt::DisplayRole:
        if (column == Name) {
            return toQString(row.name);
        }
        if (!row.problem.empty()) {
            return column == NormA ? toQString(row.problem) : QString();
        }
        return styles_[static_cast<std::size_t>(column)].text(differenceOf(row, column));
    case kSortRole:
        return column == Name ? QVariant(toQString(row.name)) : differenceOf(row, column);
    case Qt::ToolTipRole: return toQString(row.problem.empty() ? row.name : row.problem);
    case Qt::TextAlignmentRole: return alignmentOfColumn(column);
    case Qt::FontRole: return widgets::Theme::current().font(widgets::TextStyle::Mono);
    case Qt::ForegroundRole:
        return widgets::Theme::current().color(row.problem.empty() ? widgets::Role::Text
                                                                   : widgets::Role::Warning);
    default: return {};
    }
}

QVariant ArrayDifferenceModel::headerData(int section, Qt::Orientation orientation,
                                          int role) const {
    if (orientation != Qt::Horizontal) {
        return {};
    }
    if (role == Qt::TextAlignmentRole) {
        return alignmentOfColumn(section);
    }
    const QString titles[] = {tr("array"),         tr("norm A"),  tr("norm B"),
                              tr("norm of A − B"), tr("largest"), tr("relative")};
    return role == Qt::DisplayRole ? QVariant(titles[section]) : QVariant();
}

} // namespace weft::ui
