// SPDX-License-Identifier: GPL-3.0-or-later
// How often each class was said of each: a square of counts, rows what the sample is, columns what
// the model says. The diagonal is right; a cell is the darker the larger its share of its row.
#pragma once

#include "widgets/views/painted_view.h"

#include <QStringList>

#include <vector>

namespace weft::widgets {

class ConfusionView : public PaintedView {
    Q_OBJECT
public:
    explicit ConfusionView(QWidget* parent = nullptr);

    /// `counts` row-major [classes * classes]; names may be fewer, then numbers stand for them.
    void setCounts(int classes, std::vector<qint64> counts, const QStringList& names);
    /// Percent of the row instead of counts.
    void setPercent(bool percent);
    int classes() const { return classes_; }
    qint64 count(int actual, int said) const;
    QString className(int index) const;
    /// The cell whose samples are shown; -1 for none.
    void setSelected(int cell);

    int itemCount() const override { return classes_ * classes_; }
    ViewItem item(int index) const override;
    int hitTest(const QPointF& position) const override;
    QSize sizeHint() const override { return {300, 300}; }
    QSize minimumSizeHint() const override { return {160, 160}; }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;
    int neighbour(int index, int key) const override;

private:
    struct Layout {
        double side = 0;   // of a cell
        QPointF origin;    // of the first cell
        double names = 0;  // width of the names at the left
        double height = 0; // of the whole
    };
    Layout layoutFor(double width) const;
    double shareOfRow(int actual, int said) const;
    void paintNames(QPainter& painter, const Layout& layout) const;
    void paintCell(QPainter& painter, const Layout& layout, int actual, int said) const;

    int classes_ = 0;
    std::vector<qint64> counts_;
    std::vector<qint64> row_sums_;
    QStringList names_;
    bool percent_ = false;
    int selected_ = -1;
};

} // namespace weft::widgets
