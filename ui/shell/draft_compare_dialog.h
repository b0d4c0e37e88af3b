// SPDX-License-Identifier: GPL-3.0-or-later
// Which fields of the draft differ from the run on screen, and what each difference would mean for
// a resume.
#pragma once

#include <QDialog>

namespace weft::ui {

class Draft;
class RunModel;

class DraftCompareDialog : public QDialog {
    Q_OBJECT
public:
    DraftCompareDialog(const Draft& draft, const RunModel& run, QWidget* parent = nullptr);
};

} // namespace weft::ui
