// SPDX-License-Identifier: GPL-3.0-or-later
// Draws many lines y(x), anti-aliased, at some nanoseconds a pixel column. What a line does within
// a column is one vertical stretch of it, however many points lie there: with hundreds of runs over
// each other this is many times faster than strokes of a path, and every spike keeps its height.
#pragma once

#include <QColor>
#include <QImage>
#include <QPointF>

#include <span>

namespace weft::widgets {

class CurveRaster {
public:
    /// An empty picture of this size, in device pixels.
    void begin(const QSize& size);
    /// Over what is there. `points` are finite, in pixels of the picture, and x does not decrease;
    /// the colour is opaque, `width` in pixels at least 1; dashes are as long as Qt draws them for
    /// lines of one pixel, and steep parts have none.
    void draw(std::span<const QPointF> points, const QColor& color, double width = 1.0,
              Qt::PenStyle dash = Qt::SolidLine);
    const QImage& image() const { return image_; }
    /// Rows with something in them; empty when there are none.
    QRect used() const;

private:
    struct Stretch { // of one column
        double top = 0.0;
        double bottom = 0.0;
        double in = 0.0;  // where the line comes from the left
        double out = 0.0; // and leaves to the right
    };
    class Dashes;
    struct Stroke;

    void paint(int column, const Stretch& stretch, Stroke& stroke);
    void paintStretch(int column, const Stretch& stretch, QRgb color, double width);
    void fill(int column, double top, double bottom, QRgb color, double share);
    void fillSlope(int column, double middle, double height, QRgb color, double width);

    QImage image_;
    QRgb* pixels_ = nullptr; // of the image
    qsizetype stride_ = 0;   // pixels from one row to the next
    int top_row_ = 0;
    int bottom_row_ = -1;
};

} // namespace weft::widgets
