// SPDX-License-Identifier: GPL-3.0-or-later
// A matrix as colours, the stronger the larger; rows and columns have names. One row may be chosen.
#pragma once

#include "widgets/views/painted_view.h"

#include <QImage>

#include <functional>
#include <vector>

namespace weft::widgets {

struct NamedMatrix {
    int rows = 0, columns = 0;
    std::vector<float> values;   // [rows, columns]
    std::vector<int> first, end; // the columns that each row has; empty: all
    QStringList row_names;       // empty: their numbers
    QStringList column_names;    // likewise
    float most = 0;              // its size has the full colour
    bool rooted = false;         // colours grow as roots: what is small shows beside what is large
    bool square = false;         // cells are as wide as high

    bool has(int row, int column) const {
        const auto at = static_cast<std::size_t>(row);
        return first.empty() || (column >= first[at] && column < end[at]);
    }
};

class MatrixView : public PaintedView {
    Q_OBJECT
public:
    explicit MatrixView(QWidget* parent = nullptr);

    /// `words`: of a cell, for the mouse and a screen reader.
    void setMatrix(NamedMatrix matrix, std::function<QString(int row, int column)> words);
    const NamedMatrix& matrix() const { return matrix_; }
    void setChosenRow(int row);
    int chosenRow() const { return chosen_row_; }

    /// Items are cells, row by row.
    int itemCount() const override { return matrix_.rows * matrix_.columns; }
    ViewItem item(int index) const override;
    int hitTest(const QPointF& position) const override;
    QSize sizeHint() const override { return {420, 360}; }
    QSize minimumSizeHint() const override { return {180, 160}; }

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;
    int neighbour(int index, int key) const override;
    void changeEvent(QEvent* event) override;

private:
    QRectF plot(const QSizeF& view_size) const;
    QString rowName(int row) const;
    QString columnName(int column) const;
    const QImage& picture() const;
    void paintMissing(QPainter& painter, const QRectF& room) const;
    void paintNames(QPainter& painter, const QRectF& room) const;

    NamedMatrix matrix_;
    std::function<QString(int, int)> words_;
    int chosen_row_ = -1;
    double row_names_ = 0, column_names_ = 0; // widths
    mutable QImage picture_;                  // a pixel for each cell; null: to be made
};

} // namespace weft::widgets
