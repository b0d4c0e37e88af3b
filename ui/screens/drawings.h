// SPDX-License-Identifier: GPL-3.0-or-later
// Every drawing that a page shows, as a picture in a file.
#pragma once

#include <QString>

#include <functional>

class QMenu;
class QWidget;

namespace weft::ui {

/// What came of writing a file; for a short note over the window.
using Written = std::function<void(bool well, const QString& text)>;

/// Adds "Drawing as PNG" and "Drawing as SVG" with the painted views that `page` shows now. `name`
/// begins the proposed file names. `page` must outlive the menu.
void addDrawings(QMenu* menu, QWidget* page, const QString& name, const Written& done);

/// "memory-over-the-steps" of "Memory over the steps".
QString fileName(const QString& title);
/// "Written to PATH", or that it cannot be written.
QString writtenText(bool well, const QString& path);

} // namespace weft::ui
