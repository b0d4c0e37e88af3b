// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/array_compare_model.h"

#include "ui/bridge/convert.h"
#include "widgets/look/theme.h"

namespace weft::ui {
namespace {

double differenceOf(const checkpoint::TensorDifference& row, int column) {
    switch (column) {
    case ArrayCompareModel::NormA: return row.norm_a;
    case ArrayCompareModel::NormB: return row.norm_b;
    case ArrayCompareModel::NormDifference: return row.norm_difference;
    case ArrayCompareModel::Largest: return row.max_absolute;
    default: return row.max_relative;
    }
}

} // namespace

ArrayCompareModel::ArrayCompareModel(QObject* parent) : TableModel(parent) {
    using Row = checkpoint::TensorDifference;
    std::vector<TableColumn<Row>> columns{
        {.title = tr("array"),
         .text = [](const Row& row) { return toQString(row.name); },
         .font = widgets::TextStyle::Mono}};
    const QString titles[] = {tr("norm A"), tr("norm B"), tr("norm of A − B"), tr("largest"),
                              tr("relative")};
    for (int column = NormA; column < ColumnCount; ++column) {
        const auto text = [this, column](const Row& row) {
            return row.problem.empty()
                       ? styles_[static_cast<std::size_t>(column)].text(differenceOf(row, column))
                   : column == NormA ? toQString(row.problem)
                                     : QString();
        };
        columns.push_back({.title = titles[column - NormA],
                           .text = text,
                           .number = true,
                           .key = [column](const Row& row) { return differenceOf(row, column); }});
    }
    describe(std::move(columns), [](const Row& row) {
        return toQString(row.problem.empty() ? row.name : row.problem);
    });
}

void ArrayCompareModel::setDifferences(std::vector<checkpoint::TensorDifference> differences) {
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

QVariant ArrayCompareModel::data(const QModelIndex& index, int role) const {
    if (role == Qt::ForegroundRole) {
        return widgets::Theme::current().color(
            row(index.row()).problem.empty() ? widgets::Role::Text : widgets::Role::Warning);
    }
    return TableModel::data(index, role);
}

} // namespace weft::ui
