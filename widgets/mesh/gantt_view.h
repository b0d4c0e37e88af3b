// SPDX-License-Identifier: GPL-3.0-or-later
// What the stages of a pipeline do when: a row for each stage, time from left to right, a cell for
// each action with its microbatch, hatching where a stage waits. Rows that do not fit scroll;
// Ctrl+wheel stretches the time, Shift+wheel moves it. Pointing at a cell follows its microbatch
// through all stages.
#pragma once

#include "widgets/views/kept_picture.h"
#include "widgets/views/painted_view.h"

#include <optional>
#include <utility>
#include <vector>

class QScrollBar;

namespace weft::widgets {

/// What a cell does; a backward is both of the two after it.
enum class GanttKind { Forward, Backward, InputGradient, WeightGradient };

struct GanttCell {
    GanttKind kind = GanttKind::Forward;
    int microbatch = 0;
    int chunk = 0;
    double start = 0;
    double end = 0;
};

struct GanttRow {
    QString note;                 // what the stage holds: "blocks.0 to blocks.2"
    std::vector<GanttCell> cells; // in order of time; none overlaps another
    /// Start and end of each cell as it was planned, drawn below it; none: cells are the plan.
    std::vector<std::pair<double, double>> planned = {};
};

struct GanttData {
    std::vector<GanttRow> rows; // one per stage
    int chunks = 1;             // of each stage; one is not named
    QString unit;               // of the time: "ms", "forwards"
};

/// Fill of a kind of cell, and the text colour that is read best on it.
QColor ganttColor(GanttKind kind);
QColor ganttTextColor(GanttKind kind);

struct GanttColors; // of all kinds

class GanttView : public PaintedView {
    Q_OBJECT
public:
    explicit GanttView(QWidget* parent = nullptr);

    /// The time shown is the whole of it again; the cursor stays on its cell while there is one.
    void setData(GanttData data);
    const GanttData& data() const { return data_; }
    /// Values that a newer plan will replace are drawn faint.
    void setStale(bool stale);
    /// A moment that the page is at: a line through all rows, round what runs there.
    void setMark(std::optional<double> time);
    std::optional<double> mark() const { return mark_; }
    /// Items that run at a time.
    std::vector<int> itemsAt(double time) const;

    /// The end of the last cell.
    double makespan() const { return makespan_; }
    /// Index of a row's cell among the items, and back.
    int itemOf(int row, int cell) const;
    int rowOf(int item) const;
    const GanttCell& cellOf(int item) const;
    /// The time that is drawn.
    double firstTime() const { return first_; }
    double lastTime() const { return last_; }
    /// Stretches the time around a moment: 2 shows half as much of it.
    void zoomTime(double factor, double around);
    void showAllTime();

    int itemCount() const override { return offsets_.back(); }
    ViewItem item(int index) const override;
    int hitTest(const QPointF& position) const override;
    QSize sizeHint() const override { return {520, 140}; }
    QSize minimumSizeHint() const override;

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;
    int neighbour(int index, int key) const override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    /// Adds + and - (stretch the time at the cursor) and 0 (all of it) to the base's keys.
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool event(QEvent* event) override;

private:
    /// Where rows and times lie in a view of some size.
    struct Frame {
        QRectF plot; // rows without badges and axis
        double pitch = 0;
        int first_row = 0;
        int rows = 0; // that are wholly visible
    };

    Frame frame(const QSizeF& view_size) const;
    double xOf(double time, const Frame& frame) const;
    double timeAt(double x, const Frame& frame) const;
    QRectF rowRect(int row, const Frame& frame) const;
    QRectF cellRect(const GanttCell& cell, const QRectF& row, const Frame& frame) const;
    /// The first cell of a row in the time that is drawn, and the one behind the last.
    std::pair<std::size_t, std::size_t> cellsInSight(int row) const;
    /// The cell that runs at a time, else the nearest; -1 in an empty row.
    int cellNear(int row, double time) const;
    QString timeText(double time) const;
    void moveTimes(double first, double span);
    void showCursor();
    void fitRows();
    void renew();

    /// Everything but what follows the mouse and the cursor.
    void paintStill(QPainter& painter, const Frame& frame) const;
    void paintRow(QPainter& painter, int row, const Frame& frame, const GanttColors& colors) const;
    void paintDense(QPainter& painter, int row, const Frame& frame,
                    const GanttColors& colors) const;
    void paintPlanned(QPainter& painter, int row, const Frame& frame) const;
    void paintFollowed(QPainter& painter, const Frame& frame) const;
    void paintBubbles(QPainter& painter, int row, const Frame& frame) const;
    void paintBadge(QPainter& painter, int row, const Frame& frame) const;
    void paintAxis(QPainter& painter, const Frame& frame) const;
    void paintTimeLine(QPainter& painter, const Frame& frame) const;
    void paintMark(QPainter& painter, const Frame& frame) const;

    GanttData data_;
    std::vector<int> offsets_{0}; // items before each row, and all of them
    double makespan_ = 0;
    double shortest_ = 0; // of all cells
    double first_ = 0;    // the time that is drawn
    double last_ = 0;
    std::optional<double> pointed_; // time under the mouse
    std::optional<double> mark_;
    bool stale_ = false;
    QScrollBar* scroll_;
    mutable KeptPicture still_; // what paintStill paints
};

/// What the cells of a view mean, on one line; names that do not fit are left out.
class GanttLegend : public QWidget {
    Q_OBJECT
public:
    explicit GanttLegend(QWidget* parent = nullptr);

    /// Kinds that occur, in the order of GanttKind, and hatching where something waits.
    void setData(const GanttData& data);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {0, sizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    struct Entry {
        QString name;
        std::optional<GanttKind> kind; // none: a bubble
    };
    std::vector<Entry> entries_;
};

} // namespace weft::widgets
