// SPDX-License-Identifier: GPL-3.0-or-later
// Asks where to and as what, and writes a chart there.
#pragma once

#include <QString>

class QWidget;

namespace weft::widgets {
class LineChart;
}

namespace weft::ui {

/// The problem, or an empty string: written, or the user changed his mind.
QString export_chart(widgets::LineChart& chart, QWidget* parent, const QString& name);

} // namespace weft::ui
