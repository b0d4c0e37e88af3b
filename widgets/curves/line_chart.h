// SPDX-License-Identifier: GPL-3.0-or-later
// A line chart for training curves: keeps every point, draws what the pixels can show, says what it
// cannot (non-finite points, non-positive values on a log axis). GUI thread only; feed it in
// batches, it repaints at most once per event-loop turn, and only while it can be seen.
//
// Mouse: wheel zoom (Shift: x only, Ctrl: y only), drag pan, right drag box zoom, double click
// reset, click locks the crosshair. Keys: R reset, L log/linear, O clip outliers, F follow,
// S smoothing (signal), E export (signal), arrows move the crosshair, + and - zoom, Menu key opens
// the menu.
#pragma once

#include "widgets/look/theme.h"

#include <QWidget>

#include <memory>
#include <optional>
#include <span>
#include <vector>

class QCustomPlot;
class QMenu;

namespace weft::widgets {

class ChartLink;

enum class SeriesForm {
    Smoothed,  // faint raw line with the smoothed line over it
    Plain,     // one 2-px line, never smoothed (learning rate)
    Thin,      // one 1-px line, smoothed; for other runs, with a dash
    Bold,      // one 2-px line, smoothed (the mean of several runs)
    Markers,   // rings on a thin dashed line (validation)
    Planned,   // dashed thin line, never smoothed (what is still to come)
    Abandoned, // dashed thin muted line, smoothed (steps that a rollback took back)
    Inherited, // faint thin line, smoothed (what a fork shares with the run it came from)
    Noted,     // not drawn; its values stand in the crosshair's table beside the group's line
};

struct SeriesSpec {
    QString name;  // "train/loss", for export and screen readers
    QString group; // the run; one row in the crosshair's table. Empty: the name
    int slot = 0;  // colour
    SeriesForm form = SeriesForm::Smoothed;
    Qt::PenStyle dash = Qt::SolidLine; // Thin only
    bool visible = true;
    bool smoothed = true; // false: never, whatever the form
};

struct ChartFlag {
    double x = 0.0;
    bool present = true; // false: pruned, drawn dashed
    bool best = false;   // accent colour
    QString label;       // tooltip: "step 1,200"
};

struct ChartEvent {
    double x = 0.0;
    QString label; // "resumed"
    Role role = Role::Muted;
};

struct ChartTick {
    double x = 0.0;
    QString label; // "epoch 2", at the top of the plot
};

struct ChartRange {
    double low = 0.0;
    double high = 1.0;
};

class LineChart : public QWidget {
    Q_OBJECT
public:
    explicit LineChart(QWidget* parent = nullptr);
    ~LineChart() override;

    // Series ---------------------------------------------------------------------------------
    int addSeries(const SeriesSpec& spec);
    void removeSeries(int id);
    void clearSeries(int id);
    /// Takes every series and mark away, for others over the same x: its view stays.
    void clearContent();
    /// That, the crosshair and the view.
    void clearAll();
    /// Appends a batch; see SeriesStore::append for order, rewinding and non-finite values.
    void append(int id, std::span<const double> x, std::span<const double> y);
    void append(int id, double x, double y);
    void setSeriesVisible(int id, bool visible);
    bool isSeriesVisible(int id) const;
    void setSeriesLook(int id, int slot, Qt::PenStyle dash);
    /// Draws what is there in another form (not to or from Smoothed, which has a second line).
    void setSeriesForm(int id, SeriesForm form);
    /// Drawn emphasised (2 px) while its row is hovered elsewhere; -1 for none.
    void setHighlightedSeries(int id);
    /// A band around the line of a series, from `low` to `high` at each x, smoothed as the line is;
    /// takes the place of the one before. Spans of unequal length use the shortest.
    void setBand(int id, std::span<const double> x, std::span<const double> low,
                 std::span<const double> high);
    /// What the line of a series shows at the point nearest to `x`; none beside its ends.
    std::optional<double> valueAt(int id, double x) const;
    std::size_t pointCount(int id) const;
    std::size_t nonFiniteCount(int id) const;
    /// Points not drawn on the log axis, over all visible series; 0 on a linear one.
    std::size_t hiddenByLogCount() const;

