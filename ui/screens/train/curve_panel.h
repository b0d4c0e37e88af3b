// SPDX-License-Identifier: GPL-3.0-or-later
// The charts of the Train page and what holds for all of them: which there are, smoothing, the x
// axis, whether they zoom together.
#pragma once

#include "ui/bridge/curve_runs.h"

#include <QWidget>

class QAction;
class QComboBox;
class QPushButton;
class QSlider;

namespace weft::widgets {
class LineChart;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class ChartCell;
class ChartGrid;

class CurvePanel : public QWidget {
    Q_OBJECT
public:
    explicit CurvePanel(CurveRuns& runs, QWidget* parent = nullptr);

    /// The newest smoothed training loss, as the chart draws it.
    double smoothedLoss() const { return smoothed_loss_; }
    ChartGrid* grid() const { return grid_; }
    /// Which charts, smoothing and axis, for the window's settings; and back.
    QString layoutText() const;
    void setLayoutText(const QString& text);

signals:
    void checkpointRequested(std::int64_t step);
    /// An export could not be written.
    void failed(const QString& problem);
    void layoutChanged();

private:
    QWidget* createHeader();
    QWidget* createViewButton();
    QPushButton* addTool(const QString& name, const QString& icon, const QString& tip);
    void takeCell(ChartCell* cell);
    void showPreset();
    void restartSmoothedLoss();
    void updateSmoothedLoss();

    CurveRuns& runs_;
    QComboBox* preset_;
    QSlider* smoothing_;
    widgets::TextLabel* smoothing_text_;
    QComboBox* axis_;
    QPushButton* add_;
    QPushButton* linked_;
    QAction* taken_back_;
    ChartGrid* grid_;
    std::size_t smoothed_points_ = 0;
    double smoothing_state_ = 0;
    double smoothing_weight_sum_ = 0;
    double smoothed_loss_ = 0;
};

} // namespace weft::ui
