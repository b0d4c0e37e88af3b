// SPDX-License-Identifier: GPL-3.0-or-later
// What devices, exchanges, loader and host did when: rows of named stretches over one axis of time,
// a small picture of all of it above with the part that is shown. Ctrl+wheel or W and S stretch the
// time, Shift+wheel, A and D or dragging move it. Tens of thousands of stretches cost what is seen.
#pragma once

#include "widgets/views/kept_picture.h"
#include "widgets/views/painted_view.h"

#include <vector>

class QScrollBar;

namespace weft::widgets {

enum class SpanKind { Forward, Backward, Update, Exchange, Waiting, Loader, Host };

/// Fill of a kind; Waiting is hatched on it.
QColor spanColor(SpanKind kind);
QString spanName(SpanKind kind);

struct EventSpan {
    SpanKind kind = SpanKind::Forward;
    int label = 0; // in EventTimelineData::labels
    double start = 0;
    double end = 0;
};

struct EventRow {
    QString name; // "cpu:0"
    bool thin = false;
    std::vector<EventSpan> spans; // in order of time; none overlaps another
};

struct EventLabel {
    QString name;   // drawn where there is room: "matmul"
    QString detail; // said with it: "blocks.0.mlp.up, forward, onednn matmul"
};

struct EventTimelineData {
    std::vector<EventRow> rows;
    std::vector<EventLabel> labels;
    double length = 0; // from 0
    QString unit;      // "ms"
};

class EventTimeline : public PaintedView {
    Q_OBJECT
public:
    explicit EventTimeline(QWidget* parent = nullptr);

    /// All of its time is shown, unless `keep_time`: then the part that was.
    void setData(EventTimelineData data, bool keep_time = false);
    const EventTimelineData& data() const { return data_; }
    /// Stretches with these labels stand out, by label; empty: none.
    void setMarked(std::vector<bool> marked);
    const std::vector<bool>& marked() const { return marked_; }
    /// Brings the first stretch with a marked label into sight where none is.
    void showMarked();

    const EventSpan& spanOf(int item) const;
    int rowOf(int item) const;
    double firstTime() const { return first_; }
    double lastTime() const { return last_; }
    /// Stretches the time around a moment: 2 shows half as much of it.
    void zoomTime(double factor, double around);
    void showTime(double first, double last);
    void showAllTime() { showTime(0, data_.length); }

    int itemCount() const override { return offsets_.back(); }
    ViewItem item(int index) const override;
    int hitTest(const QPointF& position) const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    void timeChanged();

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;
    int neighbour(int index, int key) const override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    struct Frame {
        QRectF overview; // all of the time
        QRectF axis;
        QRectF plot; // the rows that are seen
    };
    enum class Drag { None, Pressed, Time, Overview };

    Frame frame(const QSizeF& view_size) const;
    double rowsHeight() const;
    QRectF rowRect(int row, const Frame& frame) const;
    double xOf(double time, const Frame& frame) const;
    double timeAt(double x, const Frame& frame) const;
    QRectF spanRect(const EventSpan& span, const QRectF& row, const Frame& frame) const;
    bool isMarked(const EventSpan& span) const;
    QColor fillOf(const EventSpan& span) const;
    int spanNear(int row, double time) const;
    QString timeText(double time) const;
    void moveTo(double first);
    void showCursor();
    void fitRows();
    void renew();

    void paintStill(QPainter& painter, const Frame& frame) const;
    void paintOverview(QPainter& painter, const Frame& frame) const;
    void paintAxis(QPainter& painter, const Frame& frame) const;
    void paintRow(QPainter& painter, int row, const Frame& frame) const;
    void paintSpan(QPainter& painter, const EventSpan& span, const QRectF& rect) const;
    void paintBand(QPainter& painter, const EventRow& row, const QRectF& place, double first,
                   double last) const;

    EventTimelineData data_;
    std::vector<int> offsets_{0}; // items before each row, and all of them
    std::vector<double> tops_{0}; // of the rows, and the bottom of the last
    std::vector<bool> marked_;
    double shortest_ = 0;
    double first_ = 0; // the time that is drawn
    double last_ = 0;
    Drag drag_ = Drag::None;
    double drag_x_ = 0;
    double drag_first_ = 0;
    QScrollBar* scroll_;
    mutable KeptPicture still_;
};

/// What the colours of a timeline mean, on one line; names that do not fit are left out.
class EventLegend : public QWidget {
    Q_OBJECT
public:
    explicit EventLegend(QWidget* parent = nullptr);

    /// Kinds that occur, in the order of SpanKind.
    void setData(const EventTimelineData& data);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {0, sizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    std::vector<SpanKind> kinds_;
};

} // namespace weft::widgets
