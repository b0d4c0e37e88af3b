// SPDX-License-Identifier: GPL-3.0-or-later
// A report as a file, and charts as blocks of one.
#pragma once

#include "ui/pages/runs/report/report_document.h"

namespace weft::widgets {
class LineChart;
} // namespace weft::widgets

namespace weft::ui {

/// False when the file cannot be written; what was there before stays then.
bool writeReportHtml(const Report& report, const QString& path);
/// A4, with the charts as pictures.
bool writeReportPdf(const Report& report, const QString& path);

/// The chart as it is shown now.
ReportBlock frozenChart(widgets::LineChart& chart, const QString& caption);

} // namespace weft::ui
