// SPDX-License-Identifier: GPL-3.0-or-later
// Every drawing that a page shows, as a picture in a file; the points of a chart too.
#pragma once

#include <QString>

#include <functional>

class QMenu;
class QPushButton;
class QWidget;

namespace weft::widgets {
class LineChart;
class PaintedView;
} // namespace weft::widgets

namespace weft::ui {

class Page;

/// What came of writing a file; for a short note over the window.
using Written = std::function<void(bool well, const QString& text)>;

/// Asks where to and as what, and writes a drawing there: as a picture, of a chart also as its
/// points. `name` is proposed for the file.
void exportDrawing(widgets::PaintedView& view, const QString& name, const Written& done);
void exportDrawing(widgets::LineChart& chart, const QString& name, const Written& done);
/// Lets a chart offer that, in its menu and by the key E.
void offerExport(widgets::LineChart& chart, std::function<QString()> name, Written done);

/// Adds "Drawing as PNG", "as SVG" and "as PDF" with the painted views that `page` shows now.
/// `name` begins the proposed file names. `page` must outlive the menu.
void addDrawings(QMenu* menu, QWidget* page, const QString& name, const Written& done);

/// "Export" for the head of a page, with them in its menu and `name()` in the names of files.
QPushButton* createExportButton(Page& page, std::function<QString()> name);

/// "memory-over-the-steps" of "Memory over the steps".
QString fileName(const QString& title);
/// "Written to PATH", or that it cannot be written.
QString writtenText(bool well, const QString& path);

} // namespace weft::ui
