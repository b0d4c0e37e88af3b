// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/maps/matrix_view.h"

#include "widgets/maps/value_colour.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kMatrixGap = 6;
constexpr double kMostMatrixName = 84;
constexpr double kLeastColumnGap = 4; // between numbers that stand side by side

double widestName(const QStringList& names, int count, const QFont& font) {
    double out = textWidth(font, QString::number(std::max(0, count - 1)));
    for (const QString& name : names) {
        out = std::max(out, textWidth(font, name));
    }
    return std::ceil(std::min(out, kMostMatrixName));
}

/// So many places between two names that they do not touch: 1, 2, 5, 10, ...
int stride(double each, double needed) {
    int out = 1;
    for (int round = 0; out * each < needed; ++round) {
        out = round % 3 == 1 ? out / 2 * 5 : out * 2;
    }
    return out;
}

} // namespace

MatrixView::MatrixView(QWidget* parent) : PaintedView(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void MatrixView::setMatrix(NamedMatrix matrix, std::function<QString(int, int)> words) {
    matrix_ = std::move(matrix);
    words_ = std::move(words);
    picture_ = {};
    const QFont font = Theme::current().font(TextStyle::MonoSmall);
    row_names_ = widestName(matrix_.row_names, matrix_.rows, font);
    column_names_ = widestName(matrix_.column_names, matrix_.columns, font);
    chosen_row_ = std::min(chosen_row_, matrix_.rows - 1);
    itemsChanged();
}

void MatrixView::setChosenRow(int row) {
    chosen_row_ = row;
    update();
}

QString MatrixView::rowName(int row) const {
    return row < matrix_.row_names.size() ? matrix_.row_names[row] : QString::number(row);
}

QString MatrixView::columnName(int column) const {
    return column < matrix_.column_names.size() ? matrix_.column_names[column]
                                                : QString::number(column);
}

// Names of columns stand upright over narrow ones, else across.
QRectF MatrixView::plot(const QSizeF& view_size) const {
    const double left = row_names_ + kMatrixGap;
    const double above =
        (matrix_.column_names.isEmpty() ? captionHeight() : column_names_) + kMatrixGap;
    QRectF out(left, above, std::max(1.0, view_size.width() - left - 1),
               std::max(1.0, view_size.height() - above - 1));
    if (matrix_.square && matrix_.rows > 0) {
        const double cell = std::min(out.width() / matrix_.columns, out.height() / matrix_.rows);
        out.setSize({cell * matrix_.columns, cell * matrix_.rows});
    }
    return out;
}

ViewItem MatrixView::item(int index) const {
    const QRectF room = plot(size());
    const int row = index / matrix_.columns;
    const int column = index % matrix_.columns;
    const double width = room.width() / matrix_.columns;
    const double height = room.height() / matrix_.rows;
    return {QRectF(room.left() + column * width, room.top() + row * height, width, height),
            words_ ? words_(row, column) : QString(),
            {}};
}

int MatrixView::hitTest(const QPointF& position) const {
    const QRectF room = plot(size());
    if (itemCount() == 0 || !room.contains(position)) {
        return -1;
    }
    const auto place = [](double at, double extent, int count) {
        return std::clamp(static_cast<int>(at / extent * count), 0, count - 1);
    };
    return place(position.y() - room.top(), room.height(), matrix_.rows) * matrix_.columns +
           place(position.x() - room.left(), room.width(), matrix_.columns);
}

int MatrixView::neighbour(int index, int key) const {
    const bool at_edge = (key == Qt::Key_Left && index % matrix_.columns == 0) ||
                         (key == Qt::Key_Right && index % matrix_.columns == matrix_.columns - 1);
    return at_edge ? index : gridNeighbour(index, key, matrix_.columns);
}

const QImage& MatrixView::picture() const {
    if (!picture_.isNull() || itemCount() == 0) {
        return picture_;
    }
    picture_ = QImage(matrix_.columns, matrix_.rows, QImage::Format_RGB32);
    const ValueShades shades(matrix_.rooted);
    const float most = matrix_.most > 0 ? matrix_.most : 1.0F;
    for (int row = 0; row < matrix_.rows; ++row) {
        auto* const line = reinterpret_cast<QRgb*>(picture_.scanLine(row));
        const float* const values =
            matrix_.values.data() + static_cast<std::ptrdiff_t>(row) * matrix_.columns;
        for (int column = 0; column < matrix_.columns; ++column) {
            line[column] = shades.of(values[column] / most);
        }
    }
    return picture_;
}

void MatrixView::paintScene(QPainter& painter, const QSizeF& view_size) const {
    const Theme& theme = Theme::current();
    if (itemCount() == 0) {
        return;
    }
    const QRectF room = plot(view_size);
    painter.save();
    painter.setRenderHint(QPainter::SmoothPixmapTransform,
                          picture().width() > room.width() || picture().height() > room.height());
    painter.drawImage(room, picture());
    painter.restore();
    paintMissing(painter, room);
    paintNames(painter, room);
    const double height = room.height() / matrix_.rows;
    painter.setBrush(Qt::NoBrush);
    if (chosen_row_ >= 0) {
        painter.setPen(QPen(theme.color(Role::Text), 1));
        painter.drawRect(QRectF(room.left(), room.top() + chosen_row_ * height, room.width(),
                                std::max(2.0, height))
                             .adjusted(0.5, 0.5, -0.5, -0.5));
    }
    if (hoveredItem() >= 0) {
        painter.setPen(QPen(theme.color(Role::Muted), 1));
        painter.drawRect(item(hoveredItem()).rect);
    }
}

void MatrixView::paintMissing(QPainter& painter, const QRectF& room) const {
    if (matrix_.first.empty()) {
        return;
    }
    const double width = room.width() / matrix_.columns;
    const double height = room.height() / matrix_.rows;
    QPainterPath path;
    for (int row = 0; row < matrix_.rows; ++row) {
        const auto at = static_cast<std::size_t>(row);
        const double y = room.top() + row * height;
        const double from = room.left() + matrix_.first[at] * width;
        const double to = room.left() + matrix_.end[at] * width;
        if (from > room.left()) {
            path.addRect(QRectF(room.left(), y, from - room.left(), height));
        }
        if (to < room.right()) {
            path.addRect(QRectF(to, y, room.right() - to, height));
        }
    }
    if (path.isEmpty()) {
        return;
    }
    const Theme& theme = Theme::current();
    painter.save();
    painter.fillPath(path, theme.color(Role::Surface));
    painter.setClipPath(path, Qt::IntersectClip);
    paintFill(painter, room, theme.color(Role::Border), Fill::Hatched);
    painter.restore();
}

void MatrixView::paintNames(QPainter& painter, const QRectF& room) const {
    const Theme& theme = Theme::current();
    const QFont font = theme.font(TextStyle::MonoSmall);
    const double line = captionHeight();
    const double height = room.height() / matrix_.rows;
    const double width = room.width() / matrix_.columns;
    const QColor muted = theme.color(Role::Muted);
    for (int row = 0; row < matrix_.rows; row += stride(height, line - 2)) {
        const double y = room.top() + (row + 0.5) * height - line / 2;
        paintText(painter, QRectF(0, y, room.left() - kMatrixGap, line),
                  Qt::AlignRight | Qt::AlignVCenter, rowName(row), font,
                  row == chosen_row_ ? theme.color(Role::Text) : muted);
    }
    const bool upright = !matrix_.column_names.isEmpty();
    const int step = stride(width, upright ? line - 2 : column_names_ + kLeastColumnGap);
    for (int column = 0; column < matrix_.columns; column += step) {
        const double x = room.left() + (column + 0.5) * width;
        if (!upright && x + column_names_ / 2 > room.right()) {
            break; // it would be cut
        }
        if (!upright) {
            paintText(painter, QRectF(x - column_names_, 0, 2 * column_names_, line),
                      Qt::AlignCenter, columnName(column), font, muted);
            continue;
        }
        painter.save();
        painter.translate(x, room.top() - kMatrixGap);
        painter.rotate(-90);
        paintText(painter, QRectF(0, -line / 2, column_names_, line),
                  Qt::AlignLeft | Qt::AlignVCenter, columnName(column), font, muted);
        painter.restore();
    }
}

void MatrixView::changeEvent(QEvent* event) {
    picture_ = {}; // another theme
    PaintedView::changeEvent(event);
}

} // namespace weft::widgets
