// SPDX-License-Identifier: GPL-3.0-or-later
// A small picture to draw on, pixel by pixel, white on black. Mouse: the left button draws, the
// right one rubs out. Keys: arrows move the pen, Space draws where it is, Backspace rubs out,
// Ctrl+Z takes the last stroke back. A picture file can be dropped: it is scaled onto the pixels.
#pragma once

#include <QImage>
#include <QWidget>

#include <vector>

class QMimeData;

namespace weft::widgets {

class SketchPad : public QWidget {
    Q_OBJECT
public:
    explicit SketchPad(QWidget* parent = nullptr);

    /// Size and channels (1 or 3) of the picture; clears it when they change.
    void setFormat(int width, int height, int channels);
    /// A blank picture, or this one, scaled to the size.
    void clear();
    void setImage(const QImage& image);
    void undo();
    bool canUndo() const { return !undo_.empty(); }
    bool isBlank() const;
    const QImage& image() const { return image_; }
    /// Row-major [height, width, channels], 0 to 1.
    std::vector<float> values() const;
    /// Name of what is on it, for screen readers: "sample 12", "shoe.png"; empty: a drawing.
    void setSubject(const QString& subject);
    /// A picture, or a file that may be one, as it is dragged over the pad or beside it.
    static bool canTake(const QMimeData* data);
    void take(const QMimeData* data);

    QSize sizeHint() const override { return {224, 224}; }
    QSize minimumSizeHint() const override { return {112, 112}; }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;

signals:
    void changed();
    /// A file was dropped that is no picture.
    void rejected(const QString& path);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QRectF pictureRect() const;
    QPointF toPicture(const QPointF& position) const;
    void remember();
    void stroke(const QPointF& from, const QPointF& to, bool rub);
    void describe();

    QImage image_;
    int channels_ = 1;
    QString subject_;
    std::vector<QImage> undo_;
    bool drawing_ = false;
    bool rubbing_ = false;
    QPointF last_;
    QPoint pen_;
    bool keyboard_ = false;
};

} // namespace weft::widgets
