// SPDX-License-Identifier: GPL-3.0-or-later
// Things that exist for a while, as bars over an axis: each from where it comes to where it goes;
// those that stay in accent. A line at one moment says what exists there; it follows the mouse, or
// the bar that arrow keys choose.
#pragma once

#include "widgets/views/painted_view.h"

#include <utility>
#include <vector>

namespace weft::widgets {

struct Lifeline {
    double from = 0;
    double to = 0; // the axis's end where it stays
    bool stays = false;
    bool starred = false;
    QString label;  // "2,750"
    QString detail; // "step 2,750: kept as newest, best"
};

class LifelineChart : public PaintedView {
    Q_OBJECT
public:
    explicit LifelineChart(QWidget* parent = nullptr);

    /// In order of `from`; the axis goes from 0 to `high`.
    void setLifelines(std::vector<Lifeline> lifelines, double high);
    double moment() const { return moment_; }
    void setMoment(double moment);
    /// What a box says of the moment: the first line strong, the second in monospace. It stands
    /// where no bar is, or above them all; its size is that of the longest it said of these bars.
    void setSummary(const QStringList& lines);
    QRectF summaryRect() const { return summaryRect(size()); }
    /// Pixels left of the axis, so that it lines up with a chart above.
    void setLeftMargin(int left);

    int itemCount() const override { return static_cast<int>(lifelines_.size()); }
    ViewItem item(int index) const override;
    QSize sizeHint() const override { return {480, 260}; }
    QSize minimumSizeHint() const override;

signals:
    void momentChanged(double moment);

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void arrange();
    QRectF plot(const QSizeF& view_size) const;
    QRectF bar(std::size_t index, const QSizeF& view_size) const;
    double xOf(double value, const QSizeF& view_size) const;
    void choose(double x);
    void assignRows();
    void paintAxis(QPainter& painter, const QSizeF& view_size) const;
    void paintBars(QPainter& painter, const QSizeF& view_size) const;
    void paintMoment(QPainter& painter, const QSizeF& view_size) const;
    QSizeF summarySize(const QSizeF& view_size) const;
    QRectF summaryRect(const QSizeF& view_size) const;
    /// Where a box covers least of the bars, and how much.
    std::pair<QRectF, double> freest(const QSizeF& box, const QSizeF& view_size) const;

    std::vector<Lifeline> lifelines_;
    std::vector<int> rows_; // of each lifeline
    int row_count_ = 0;
    double high_ = 1.0;
    double moment_ = 0.0;
    QStringList summary_;
    QStringList longest_; // of each of its lines
    double strip_ = 0.0;  // above the bars, for the summary; 0: it has room among them
    int left_ = 48;
};

} // namespace weft::widgets