    // Look -----------------------------------------------------------------------------------
    /// Short title above the plot ("Learning rate").
    void setTitle(const QString& title);
    /// Names for read-outs: x "step", y "loss".
    void setAxisNames(const QString& x_name, const QString& y_name);
    void setLogScale(bool log);
    bool isLogScale() const;
    /// The automatic y range covers the middle 98 % of the points in view; the others become
    /// triangles at the edge, with their count. Without effect where there are no outliers.
    void setOutliersClipped(bool clipped);
    bool areOutliersClipped() const;
    /// Outliers stretch the automatic y range so much that clipping them would help.
    bool hasOutliers() const;
    /// Points that the clipped range leaves out now; 0 when nothing is clipped.
    std::size_t clippedCount() const;
    /// 0 to 0.999; 0 draws raw only.
    void setSmoothing(double weight);
    double smoothing() const;
    /// What x is: a number, seconds ("30 s", "2 m"), or seconds of the UTC epoch, shown as local
    /// time ("14:05").
    enum class XKind { Number, Count, Seconds, Clock }; // Count: whole numbers
    void setXKind(XKind kind);
    void setXAxisVisible(bool visible);
    /// Left margin in pixels, the same for charts that stand above each other (default 48).
    void setLeftMargin(int pixels);
    /// One box with the value instead of the table, for small charts.
    void setCompactCrosshair(bool compact);
    /// False: the crosshair is a line and dots alone; its values stand elsewhere.
    void setReadoutShown(bool shown);
    /// For hundreds of lines: while the view is moved, the last picture of them is moved and
    /// stretched, and they are drawn exactly once it has rested for a moment.
    void setSwift(bool swift);
    /// Whether the lines are drawn for this very view.
    bool isExact() const;
    /// The groups stand at the right ends of their lines. Without the table nothing else names
    /// them.
    void setNamesShown(bool shown);
    /// What stands there, from the top.
    QStringList nameLabels() const;

    // Marks ----------------------------------------------------------------------------------
    void setFlags(std::vector<ChartFlag> flags);
    const std::vector<ChartFlag>& flags() const;
    void setEvents(std::vector<ChartEvent> events);
    void setTopTicks(std::vector<ChartTick> ticks);
    /// The star; with a label such as "best 0.256".
    void setBest(std::optional<double> x, double y = 0.0, const QString& label = {});
    /// Horizontal dashed line with text ("clipped above 1.0").
    void setThreshold(std::optional<double> y, const QString& label = {},
                      Role role = Role::Warning);
    /// Solid vertical accent line with text ("selected 3,000").
    void setSelection(std::optional<double> x, const QString& label = {});
    /// The plan's x range; the axis covers it and what lies past `trained_to` is shaded.
    void setPlannedRange(std::optional<ChartRange> range,
                         std::optional<double> trained_to = std::nullopt,
                         const QString& label = {});
    /// Text over an empty plot: a phase ("Compiling, 1.2 s") or why there is nothing.
    void setOverlayText(const QString& title, const QString& detail = {});

    // View -----------------------------------------------------------------------------------
    ChartRange xRange() const;
    ChartRange yRange() const;
    void setXRange(const ChartRange& range);
    void setYRange(const ChartRange& range);
    bool isFollowing() const;
    /// Keeps the newest point in view; a zoomed view keeps its width and moves along.
    void setFollowing(bool follow);
    void resetView();
    bool isZoomed() const;
    void zoom(double factor);
    std::optional<double> crosshair() const;
    void setCrosshair(std::optional<double> x);
    bool isCrosshairLocked() const;

    // Out ------------------------------------------------------------------------------------
    /// False when the file cannot be written. Over a picture stands what it shows: the names of the
    /// axes, and the groups of the visible series.
    bool exportPng(const QString& path, double scale = 2.0);
    bool exportSvg(const QString& path);
    /// Vector drawing on one page.
    bool exportPdf(const QString& path);
    /// Every point (or those in view) of the visible series; C locale. Columns: series, the axes by
    /// their names ("step", "loss"), smoothed.
    bool exportCsv(const QString& path, bool visible_range_only = false) const;
    /// What a screen reader says: "loss 0.412 at step 1,200, falling".
    QString describe() const;
    /// What the crosshair's table says, one row a line, in its order: name, values.
    QStringList crosshairTable() const;
    /// Puts the points in view on the clipboard as tab-separated text.
    void copyData() const;
    /// The menu of the right mouse button at this global position.
    void openMenu(const QPoint& global);
    /// Rebuilds and paints now; for screenshots and tests.
    void replotNow();
    QCustomPlot* plot() const;

    QSize sizeHint() const override { return {480, 240}; }
    QSize minimumSizeHint() const override { return {160, 72}; }

signals:
    void xRangeChanged(double low, double high);
    void crosshairMoved(std::optional<double> x);
    void followingChanged(bool following);
    void logScaleChanged(bool log);
    void outliersClippedChanged(bool clipped);
    void hasOutliersChanged(bool any);
    void exportRequested();
    /// The menu is about to open: the owner may add to it.
    void menuOpening(QMenu* menu);
    void smoothingFocusRequested();
    void flagClicked(int index);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    friend class ChartLink;
    struct Private;
    std::unique_ptr<Private> d_;
};

/// Keeps the x range and the crosshair of several charts the same.
class ChartLink : public QObject {
    Q_OBJECT
public:
    explicit ChartLink(QObject* parent = nullptr);
    ~ChartLink() override;
    void add(LineChart* chart);
    /// Off: each chart zooms for itself; the crosshair stays linked.
    void setRangeLinked(bool linked);
    bool isRangeLinked() const { return linked_; }

signals:
    /// Any chart's crosshair moved.
    void crosshairMoved(std::optional<double> x);

private:
    std::vector<LineChart*> charts_;
    bool linked_ = true;
    bool busy_ = false;
};

} // namespace weft::widgets
