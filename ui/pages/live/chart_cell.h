// SPDX-License-Identifier: GPL-3.0-or-later
// One chart of the Train page: a metric of every run in the charts, and what can be done with it.
#pragma once

#include "ui/bridge/run/curve_metric.h"
#include "ui/bridge/run/curve_runs.h"
#include "ui/bridge/run/slice_feed.h"
#include "ui/pages/chart_frame.h"
#include "ui/pages/live/chart_marks.h"

#include <map>
#include <memory>

namespace weft::ui {

class ChartCell : public ChartFrame {
    Q_OBJECT
public:
    ChartCell(CurveRuns& runs, const QString& metric, QWidget* parent = nullptr);

    const CurveMetric& metric() const { return metric_; }
    void setMetric(const QString& id);
    void setXAxis(XAxis axis);
    void setSpan(ChartSpan span);
    /// Steps that a resume took back; hidden by default.
    void setTakenBackShown(bool shown);
    bool hasTakenBack() const;
    /// The last one cannot be removed.
    void setAlone(bool alone);
    /// In the first row of several: there the epochs are named.
    void setOnTop(bool on_top);

signals:
    void metricChanged();
    void removeRequested();
    void takenBackChanged();
    /// A flag was clicked.
    void checkpointRequested(std::int64_t step);

protected:
    void fillMenu(QMenu* menu) override;
    void roomChanged() override;

private:
    struct Drawn { // of one run
        std::unique_ptr<SliceFeed> feed;
        int steps = -1;
        int evaluations = -1;
        std::vector<int> taken_back;
    };

    QWidget* createTitle();
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
    void updateOverlay();
    bool isRunHidden() const; // the one on screen, by its eye
    void addDivergence(const RunModel& run);
    void addTakenBack(const CurveRun& run, Drawn& drawn);

    CurveRuns& runs_;
    CurveMetric metric_;
    XAxis axis_ = XAxis::Step;
    ChartSpan span_ = ChartSpan::Trained;
    bool taken_back_shown_ = false;
    bool on_top_ = true;
    std::map<int, Drawn> drawn_;
    QPushButton* title_;
    QPushButton* close_;
    QMenu* metric_menu_;
    std::vector<double> x_, y_; // room for slices
};

} // namespace weft::ui
