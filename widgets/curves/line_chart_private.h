// SPDX-License-Identifier: GPL-3.0-or-later
// Inside of LineChart, shared by its sources: _series, _view (ranges, decimation), _lines (the
// curves), _rings (at their points), _marks (what is painted over the curves), _names (at their
// ends), _crosshair, _input (mouse and keys), _export.
#pragma once

#include "widgets/curves/chart_axis.h"
#include "widgets/curves/curve_raster.h"
#include "widgets/curves/line_chart.h"
#include "widgets/curves/series_store.h"

#include <QPointer>
#include <QTimer>

#include <functional>
#include <initializer_list>

namespace weft::widgets {

constexpr int kTitleHeight = 18; // above the plot, at text size 1

/// A layer element that paints through a function.
class ChartPainting : public QCPLayerable {
public:
    ChartPainting(QCustomPlot* plot, const QString& layer, std::function<void(QPainter&)> paint);

protected:
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override;
    void draw(QCPPainter* painter) override;
    QRect clipRect() const override;

private:
    std::function<void(QPainter&)> paint_;
};

/// A line drawn by the column (curve_raster.h). There may be hundreds of them.
struct DrawnLine {
    bool shown = false;
    SeriesStore::View seen_as;
    QColor color;
    double width = 1.0; // 1: of the device, else of the widget
    Qt::PenStyle dash = Qt::SolidLine;
    std::vector<SeriesPoint> points; // in view, decimated
};

/// Below and above a line.
struct SeriesBand {
    SeriesStore low;
    SeriesStore high;
    DrawnLine low_line;
    DrawnLine high_line;
};

struct ChartSeries {
    int id = 0;
    SeriesSpec spec;
    SeriesStore store;
    DrawnLine raw;           // Smoothed only: the faint line below
    DrawnLine main;          // what the eye follows
    QPointer<QCPGraph> line; // the same with rings or long dashes
    SeriesStore::View line_seen_as;
    std::unique_ptr<SeriesBand> band; // null: none
    SeriesExtent bulk;                // of the points in view
    SeriesStore::View bulk_seen_as;

    SeriesStore::Column column() const {
        const bool smooth = spec.form == SeriesForm::Smoothed || spec.form == SeriesForm::Thin ||
                            spec.form == SeriesForm::Bold || spec.form == SeriesForm::Abandoned ||
                            spec.form == SeriesForm::Inherited;
        return smooth && spec.smoothed ? SeriesStore::Column::Smoothed : SeriesStore::Column::Raw;
    }
    /// Of the run as it is: not what is to come, nor what was taken back.
    bool isActual() const {
        return spec.form != SeriesForm::Planned && spec.form != SeriesForm::Abandoned;
    }
    /// With rings or long dashes: its points are few.
    bool isGraph() const {
        return spec.form == SeriesForm::Markers || spec.form == SeriesForm::Planned ||
               spec.form == SeriesForm::Abandoned;
    }
    bool isDrawn() const { return spec.visible && spec.form != SeriesForm::Noted; }
    const QString& group() const { return spec.group.isEmpty() ? spec.name : spec.group; }
};

struct LineChart::Private {
    explicit Private(LineChart* chart);

    // line_chart.cpp
    ChartSeries* find(int id) const;
    void applyTheme();
    void applyPens(ChartSeries& series);
    void applyMargins();
    void scheduleReplot();
    void replot(QCustomPlot::RefreshPriority when);
    bool canBeSeen() const;
    void renewIfStale();
    SeriesStore::Domain domain() const;
    bool hasPoints() const;
    const ChartSeries* primary() const;

    // line_chart_view.cpp
    void updateRanges();
    ChartRange automaticX() const;
    ChartRange automaticY(const ChartRange& x);
    SeriesExtent extentInView(const ChartRange& x) const;
    SeriesExtent bulkInView(const ChartRange& x);
    bool helpsToClip(const SeriesExtent& all, const SeriesExtent& bulk) const;
    std::optional<double> newestX() const;
    ChartRange followedX(double newest);
    bool isNewestWithin(const ChartRange& x, const ChartRange& y, double newest) const;
    void refreshLines();
    void refreshGraph(ChartSeries& series);
    void refreshDrawn(DrawnLine& line, const SeriesStore& store, SeriesStore::Column column);
    SeriesStore::View seenAs(const SeriesStore& store, SeriesStore::Column column) const;
    void setUserX(const ChartRange& x);
    void setUserY(const ChartRange& y);
    void setFollow(bool follow);
    void userChangedView();
    /// Somebody moved the view, here or in a linked chart.
    void viewMoved();
    void replotMoved();

    // line_chart_lines.cpp
    std::vector<const DrawnLine*> drawnLines() const;
    void paintLines(QPainter& painter);
    void paintBands(QPainter& painter);
    void paintPicture(QPainter& painter, const QRect& area);
    void paintHighlighted(QPainter& painter, const QRect& area);

    // line_chart_rings.cpp
    void paintRings(QPainter& painter);

