// SPDX-License-Identifier: GPL-3.0-or-later
// Small pictures with what the model says about each; wrong ones are framed and named.
#pragma once

#include "widgets/views/painted_view.h"

#include <QImage>

#include <cstdint>
#include <span>
#include <vector>

namespace weft::widgets {

struct GridImage {
    QImage image;
    QString caption;    // "Pullover"
    QString value;      // "0.93", monospace at the right; never elided
    QString note;       // second line, for wrong ones: "is Shirt"
    bool wrong = false; // framed in the error colour
};

/// One-channel 8-bit pixels, rows top to bottom: [height, width].
QImage grayImage(std::span<const std::uint8_t> pixels, int width, int height);
/// [height, width] for channels 1, [height, width, 3] for channels 3; values scaled from [low,
/// high].
QImage imageFromFloats(std::span<const float> pixels, int width, int height, int channels,
                       float low, float high);

class ImageGrid : public PaintedView {
    Q_OBJECT
public:
    explicit ImageGrid(QWidget* parent = nullptr);

    void setImages(std::vector<GridImage> images);
    const std::vector<GridImage>& images() const { return images_; }
    /// 0: as many as fit `cell_width`.
    void setColumns(int columns);
    void setCellWidth(int pixels);
    /// Captions in the middle under the picture, no values.
    void setCentredCaptions(bool centred);
    void setEmptyText(const QString& text);
    /// Room for notes also while no picture has one: rows stay where they are.
    void setNotesExpected(bool expected);

    int itemCount() const override { return static_cast<int>(images_.size()); }
    ViewItem item(int index) const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;
    int neighbour(int index, int key) const override;

private:
    struct Layout;
    Layout layoutFor(double width) const;
    void paintCell(QPainter& painter, const QRectF& cell, const GridImage& image) const;
    QRectF cellRect(int index, double width) const;

    std::vector<GridImage> images_;
    QString empty_text_;
    int columns_ = 0;
    int cell_width_ = 84;
    bool centred_ = false;
    bool notes_expected_ = false;
};

} // namespace weft::widgets
