// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/kept_picture.h"

#include "widgets/look/theme.h"

#include <QPainter>
#include <QWidget>

namespace weft::widgets {

void KeptPicture::paint(QPainter& painter, const QWidget* view, const QSizeF& view_size,
                        const std::function<void(QPainter&)>& paint) {
    if (painter.device() != static_cast<const QPaintDevice*>(view)) {
        paint(painter);
        return;
    }
    const double scale = painter.deviceTransform().m11();
    const std::pair theme(Theme::current().isDark(), Theme::current().fontScale());
    if (picture_.isNull() || picture_.devicePixelRatio() != scale || theme_ != theme ||
        size_ != view_size) {
        theme_ = theme;
        size_ = view_size;
        picture_ = QPixmap((view_size * scale).toSize());
        picture_.setDevicePixelRatio(scale);
        picture_.fill(Qt::transparent);
        QPainter inner(&picture_);
        paint(inner);
    }
    painter.drawPixmap(QPointF(0, 0), picture_);
}

} // namespace weft::widgets
