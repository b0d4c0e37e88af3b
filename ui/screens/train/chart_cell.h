// SPDX-License-Identifier: GPL-3.0-or-later
// One chart of the Train page: a metric of every run in the charts, and what can be done with it.
#pragma once

#include "ui/bridge/curve_metric.h"
#include "ui/bridge/curve_runs.h"
#include "ui/bridge/slice_feed.h"

#include <QWidget>

#include <map>
#include <memory>

class QMenu;
class QPushButton;

namespace weft::widgets {
class LineChart;
} // namespace weft::widgets

namespace weft::ui {

class ChartCell : public QWidget {
    Q_OBJECT
public:
    ChartCell(CurveRuns& runs, const QString& metric, QWidget* parent = nullptr);

    const CurveMetric& metric() const { return metric_; }
    void setMetric(const QString& id);
    void setXAxis(XAxis axis);
    void setSmoothing(double weight);
    /// Steps that a resume took back; hidden by default.
    void setTakenBackShown(bool shown);
    bool hasTakenBack() const;
    /// What the buttons of the strip may do now.
    void setAlone(bool alone);
    void setFullScreen(bool full);
    widgets::LineChart* chart() const { return chart_; }

signals:
    void metricChanged();
    void removeRequested();
    void fullScreenRequested();
    void takenBackChanged();
    /// A flag was clicked.
    void checkpointRequested(std::int64_t step);
    void failed(const QString& problem);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    struct Drawn { // of one run
        std::unique_ptr<SliceFeed> feed;
        int steps = -1;
        int evaluations = -1;
        std::vector<int> taken_back;
    };

    QWidget* createStrip();
    QPushButton* addTool(QWidget* strip, const QString& name, const QString& icon,
                         const QString& tip);
    void fillMetricMenu();
    bool isShownOnAxis(const CurveRun& run) const;
    void rebuild();
    void fill();
    void addRun(int id);
    void removeRun(int id);
    void readRun(int id);
    void extendRun(int id);
    void appendSlice(int id, std::size_t first, std::size_t count);
    void updateLooks(int id);
    void updateEvaluations(const CurveRun& run);
    void updateMarks();
    void updateTicks();
    void addTakenBack(const CurveRun& run, Drawn& drawn);
    void exportChart();
    void fillChartMenu(QMenu* menu);

    CurveRuns& runs_;
    CurveMetric metric_;
    XAxis axis_ = XAxis::Step;
    bool taken_back_shown_ = false;
    std::map<int, Drawn> drawn_;
    widgets::LineChart* chart_;
    QPushButton* title_;
    QPushButton* log_;
    QPushButton* expand_;
    QPushButton* close_;
    QMenu* metric_menu_;
    std::vector<double> x_, y_; // room for slices
};

} // namespace weft::ui
