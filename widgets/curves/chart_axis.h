// SPDX-License-Identifier: GPL-3.0-or-later
// Ticks and labels of chart axes: few, round, short, in the C locale.
#pragma once

#include <qcustomplot.h>

namespace weft::widgets {

/// "0", "0.25", "1,200", "5e-4", "1.2 M", with as many decimals as the distance of ticks needs.
QString axisLabel(double tick, double step, double largest);
/// Local time of seconds of the UTC epoch as a distance of `step` seconds needs it: "14:05:30",
/// "14:05", "21 Nov".
QString clockLabel(double seconds, double step);

/// A time span, as short as a distance of `step` seconds lets it be: "11.4 s", "30 s", "1 m 30 s",
/// "2 m".
QString timeLabel(double seconds, double step);

/// Whether a stretch of a curve, from left to right, runs through a place.
bool crosses(const QRectF& place, const QPointF& from, const QPointF& to);

class ChartTicker : public QCPAxisTicker {
public:
    enum class Kind { Linear, Count, Logarithmic, Seconds, Clock }; // Count: whole numbers

    void setKind(Kind kind) { kind_ = kind; }
    /// About how many ticks there is room for. Of labels side by side in so many pixels, fewer
    /// where they would touch.
    void setRoom(int count, int pixels = 0) {
        setTickCount(count);
        pixels_ = pixels;
    }

protected:
    double getTickStep(const QCPRange& range) override;
    QVector<double> createTickVector(double step, const QCPRange& range) override;
    QString getTickLabel(double tick, const QLocale& locale, QChar format, int precision) override;

private:
    double stepFor(const QCPRange& range, int count);
    bool hasRoom(const QCPRange& range, double step) const;
    QString labelOf(double tick, double step, double largest) const;

    Kind kind_ = Kind::Linear;
    int pixels_ = 0;
    double step_ = 1.0;
    double largest_ = 1.0;
};

} // namespace weft::widgets
