// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPaintEngine>
#include <QPainter>
#include <QPainterPath>
#include <QPixmap>

#include <utility>
#include <vector>

namespace weft::test {

/// Keeps what is written on it, and where.
class Writing final : public QPaintEngine, public QPaintDevice {
public:
    explicit Writing(QSize size) : QPaintEngine(AllFeatures), size_(size) {}
    std::vector<std::pair<QString, QRectF>> texts;

    QPaintEngine* paintEngine() const override { return const_cast<Writing*>(this); }
    Type type() const override { return User; }
    bool begin(QPaintDevice*) override { return true; }
    bool end() override { return true; }
    void updateState(const QPaintEngineState&) override {}
    void drawPath(const QPainterPath&) override {}
    void drawPolygon(const QPointF*, int, PolygonDrawMode) override {}
    void drawPixmap(const QRectF&, const QPixmap&, const QRectF&) override {}
    void drawTextItem(const QPointF& at, const QTextItem& item) override {
        // Letters, without the room for accents above them.
        const QRectF rect(at.x(), at.y() - item.ascent() * 0.75, item.width(),
                          item.ascent() * 0.75);
        texts.emplace_back(item.text(), painter()->combinedTransform().mapRect(rect));
    }

protected:
    int metric(PaintDeviceMetric wanted) const override {
        switch (wanted) {
        case PdmWidth: return size_.width();
        case PdmHeight: return size_.height();
        case PdmDevicePixelRatio: return 1;
        case PdmDevicePixelRatioScaled: return static_cast<int>(devicePixelRatioFScale());
        case PdmDepth: return 32;
        case PdmNumColors: return 0;
        default: return 96;
        }
    }

private:
    QSize size_;
};

} // namespace weft::test
