// SPDX-License-Identifier: GPL-3.0-or-later
// A chart of curves as pages show it: over it a strip with what it shows, its scale, its menu and
// full screen. It can be exported, and it says its values in a table where there is room for one.
#pragma once

#include "ui/bridge/run/curve_metric.h"

#include <QWidget>

class QBoxLayout;
class QMenu;
class QPushButton;

namespace weft::widgets {
class LineChart;
} // namespace weft::widgets

namespace weft::ui {

class ChartFrame : public QWidget {
    Q_OBJECT
public:
    explicit ChartFrame(QWidget* parent = nullptr);
    ~ChartFrame() override;

    widgets::LineChart* chart() const { return chart_; }
    /// What stands first in the strip.
    void setHead(QWidget* head);
    /// For the names of files that it is exported to: "run-loss".
    void setExportName(const QString& name) { export_name_ = name; }
    /// What x counts, in words and units.
    void showAxis(XAxis axis, const QString& y_name);
    /// Sets the crosshair, and moves there what is in view.
    void showPlace(double x);
    bool isFullScreen() const { return full_ != nullptr; }
    /// Alone on the screen, or back in its place.
    void toggleFullScreen();
    /// The frame that has the focus, or the first.
    template <typename Frames>
    static ChartFrame* chosen(const Frames& frames) {
        for (ChartFrame* frame : frames) {
            if (frame->hasFocusInside()) {
                return frame;
            }
        }
        return frames.empty() ? nullptr : frames.front();
    }

signals:
    /// A file was written, or could not be.
    void exported(bool well, const QString& text);

protected:
    bool hasRoomForTable() const;
    QPushButton* addTool(const QString& name, const QString& icon, const QString& tip);
    /// Adds to the menu of the chart.
    virtual void fillMenu(QMenu* menu);
    /// The height or the place of the chart is another.
    virtual void roomChanged() {}
    bool eventFilter(QObject* watched, QEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QWidget* createStrip();
    void fitText();
    bool hasFocusInside() const;
    void enterFullScreen();
    void leaveFullScreen();

    QWidget* body_; // strip and chart: what moves to the full screen and back
    QWidget* full_ = nullptr;
    QBoxLayout* strip_;
    widgets::LineChart* chart_;
    QPushButton* log_;
    QPushButton* expand_;
    QString export_name_;
};

} // namespace weft::ui
