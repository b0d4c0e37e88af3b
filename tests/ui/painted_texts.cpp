// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/painted_texts.h"

#include <QPaintEngine>
#include <QWidget>

namespace weft::test {
namespace {

class TextCatcher final : public QPaintEngine, public QPaintDevice {
public:
    explicit TextCatcher(QSize size) : QPaintEngine(AllFeatures), size_(size) {}
    QStringList texts;

    QPaintEngine* paintEngine() const override { return const_cast<TextCatcher*>(this); }
    Type type() const override { return User; }
    bool begin(QPaintDevice*) override { return true; }
    bool end() override { return true; }
    void updateState(const QPaintEngineState&) override {}
    void drawPath(const QPainterPath&) override {}
    void drawPolygon(const QPointF*, int, PolygonDrawMode) override {}
    void drawPixmap(const QRectF&, const QPixmap&, const QRectF&) override {}
    void drawTiledPixmap(const QRectF&, const QPixmap&, const QPointF&) override {}
    void drawTextItem(const QPointF&, const QTextItem& item) override { texts << item.text(); }

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

} // namespace

QStringList painted_texts(QWidget& widget) {
    TextCatcher catcher(widget.size());
    widget.render(&catcher);
    return catcher.texts;
}

} // namespace weft::test
