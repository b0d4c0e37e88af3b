// SPDX-License-Identifier: GPL-3.0-or-later
// The scalars of a run that another program wrote as TensorBoard event files: a chart for each tag,
// grouped by what stands before the first slash, all points kept, live while the program writes.
#pragma once

#include "ui/bridge/run/run_model.h"

#include <QTimer>
#include <QWidget>

class QLineEdit;
class QPushButton;
class QStackedWidget;
class QVBoxLayout;

namespace weft::widgets {
class Banner;
class ChartLink;
class EmptyState;
class LineChart;
class SectionHeader;
class SegmentedControl;
} // namespace weft::widgets

namespace weft::ui {

class ChartControls;
class ChartFrame;

class ScalarGrid : public QWidget {
    Q_OBJECT
public:
    explicit ScalarGrid(RunModel& run, QWidget* parent = nullptr);

    /// Charts on screen, in their order.
    std::vector<widgets::LineChart*> charts() const;

signals:
    void exported(bool well, const QString& text);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    struct Shown {
        ChartFrame* frame = nullptr;
        std::size_t tag = 0;        // in RunModel::scalars()
        std::size_t points = 0;     // handed to the chart
        std::size_t taken_back = 0; // known to the chart
        int series = -1;
    };

    QWidget* createHeader();
    void update();
    std::vector<std::size_t> wantedTags() const;
    void clear();
    void rebuild();
    Shown createChart(std::size_t tag);
    void arrange();
    bool feed();
    bool feedOne(Shown& shown);
    double firstStep() const;
    void toggleFullScreen();
    void updateWords();

    RunModel& run_;
    QTimer feeding_; // a large run comes in over several turns of the event loop
    std::vector<std::size_t> tags_;
    std::vector<Shown> shown_;
    std::size_t most_;
    int columns_ = 0;
    widgets::SectionHeader* header_;
    ChartControls* controls_;
    widgets::SegmentedControl* scale_;
    QLineEdit* filter_;
    widgets::Banner* trouble_;
    QStackedWidget* stack_;
    widgets::EmptyState* empty_;
    QWidget* content_;
    QVBoxLayout* groups_;
    QPushButton* more_;
    widgets::ChartLink* link_;
};

} // namespace weft::ui
