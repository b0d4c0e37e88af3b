// SPDX-License-Identifier: GPL-3.0-or-later
// The chosen runs beside each other: curves over one another, the settings in which they differ,
// and parallel coordinates of the settings that vary.
#pragma once

#include "ui/bridge/run/run_curves.h"

#include <QStringList>
#include <QTimer>
#include <QWidget>

class QComboBox;
class QPushButton;
class QStackedWidget;
class QTableView;

namespace weft::widgets {
class EmptyState;
class LineChart;
class ParallelView;
class SectionHeader;
class SegmentedControl;
} // namespace weft::widgets

namespace weft::ui {

class ChartControls;

class RunCompareModel;

class ComparePanel : public QWidget {
    Q_OBJECT
public:
    /// More are not drawn over one another: colours and dashes would repeat.
    static constexpr std::size_t kMostRuns = 12;

    explicit ComparePanel(RunCurves& curves, QWidget* parent = nullptr);

    /// `selected` by the user; `listed` is everything that the filter lets through. Parallel
    /// coordinates show what is selected when that is more than one run, else all that is listed.
    void setRuns(std::vector<train::RunSummary> selected, std::vector<train::RunSummary> listed);

signals:
    void exported(bool well, const QString& text);

private:
    struct Drawn {
        int series = -1;
        Curve curve; // null until it is read
        std::size_t points = 0;
        bool stale = false; // the run has written more since
    };

    void fillMetrics();
    void refresh();
    void showCurves();
    void feed();
    void showCompare();
    void showParallel();
    void say(const QString& title, const QString& text);
    void chooseAxes();
    void exportView();
    std::string metric() const;

    RunCurves& curves_;
    std::vector<train::RunSummary> selected_;
    std::vector<train::RunSummary> listed_;
    std::vector<Drawn> drawn_;
    QStringList hidden_axes_; // settings that the user switched off
    QTimer feeding_;
    widgets::SectionHeader* header_;
    widgets::SegmentedControl* tab_;
    QComboBox* metric_;
    QString chosen_metric_; // by hand
    ChartControls* controls_;
    QPushButton* axes_;
    QPushButton* export_;
    QStackedWidget* stack_;
    widgets::EmptyState* empty_;
    widgets::LineChart* chart_;
    QTableView* table_;
    RunCompareModel* differences_;
    widgets::ParallelView* parallel_;
};

} // namespace weft::ui
