// SPDX-License-Identifier: GPL-3.0-or-later
// Memory over the steps of a program, stacked by category: the peak and its step, the limit, the
// same program planned otherwise as a dashed outline, and a cursor that keys, clicks and a drag
// move.
#pragma once

#include "widgets/views/kept_picture.h"
#include "widgets/views/painted_view.h"

#include <optional>
#include <vector>

namespace weft::widgets {

/// One category: bytes alive while each step runs.
struct TimelineLayer {
    MemoryCategory category = MemoryCategory::Parameters;
    std::vector<qint64> bytes; // one per step
};

/// Steps that belong together, named under the plot: "forward", "backward", "update".
struct TimelineSpan {
    QString name;
    int first = 0;
    int count = 0;
    int shade = 0; // 0: faint, 1: strong, 2: grey
};

struct TimelineData {
    std::vector<QString> names; // one per step: "matmul blocks.3.mlp.up, backward"
    std::vector<TimelineLayer> layers;
    std::vector<TimelineSpan> spans;
    std::vector<int> ticks; // steps that talk to other devices, ascending
};

class MemoryTimeline : public PaintedView {
    Q_OBJECT
public:
    /// All of it; without legend and the peak's name, for low places; or only the shape, with
    /// colours for the spans.
    enum class Form { Full, Compact, Slim };

    explicit MemoryTimeline(QWidget* parent = nullptr);

    void setForm(Form form);

    /// Layers are stacked in the order of MemoryCategory whatever the order given. The cursor stays
    /// on its step when there still is one of that number.
    void setData(TimelineData data);
    /// A line at the device's capacity; far above the plot it is said in words.
    void setLimit(std::optional<qint64> bytes);
    /// A line at what was measured, with its words: "measured 82 MiB".
    void setMeasured(std::optional<qint64> bytes, const QString& label = {});
    /// The same program planned otherwise: its totals over its own steps, stretched to the same
    /// width.
    void setGhost(std::vector<qint64> totals, const QString& label);
    /// Values that a newer plan will replace are drawn faint.
    void setStale(bool stale);

    int stepCount() const { return static_cast<int>(data_.names.size()); }
    /// Bytes alive while a step runs.
    qint64 totalAt(int step) const { return totals_[static_cast<std::size_t>(step)]; }
    /// The first step with most bytes alive, or -1 without steps.
    int peakStep() const { return peak_; }
    /// The first step of the span after or before a step; the last or the first where there is
    /// none.
    int nextSpan(int step) const;
    int previousSpan(int step) const;
    /// The step under an x in widget coordinates, bounded to those there are; -1 without steps.
    int stepAt(double x) const;

    int itemCount() const override { return stepCount(); }
    ViewItem item(int index) const override;
    int hitTest(const QPointF& position) const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    /// Adds Page Up, Page Down (spans), Shift with arrows (ten steps) and P (to the peak) to the
    /// base's keys.
    void keyPressEvent(QKeyEvent* event) override;

private:
    static constexpr double kHandleHeight = 10.0; // of the cursor's handle

    struct LegendEntry {
        QRectF rect;
        MemoryCategory category;
    };

    std::vector<LegendEntry> legend(const QSizeF& view_size) const;
    QRectF plotRect(const QSizeF& view_size) const;
    /// Where the spans lie under a plot, and where the cursor's handle ends.
    QRectF bandRect(const QRectF& plot) const;
    void renew();
    double axisTop() const;
    double xOf(double step, const QRectF& plot) const;
    double middleOf(int step, const QRectF& plot) const;
    std::vector<int> columnSteps(const QRectF& plot) const;
    /// Everything but what follows the mouse and the cursor.
    void paintStill(QPainter& painter, const QSizeF& view_size) const;
    void paintLegend(QPainter& painter, const QSizeF& view_size) const;
    void paintAxis(QPainter& painter, const QRectF& plot) const;
    void paintLayers(QPainter& painter, const QRectF& plot) const;
    void paintGhost(QPainter& painter, const QRectF& plot) const;
    void paintLimit(QPainter& painter, const QRectF& plot) const;
    bool isCovering(const QRectF& place, const QRectF& plot) const;
    void paintMeasured(QPainter& painter, const QRectF& plot) const;
    void paintPeak(QPainter& painter, const QRectF& plot) const;
    void paintSpans(QPainter& painter, const QRectF& plot) const;
    void paintTicks(QPainter& painter, const QRectF& plot) const;
    void paintCursor(QPainter& painter, const QRectF& plot) const;

    Form form_ = Form::Full;
    TimelineData data_;
    std::vector<qint64> totals_;
    std::vector<qint64> ghost_;
    QString ghost_label_;
    std::optional<qint64> limit_;
    std::optional<qint64> measured_;
    QString measured_label_;
    qint64 most_ = 0;
    int peak_ = -1;
    bool stale_ = false;
    mutable KeptPicture still_; // what paintStill paints
};

} // namespace weft::widgets
