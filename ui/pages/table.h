// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of the pages: rows of one height, no grid, columns as wide as their longest text may
// be.
#pragma once

#include <QTableView>

#include <utility>
#include <vector>

namespace weft::ui {

QTableView* createTable(QAbstractItemModel* model, const char* object_name,
                        const QString& accessible_name);
/// Rows of one height, so many pixels at text size 1.
void scaleRows(QTableView* table, int height);
/// Fixed widths that hold the sample text in the table's monospace font, or the header if it is
/// wider.
void setColumnWidths(QTableView* table, const std::vector<std::pair<int, QString>>& samples);
/// Those in which no row has a text.
enum class EmptyColumns { Keep, Hide };
/// Pixels at text size 1 of the column that takes what is left.
inline constexpr int kLeastRest = 96;
/// Every column as wide as its longest text, but for one that takes the room that is left; where
/// that is less than `least` the last columns go. Called again when the texts are others; the
/// table's width and text size are followed.
void fitColumns(QTableView* table, int rest, EmptyColumns empty = EmptyColumns::Keep,
                int least = kLeastRest);
/// The same where every column stays: those that need more than an even share of the width are cut
/// to what the others leave.
void shareColumns(QTableView* table, int rest);
/// The same where every column stays whole: what has no room is scrolled to.
void scrollColumns(QTableView* table, int rest, int least = kLeastRest);

} // namespace weft::ui
