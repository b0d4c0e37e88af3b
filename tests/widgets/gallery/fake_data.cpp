// SPDX-License-Identifier: GPL-3.0-or-later
#include "fake_data.h"

#include <QPainter>

#include <cmath>
#include <numbers>
#include <random>

namespace weft::gallery {

using namespace widgets;

Curve lossCurve(int count, double start, double end, double noise, unsigned seed) {
    std::mt19937 engine(seed);
    std::normal_distribution<double> normal(0.0, noise);
    Curve curve;
    for (int step = 0; step < count; ++step) {
        const double base = end + (start - end) / (1.0 + 0.035 * step);
        curve.x.push_back(step);
        curve.y.push_back(base * std::exp(normal(engine)));
    }
    return curve;
}

Curve validationCurve(int count, int stride, double start, double end) {
    Curve curve;
    for (int step = 0; step < count; step += stride) {
        curve.x.push_back(step);
        curve.y.push_back(end + (start - end) / (1.0 + 0.03 * step));
    }
    return curve;
}

Curve learningRate(int from, int to, int total, int warmup, double peak) {
    Curve curve;
    for (int step = from; step <= to; step += 5) {
        const double t = std::max(0.0, static_cast<double>(step - warmup) / (total - warmup));
        const double value = step < warmup ? peak * step / warmup
                                           : peak * 0.5 * (1.0 + std::cos(std::numbers::pi * t));
        curve.x.push_back(step);
        curve.y.push_back(value);
    }
    return curve;
}

Curve gradientNorm(int count, unsigned seed) {
    Curve curve = lossCurve(count, 4.0, 0.5, 0.28, seed);
    for (int step = 540; step < 580 && step < count; ++step) {
        curve.y[static_cast<std::size_t>(step)] *= 3.0;
    }
    return curve;
}

std::vector<GridImage> samples() {
    static const char* const kNames[] = {"Boot", "Pullover", "Trouser", "T-shirt", "Coat",
                                         "Sneaker", "Sandal", "Dress", "Bag", "T-shirt",
                                         "Shirt", "Coat"};
    static const char* const kValues[] = {"0.99", "0.93", "1.00", "0.58", "0.81", "0.97",
                                          "0.99", "0.95", "1.00", "0.88", "0.62", "0.49"};
    std::vector<GridImage> images;
    for (int i = 0; i < 12; ++i) {
        QImage image(28, 28, QImage::Format_Grayscale8);
        image.fill(236);
        QPainter painter(&image);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(Qt::NoPen);
        painter.setBrush(QColor(40 + i * 11, 40 + i * 11, 40 + i * 11));
        if (i % 3 == 0) {
            painter.drawRoundedRect(QRectF(5, 4 + i / 3.0, 18, 20 - i / 3.0), 4, 4);
        } else if (i % 3 == 1) {
            painter.drawPolygon(
                QPolygonF({{14, 3}, {25, 8}, {21, 12}, {21, 25}, {7, 25}, {7, 12}, {3, 8}}));
        } else {
            painter.drawEllipse(QRectF(4, 8, 20, 12));
            painter.drawRect(QRectF(6, 18, 16, 4));
        }
        const bool wrong = i == 3 || i == 11;
        const QString note = wrong ? (i == 3 ? QStringLiteral("is Shirt")
                                             : QStringLiteral("is Pullover"))
                                   : QString();
        images.push_back({image, QLatin1String(kNames[i]), QLatin1String(kValues[i]), note, wrong});
    }
    return images;
}

std::vector<MemorySegment> measuredMemory() {
    constexpr double kMiB = 1024.0 * 1024.0;
    const auto mib = [](double value) { return static_cast<qint64>(value * kMiB); };
    return {{MemoryCategory::Parameters, mib(1.6)},  {MemoryCategory::Gradients, mib(1.6)},
            {MemoryCategory::Optimizer, mib(3.2)},   {MemoryCategory::Batch, mib(1.3)},
            {MemoryCategory::Library, mib(39.1)},    {MemoryCategory::Activations, mib(24.9)},
            {MemoryCategory::Workspace, mib(8.4)}};
}

std::vector<MemorySegment> plannedMemory() {
    std::vector<MemorySegment> segments = measuredMemory();
    for (MemorySegment& segment : segments) {
        segment.bytes = segment.bytes * 97 / 100;
    }
    return segments;
}

SparklineData sparkline(int points, double share, bool failed, unsigned seed) {
    SparklineData data;
    data.y = lossCurve(points, 2.0, 0.4, 0.04, seed).y;
    data.share = share;
    data.failed = failed;
    if (!failed) {
        data.best = points - 8;
    }
    return data;
}

} // namespace weft::gallery
