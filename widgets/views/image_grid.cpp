// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/image_grid.h"

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kImageGapX = 8.0;
constexpr double kImageGapY = 12.0;
constexpr double kImageCaptionGap = 4.0;

} // namespace

struct ImageGrid::Layout {
    int columns = 1;
    double cell_width = 0.0;
    double cell_height = 0.0;
};

QImage grayImage(std::span<const std::uint8_t> pixels, int width, int height) {
    QImage image(width, height, QImage::Format_Grayscale8);
    image.fill(0);
    const std::size_t rows =
        std::min(static_cast<std::size_t>(height), pixels.size() / static_cast<std::size_t>(width));
    for (std::size_t y = 0; y < rows; ++y) {
        std::copy_n(pixels.data() + y * static_cast<std::size_t>(width), width,
                    image.scanLine(static_cast<int>(y)));
    }
    return image;
}

QImage imageFromFloats(std::span<const float> pixels, int width, int height, int channels,
                       float low, float high) {
    QImage image(width, height, channels == 3 ? QImage::Format_RGB888 : QImage::Format_Grayscale8);
    image.fill(0);
    const auto row_size = static_cast<std::size_t>(width * channels);
    const float scale = high > low ? 255.0f / (high - low) : 0.0f;
    for (std::size_t y = 0;
         y < static_cast<std::size_t>(height) && (y + 1) * row_size <= pixels.size(); ++y) {
        uchar* line = image.scanLine(static_cast<int>(y));
        for (std::size_t x = 0; x < row_size; ++x) {
            const float value = (pixels[y * row_size + x] - low) * scale;
            line[x] =
                static_cast<uchar>(std::isfinite(value) ? std::clamp(value, 0.0f, 255.0f) : 0.0f);
        }
    }
    return image;
}

ImageGrid::ImageGrid(QWidget* parent) : PaintedView(parent) {
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    setAccessibleName(tr("Samples"));
}

void ImageGrid::setImages(std::vector<GridImage> images) {
    images_ = std::move(images);
    itemsChanged();
}

void ImageGrid::setColumns(int columns) {
    columns_ = columns;
    itemsChanged();
}

void ImageGrid::setCellWidth(int pixels) {
    cell_width_ = pixels;
    itemsChanged();
}

void ImageGrid::setCentredCaptions(bool centred) {
    centred_ = centred;
    itemsChanged();
}

void ImageGrid::setEmptyText(const QString& text) {
    empty_text_ = text;
    update();
}

void ImageGrid::setNotesExpected(bool expected) {
    notes_expected_ = expected;
    updateGeometry();
    update();
}

ImageGrid::Layout ImageGrid::layoutFor(double width) const {
    Layout layout;
    const double wanted = cell_width_ + kImageGapX;
    layout.columns =
        columns_ > 0 ? columns_ : std::max(1, static_cast<int>((width + kImageGapX) / wanted));
    const double fitting = std::floor((width - kImageGapX * (layout.columns - 1)) / layout.columns);
    layout.cell_width =
        columns_ > 0 ? std::max(24.0, std::min<double>(fitting, cell_width_)) : cell_width_;
    const bool notes = notes_expected_ ||
                       std::any_of(images_.begin(), images_.end(),
                                   [](const GridImage& image) { return !image.note.isEmpty(); });
    layout.cell_height =
        layout.cell_width + kImageCaptionGap + lineHeight(TextStyle::Caption) * (notes ? 2.0 : 1.0);
    return layout;
}

QRectF ImageGrid::cellRect(int index, double width) const {
    const Layout layout = layoutFor(width);
    const int column = index % layout.columns;
    const int row = index / layout.columns;
    return {column * (layout.cell_width + kImageGapX), row * (layout.cell_height + kImageGapY),
            layout.cell_width, layout.cell_height};
}

ViewItem ImageGrid::item(int index) const {
    const GridImage& image = images_[static_cast<std::size_t>(index)];
    QString name = image.caption;
    if (!image.value.isEmpty()) {
        name += QLatin1Char(' ') + image.value;
    }
    if (image.wrong) {
        name += tr(", wrong: %1").arg(image.note);
    }
    return {cellRect(index, width()), name, {}};
}

int ImageGrid::heightForWidth(int width) const {
    if (images_.empty()) {
        return 64;
    }
    return static_cast<int>(std::ceil(cellRect(itemCount() - 1, width).bottom())) + 2;
}

QSize ImageGrid::sizeHint() const {
    const int columns = columns_ > 0 ? columns_ : 4;
    const int width = columns * cell_width_ + (columns - 1) * static_cast<int>(kImageGapX);
    return {width, heightForWidth(width)};
}

QSize ImageGrid::minimumSizeHint() const {
    return {cell_width_, cell_width_};
}

int ImageGrid::neighbour(int index, int key) const {
    return gridNeighbour(index, key, layoutFor(width()).columns);
}

void ImageGrid::paintScene(QPainter& painter, const QSizeF& view_size) const {
    const Theme& theme = Theme::current();
    if (images_.empty()) {
        paintText(painter, QRectF(QPointF(0, 0), view_size), Qt::AlignCenter, empty_text_,
                  theme.font(TextStyle::Body), theme.color(Role::Muted));
        return;
    }
    for (int i = 0; i < itemCount(); ++i) {
        paintCell(painter, cellRect(i, view_size.width()), images_[static_cast<std::size_t>(i)]);
    }
}

void ImageGrid::paintCell(QPainter& painter, const QRectF& cell, const GridImage& image) const {
    const Theme& theme = Theme::current();
    const QRectF picture(cell.topLeft(), QSizeF(cell.width(), cell.width()));
    painter.fillRect(picture, theme.color(Role::Inset));
    if (!image.image.isNull()) {
        const QSizeF fitted =
            QSizeF(image.image.size()).scaled(picture.size(), Qt::KeepAspectRatio);
        QRectF place(QPointF(0, 0), fitted);
        place.moveCenter(picture.center());
        // Few pixels shall be seen as pixels, photographs as photographs.
        painter.setRenderHint(QPainter::SmoothPixmapTransform,
                              image.image.width() > fitted.width());
        painter.drawImage(place, image.image);
    }
    const Role role = image.wrong ? Role::Error : Role::Text;
    if (image.wrong) {
        paintSurface(painter, picture.adjusted(-1, -1, 1, 1), 3.0, {}, theme.color(Role::Error),
                     Qt::SolidLine, 2.0);
    }
    const double height = lineHeight(TextStyle::Caption);
    const QFont caption = theme.font(TextStyle::Caption);
    const QFont mono = theme.font(TextStyle::MonoSmall);
    QRectF line(cell.left(), picture.bottom() + kImageCaptionGap, cell.width(), height);
    if (centred_) {
        paintText(painter, line, Qt::AlignHCenter | Qt::AlignVCenter, image.caption, caption,
                  theme.color(role));
        return;
    }
    const double value_width = image.value.isEmpty() ? 0.0 : textWidth(mono, image.value) + 4.0;
    paintText(painter, line.adjusted(0, 0, -value_width, 0), Qt::AlignLeft | Qt::AlignVCenter,
              image.caption, caption, theme.color(role));
    paintText(painter, line, Qt::AlignRight | Qt::AlignVCenter, image.value, mono,
              theme.color(image.wrong ? Role::Error : Role::Muted), Qt::ElideNone);
    line.translate(0, height);
    paintText(painter, line, Qt::AlignLeft | Qt::AlignVCenter, image.note, caption,
              theme.color(Role::Muted));
}

} // namespace weft::widgets
