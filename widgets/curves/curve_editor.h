// SPDX-License-Identifier: GPL-3.0-or-later
// A curve with points to take hold of, e.g. a learning-rate schedule. Points are dragged, or chosen
// by arrow keys and moved by Shift and arrow keys (a hundredth of the view; with Ctrl a tenth of
// that). What a move comes to is the owner's affair: it sets the curve again.
#pragma once

#include "widgets/views/painted_view.h"

#include <vector>

namespace weft::widgets {

struct CurveHandle {
    double x = 0;
    double y = 0;
    bool moves_x = false;
    bool moves_y = false;
    QString name; // "warm-up ends"
    QString text; // "warm-up ends: step 200, 6e-4"
};

/// Points of a line, x ascending.
struct CurveLine {
    std::vector<double> x, y;
    QString label;
};

class CurveEditor : public PaintedView {
    Q_OBJECT
public:
    explicit CurveEditor(QWidget* parent = nullptr);

    void setCurve(CurveLine curve, std::vector<CurveHandle> handles);
    /// Another curve behind it, dashed; empty: none.
    void setOther(CurveLine other);
    void setLogarithmic(bool logarithmic);
    bool isLogarithmic() const { return logarithmic_; }
    const std::vector<CurveHandle>& handles() const { return handles_; }
    struct Row {
        double y = 0;
        QString label;
    };
    /// The lines across, with what stands beside them, from below.
    std::vector<Row> rows(const QSizeF& view_size) const;
    /// Where a point of the curve is painted, in a view of this size.
    QPointF toView(double x, double y, const QSizeF& view_size) const;

    int itemCount() const override { return static_cast<int>(handles_.size()); }
    ViewItem item(int index) const override;
    QSize sizeHint() const override { return {480, 260}; }
    QSize minimumSizeHint() const override;

signals:
    /// The user wants a handle at (x, y); both within the axes.
    void handleMoved(int handle, double x, double y);
    void handleReleased(int handle);

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;
    bool event(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void renewRange();
    QRectF plot(const QSizeF& view_size) const;
    QPointF toValue(const QPointF& at) const;
    void paintAxes(QPainter& painter, const QSizeF& view_size) const;
    void paintLine(QPainter& painter, const CurveLine& line, const QPen& pen,
                   const QSizeF& view_size) const;
    void paintHandles(QPainter& painter, const QSizeF& view_size) const;
    QRectF handleWords(const QSizeF& view_size) const;
    QPolygonF lineInView(const CurveLine& line, const QSizeF& view_size) const;
    QRectF otherLabel(const QSizeF& view_size) const;
    int spoken() const;

    CurveLine curve_;
    CurveLine other_;
    std::vector<CurveHandle> handles_;
    bool logarithmic_ = false;
    int dragged_ = -1;
    double x_high_ = 1.0;
    double y_low_ = 0.0;
    double y_high_ = 1.0;
};

inline constexpr double kTickWidth = 90.0; // room for one number on an x axis
/// Round numbers from `low` to `high`, about `room` of them.
std::vector<double> roundTicks(double low, double high, int room);

} // namespace weft::widgets
