// SPDX-License-Identifier: GPL-3.0-or-later
// Small drawing helpers that the painted widgets share. All take colours from Theme::current().
#pragma once

#include "widgets/look/theme.h"

#include <QBrush>
#include <QPainter>
#include <QPainterPath>
#include <QPolygonF>
#include <QRectF>

namespace weft::widgets {

/// Of what is still shown but no longer holds.
inline constexpr double kStaleOpacity = 0.45;
/// Side of the square of colour before a name in a legend.
inline constexpr double kSwatch = 10.0;

/// Filled rounded rectangle with a 1-px inner border (no border for an invalid colour).
void paintSurface(QPainter& painter, const QRectF& rect, double radius, const QColor& fill,
                  const QColor& border, Qt::PenStyle style = Qt::SolidLine, double width = 1.0);
/// The 2-px accent outline that shows keyboard focus, inside `rect`.
void paintFocus(QPainter& painter, const QRectF& rect, double radius);
/// A 1-px line exactly on device pixels, horizontal or vertical.
void paintHairline(QPainter& painter, const QPointF& from, const QPointF& to, const QColor& color);
/// Text on one line, elided at the right when it does not fit.
void paintText(QPainter& painter, const QRectF& rect, Qt::Alignment alignment, const QString& text,
               const QFont& font, const QColor& color, Qt::TextElideMode elide = Qt::ElideRight);
double textWidth(const QFont& font, const QString& text);
/// The text colour that is read best on a fill.
QColor readableOn(const QColor& fill);
/// 1, 2 or 5 times a power of ten: the distance of at most `most` ticks over a span.
double tickStep(double span, double most);
/// Height of a line of text, up to whole pixels.
double lineHeight(TextStyle style);
/// Height of a line of Caption as the font has it; charts place their labels by it.
double captionHeight();

QPolygonF starPolygon(const QPointF& center, double radius);
QPolygonF trianglePolygon(const QPointF& center, double radius);
/// The bookmark shape of a checkpoint, its foot at `foot`.
QPainterPath flagPath(const QPointF& foot, double width, double height);

/// Fills with a solid colour, diagonal hatch or dots that do not depend on device scale.
void paintFill(QPainter& painter, const QRectF& rect, const QColor& color, Fill fill);

/// "1,412" with thousands separators.
QString formatCount(qint64 value);
/// "1,412.50" with so many decimals.
QString formatDecimals(double value, int decimals);
/// "130.2 MB" (powers of 1000) as files are named.
QString formatFileSize(qint64 bytes);
/// "80.1 MiB" (powers of 1024) as memory is named.
QString formatMemory(qint64 bytes);
/// Short number for axes and read-outs: "0.500", "1,200", "5e-4", "-".
QString formatNumber(double value, int significant = 3);
/// "38 s", "3 m 49 s", "2 h 05 m", "9 days".
QString formatDuration(double seconds);

} // namespace weft::widgets
