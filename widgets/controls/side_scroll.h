// SPDX-License-Identifier: GPL-3.0-or-later
// As high as its content, and as wide as there is room: what is wider scrolls sideways.
#pragma once

#include <QScrollArea>

namespace weft::widgets {

class SideScroll : public QScrollArea {
    Q_OBJECT
public:
    explicit SideScroll(QWidget* parent = nullptr);

    /// Another content; the one before, which may be in the middle of an event, goes later.
    void setContent(QWidget* content);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
};

} // namespace weft::widgets
