// SPDX-License-Identifier: GPL-3.0-or-later
// The curves of one run: loss with validation, learning rate and gradient norm under it, all on one
// x axis.
#pragma once

#include "ui/bridge/run_model.h"
#include "ui/bridge/slice_feed.h"

#include <QWidget>

class QAction;
class QSlider;

namespace weft::widgets {
class ChartLink;
class LineChart;
class SectionHeader;
class SegmentedControl;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class CurvePanel : public QWidget {
    Q_OBJECT
public:
    explicit CurvePanel(RunModel& run, QWidget* parent = nullptr);

    /// The newest smoothed training loss, as the chart draws it.
    double smoothedLoss() const { return smoothed_loss_; }
    widgets::LineChart* lossChart() const { return loss_; }

signals:
    /// An export could not be written.
    void failed(const QString& problem);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    enum class XAxis { Step, Epoch, Seconds };

    QWidget* createHeader();
    QWidget* createViewButton();
    void createCharts();
    const std::vector<double>& xColumn(const StepSeries& steps) const;
    double xOf(const EvaluationPoint& point) const;
    std::optional<double> xOfStep(double step) const;
    void rebuild();
    void appendSteps(std::size_t first, std::size_t count);
    void updateSmoothedLoss();
    void rebuildMarks();
    void setXAxis(int index);
    void addAbandoned();
    void exportChart();

    RunModel& run_;
    SliceFeed feed_;
    XAxis x_axis_ = XAxis::Step;
    widgets::SectionHeader* header_;
    QSlider* smoothing_;
    widgets::TextLabel* smoothing_text_;
    widgets::SegmentedControl* scale_;
    QAction* clip_;
    QAction* show_abandoned_;
    widgets::LineChart* loss_;
    widgets::LineChart* rate_;
    widgets::LineChart* norm_;
    widgets::ChartLink* link_;
    int train_series_ = -1;
    int validation_series_ = -1;
    int rate_series_ = -1;
    int norm_series_ = -1;
    std::vector<int> abandoned_series_;
    std::size_t smoothed_points_ = 0;
    double smoothing_state_ = 0;
    double smoothing_weight_sum_ = 0;
    double smoothed_loss_ = 0;
};

} // namespace weft::ui