    // line_chart_marks.cpp
    void paintUnder(QPainter& painter);
    void paintMarks(QPainter& painter);
    void paintPlanned(QPainter& painter, const QRectF& area);
    void paintPlannedLabel(QPainter& painter, const QRectF& area);
    void paintVerticals(QPainter& painter, const QRectF& area);
    void paintThreshold(QPainter& painter, const QRectF& area);
    void paintFlags(QPainter& painter, const QRectF& area);
    void paintNonFinite(QPainter& painter, const QRectF& area);
    void paintClipped(QPainter& painter, const QRectF& area);
    void paintBest(QPainter& painter, const QRectF& area);
    void paintSparse(QPainter& painter, const QRectF& area);
    void paintNewest(QPainter& painter, const QRectF& area);
    void paintWords(QPainter& painter, const QRectF& area);
    void paintLabel(QPainter& painter, const std::vector<QPointF>& left_middles,
                    const QString& text, const QColor& color, TextStyle style, const QRectF& area,
                    std::size_t* kept = nullptr);
    int marksUnder(const QRectF& place, const QRectF& area) const;
    bool isCurveUnder(const QRectF& place) const;
    int flagAt(const QPointF& position) const;
    double px(double x) const { return plot->xAxis->coordToPixel(x); }
    double py(double y) const { return plot->yAxis->coordToPixel(y); }

    // line_chart_names.cpp
    struct EndName {
        QString text;
        int slot = 0;
        Qt::PenStyle dash = Qt::SolidLine; // none: not of a line
        double y = 0.0;
    };
    std::vector<EndName> endNames() const;
    double namesWidth() const;
    void paintNames(QPainter& painter);

    // line_chart_crosshair.cpp
    struct CrosshairRow {
        QString name;
        int slot = 0;
        Qt::PenStyle dash = Qt::SolidLine;
        std::optional<double> smooth;
        std::optional<double> raw;
        std::optional<double> validation;
    };
    std::vector<CrosshairRow> crosshairRows(double x) const;
    void sortRows(std::vector<CrosshairRow>& rows) const;
    QString placeText(double x) const; // what x is, as finely as the view shows it
    double snapped(double x) const;
    void paintCrosshair(QPainter& painter);
    void paintCrosshairDots(QPainter& painter, const QRectF& area, double x);
    QRectF readoutPlace(const QSizeF& wanted, double x, double gap,
                        std::initializer_list<double> tops, const QRectF& area) const;
    void paintTable(QPainter& painter, const QRectF& area, double x);
    void paintValueBox(QPainter& painter, const QRectF& area, double x);
    void moveCrosshair(std::optional<double> x);
    void renewCrosshair();

    // line_chart_export.cpp
    QString xName() const;
    QString yName() const;
    QString xColumn() const; // with its unit
    QString yColumn() const;
    /// Over a picture of this width: what it shows. Returns the height; null: only that.
    double paintCaption(QPainter* painter, double width) const;
    QSize pictureSize() const; // with it
    bool paintVectors(QPaintDevice& device, const QSize& size);
    /// A picture has an x axis, whatever there is room for on screen.
    class WithAxis;

    // line_chart_input.cpp
    bool mousePress(QMouseEvent* event);
    bool mouseMove(QMouseEvent* event);
    bool mouseRelease(QMouseEvent* event);
    bool wheel(QWheelEvent* event);
    void pan(const QPointF& position);
    void zoomAt(const QPointF& position, double x_factor, double y_factor);
    void stepCrosshair(int direction);

    LineChart* q;
    QCustomPlot* plot;
    QCPLayer* crosshair_layer = nullptr;
    QSharedPointer<ChartTicker> x_ticker{new ChartTicker};
    QSharedPointer<ChartTicker> y_ticker{new ChartTicker};
    std::vector<std::unique_ptr<ChartSeries>> series;
    std::vector<SeriesPoint> scratch;
    std::vector<QPointF> scratch_pixels;
    CurveRaster raster;
    int next_id = 1;
    int highlighted = -1;
    bool replot_pending = false;
    bool stale = false; // a replot was due while nobody could see it
    bool crosshair_stale = false;

    // While a view moves (setSwift): the picture in `raster`, and what it shows.
    bool swift = false;
    bool moved = false; // the picture is of another view
    bool move_pending = false;
    bool picture_kept = false; // it is painted again, not the lines
    ChartRange picture_x;
    ChartRange picture_y;
    double picture_ratio = 0.0; // 0: there is none
    QTimer resting;

    QString title;
    QString x_name;
    QString y_name;
    QString overlay_title;
    QString overlay_detail;
    bool log = false;
    XKind x_kind = XKind::Number;
    bool clip_outliers = false;
    bool has_outliers = false; // in view, at the last update of the ranges
    bool clipped = false;      // and left out of it
    bool x_axis_visible = true;
    bool compact = false;
    bool readout = true;
    bool names_shown = false;
    int left_margin = 48;
    double weight = 0.0;

    std::vector<ChartFlag> flags;
    std::vector<ChartEvent> events;
    std::vector<ChartTick> top_ticks;
    std::optional<SeriesPoint> best;
    QString best_label;
    std::optional<double> threshold;
    QString threshold_label;
    Role threshold_role = Role::Warning;
    std::optional<double> selection;
    QString selection_label;
    std::optional<ChartRange> planned;
    std::optional<double> trained_to;
    QString planned_label;
    std::size_t best_place = 0; // of the label's possible ones
    std::size_t threshold_place = 0;
    std::vector<QRectF> labels; // where those of the marks stand in the last picture

    std::optional<ChartRange> user_x; // unset: all of the run
    std::optional<ChartRange> user_y; // unset: what is in view
    bool following = true;
    std::optional<double> crosshair;
    std::optional<double> pointer_y; // in pixels, while the mouse is over this chart
    bool crosshair_locked = false;
    bool keyboard_focus = false;
    std::function<void()> on_user_view; // set by ChartLink

    enum class Drag { None, Pending, Pan, BoxPending, Box };
    Drag drag = Drag::None;
    QPointF drag_start;
    QPointF drag_now;
    ChartRange drag_x;
    ChartRange drag_y;
};

} // namespace weft::widgets
