// SPDX-License-Identifier: GPL-3.0-or-later
// One to six charts in rows that can be dragged larger and smaller: up to three below each other,
// the first one the highest, which in a low window has a row of its own above the others; more in
// two columns. One can fill the screen.
#pragma once

#include "ui/pages/live/chart_cell.h"

#include <QStringList>
#include <QWidget>

#include <functional>
#include <vector>

class QSplitter;

namespace weft::widgets {
class ChartLink;
}

namespace weft::ui {

class ChartGrid : public QWidget {
    Q_OBJECT
public:
    static constexpr int kMostCharts = 6;

    explicit ChartGrid(CurveRuns& runs, QWidget* parent = nullptr);

    QStringList metrics() const;
    /// Keeps the charts that go on showing what they show. One that the run has no numbers for is
    /// not seen until another run has some.
    void setMetrics(const QStringList& metrics);
    /// Shows what no other chart shows yet; nothing when there are six.
    void addChart();
    const std::vector<ChartCell*>& cells() const { return cells_; }
    widgets::ChartLink* link() const { return link_; }
    /// The chart that has the focus, or the first, alone on the screen, or back in its place.
    void toggleFullScreen();
    /// Takes what room there is and asks for no more than it needs.
    QSize sizeHint() const override { return minimumSizeHint(); }

protected:
    void resizeEvent(QResizeEvent* event) override;

signals:
    void cellAdded(ChartCell* cell);
    void metricsChanged();

private:
    ChartCell* createCell(const QString& metric);
    void removeCell(ChartCell* cell);
    std::vector<int> rowLengths() const;
    void arrange();
    void hideUnsaid();

    CurveRuns& runs_;
    widgets::ChartLink* link_;
    QSplitter* rows_;
    std::vector<ChartCell*> cells_;
    bool beside_ = false; // those below the first one share a row
};

} // namespace weft::ui
