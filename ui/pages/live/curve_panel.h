// SPDX-License-Identifier: GPL-3.0-or-later
// The charts of the Train page and what holds for all of them: which there are, smoothing, the x
// axis, whether they zoom together.
#pragma once

#include "ui/bridge/run/curve_runs.h"
#include "ui/pages/live/chart_marks.h"
#include "widgets/curves/series_store.h"

#include <QWidget>

class QAction;
class QComboBox;
class QPushButton;

namespace weft::widgets {
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class ChartCell;
class ChartControls;
class ChartGrid;

class CurvePanel : public QWidget {
    Q_OBJECT
public:
    explicit CurvePanel(CurveRuns& runs, QWidget* parent = nullptr);

    /// The newest smoothed training loss, as the chart draws it.
    double smoothedLoss() const { return smoothed_loss_; }
    ChartGrid* grid() const { return grid_; }
    /// Sets the crosshair of all charts there.
    void showStep(std::int64_t step);
    /// Which charts and how each is drawn, smoothing and axis, for the window's settings; and back.
    QString layoutText() const;
    void setLayoutText(const QString& text);

signals:
    void checkpointRequested(std::int64_t step);
    void exported(bool well, const QString& text);
    void layoutChanged();

private:
    QWidget* createHeader();
    void updateMissing();
    QWidget* createViewButton();
    ChartSpan span() const;
    void takeCell(ChartCell* cell);
    void showPreset();
    void restartSmoothedLoss();
    void updateSmoothedLoss();

    CurveRuns& runs_;
    QComboBox* preset_;
    ChartControls* controls_;
    QPushButton* add_;
    QAction* whole_run_;
    QAction* taken_back_;
    widgets::TextLabel* missing_; // sensors
    ChartGrid* grid_;
    std::size_t smoothed_points_ = 0;
    widgets::Smoother smoother_;
    double smoothed_loss_ = 0;
};

} // namespace weft::ui
