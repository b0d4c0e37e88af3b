// SPDX-License-Identifier: GPL-3.0-or-later
// Boards one below the other: what they are, at which steps they were right, how it ended. One is
// chosen.
#pragma once

#include "widgets/views/painted_view.h"

#include <vector>

namespace weft::widgets {

struct PuzzleRow {
    QString name;            // "17"
    QString note;            // "25 givens"
    std::vector<bool> right; // at the end of each step
    QString outcome;         // "in 6 steps", "19 wrong"
    bool solved() const { return !right.empty() && right.back(); }
};

class PuzzleList : public PaintedView {
    Q_OBJECT
public:
    explicit PuzzleList(QWidget* parent = nullptr);

    void setRows(std::vector<PuzzleRow> rows);
    const std::vector<PuzzleRow>& rows() const { return rows_; }
    void setChosen(int row);
    int chosen() const { return chosen_; }

    int itemCount() const override { return static_cast<int>(rows_.size()); }
    ViewItem item(int index) const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {180, sizeHint().height()}; }

signals:
    void chosenChanged(int row);

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;

private:
    static double rowHeight();
    void choose(int row);
    void paintBars(QPainter& painter, const QRectF& rect, const PuzzleRow& row) const;

    std::vector<PuzzleRow> rows_;
    int chosen_ = -1;
};

} // namespace weft::widgets
