// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/look/icon.h"

#include "widgets/look/painting.h"

#include <QDir>
#include <QFile>
#include <QHash>
#include <QIconEngine>
#include <QPixmapCache>
#include <QSvgRenderer>

#include <cmath>

namespace weft::widgets {
namespace {

QByteArray sourceOf(const QString& name) {
    static QHash<QString, QByteArray> cache;
    const auto found = cache.constFind(name);
    if (found != cache.constEnd()) {
        return *found;
    }
    QFile file(QStringLiteral(":/weft/icons/%1.svg").arg(name));
    const QByteArray text = file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    cache.insert(name, text);
    return text;
}

QPixmap rendered(const QString& name, const QColor& color, const QSize& device_pixels) {
    const QString key = QStringLiteral("weft:%1:%2:%3x%4")
                            .arg(name, color.name(QColor::HexArgb))
                            .arg(device_pixels.width())
                            .arg(device_pixels.height());
    QPixmap pixmap;
    if (QPixmapCache::find(key, &pixmap)) {
        return pixmap;
    }
    QByteArray svg = sourceOf(name);
    svg.replace("currentColor", color.name().toLatin1());
    QSvgRenderer renderer(svg);
    pixmap = QPixmap(device_pixels);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    painter.setRenderHint(QPainter::Antialiasing);
    renderer.setAspectRatioMode(Qt::KeepAspectRatio);
    renderer.render(&painter, QRectF(QPointF(0, 0), QSizeF(device_pixels)));
    QPixmapCache::insert(key, pixmap);
    return pixmap;
}

// Looks up the colour each time it paints, so an icon handed out once follows the theme.
class ThemedIconEngine : public QIconEngine {
public:
    ThemedIconEngine(QString name, Role role) : name_(std::move(name)), role_(role) {}

    void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode,
               QIcon::State state) override {
        paintIcon(*painter, rect, name_, colorFor(mode, state));
    }

    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
        return rendered(name_, colorFor(mode, state), size);
    }

    QPixmap scaledPixmap(const QSize& size, QIcon::Mode mode, QIcon::State state,
                         qreal scale) override {
        QPixmap result = rendered(name_, colorFor(mode, state), size);
        result.setDevicePixelRatio(scale);
        return result;
    }

    QString key() const override { return QStringLiteral("weft"); }
    QIconEngine* clone() const override { return new ThemedIconEngine(name_, role_); }
    QString iconName() override { return name_; }
    bool isNull() override { return false; }

private:
    QColor colorFor(QIcon::Mode mode, QIcon::State state) const {
        const Theme& theme = Theme::current();
        if (mode == QIcon::Disabled) {
            return theme.color(Role::Faint);
        }
        const bool chosen = mode == QIcon::Selected || state == QIcon::On;
        if (chosen && (role_ == Role::Text || role_ == Role::Muted)) {
            return theme.color(Role::Accent);
        }
        return theme.color(role_);
    }

    QString name_;
    Role role_;
};

} // namespace

QIcon icon(const QString& name, Role role) {
    if (sourceOf(name).isEmpty()) {
        qWarning("There is no icon named \"%s\".", qPrintable(name));
        return {};
    }
    return QIcon(new ThemedIconEngine(name, role));
}

QStringList iconNames() {
    QStringList names;
    const QStringList files = QDir(QStringLiteral(":/weft/icons"))
                                  .entryList({QStringLiteral("*.svg")}, QDir::Files, QDir::Name);
    for (const QString& file : files) {
        names.append(file.chopped(4));
    }
    return names;
}

bool isIconName(const QString& name) {
    return !name.isEmpty() && !sourceOf(name).isEmpty();
}

void paintIcon(QPainter& painter, const QRectF& rect, const QString& name, const QColor& color) {
    const double scale = painter.device()->devicePixelRatioF();
    QPixmap pixmap = rendered(name, color, (rect.size() * scale).toSize());
    pixmap.setDevicePixelRatio(scale);
    const QPointF corner(std::round(rect.x() * scale) / scale,
                         std::round(rect.y() * scale) / scale);
    painter.drawPixmap(corner, pixmap);
}

QIcon applicationIcon() {
    QIcon result;
    for (const int size : {16, 24, 32, 48, 64, 128, 256}) {
        result.addPixmap(rendered(QStringLiteral("weft"), Qt::black, QSize(size, size)));
    }
    return result;
}

} // namespace weft::widgets
