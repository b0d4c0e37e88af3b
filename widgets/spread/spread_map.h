// SPDX-License-Identifier: GPL-3.0-or-later
// How numbers were spread step by step: a column for each step, upwards the numbers, the stronger
// the colour the more of them. The cell under the cursor says what is there.
#pragma once

#include "widgets/views/painted_view.h"

#include <QImage>

#include <vector>

namespace weft::widgets {

/// Steps and, of each, the shares of its numbers that lie between two edges that follow each other.
/// A step of which nothing is known has no shares.
struct SpreadHistory {
    std::vector<qint64> steps;
    std::vector<double> edges;              // ascending
    std::vector<std::vector<float>> shares; // [step][between edges]
};

class SpreadMap : public PaintedView {
    Q_OBJECT
public:
    explicit SpreadMap(QWidget* parent = nullptr);

    void setHistory(SpreadHistory history);
    const SpreadHistory& history() const { return history_; }
    /// The step whose column is marked; -1: none.
    void setChosen(int step);
    int chosen() const { return chosen_; }

    /// Items are columns.
    int itemCount() const override { return static_cast<int>(history_.steps.size()); }
    ViewItem item(int index) const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;
    /// "step 200: 3.1 % from 0.010 to 0.012"; empty outside.
    QString wordsAt(const QPointF& position) const;

signals:
    /// The cell under the cursor in words; empty: it left.
    void pointed(const QString& words);

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QRectF plot(const QSizeF& view_size) const;
    void paintAxis(QPainter& painter, const QRectF& plot) const;
    bool isLinear() const;
    const QImage& picture() const;
    QString medianWords(int step) const;

    SpreadHistory history_;
    int chosen_ = -1;
    mutable QImage picture_; // a pixel for each share; null: to be made
};

} // namespace weft::widgets
