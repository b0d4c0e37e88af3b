// SPDX-License-Identifier: GPL-3.0-or-later
// Measuring this machine: when that was done last, a button that does it, and how far it is.
#pragma once

#include <QWidget>

class QPushButton;

namespace weft::widgets {
class ProgressLine;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class Studio;

class MeasureBox : public QWidget {
    Q_OBJECT
public:
    explicit MeasureBox(Studio& studio, QWidget* parent = nullptr);

private:
    void toggle();
    void follow();

    Studio& studio_;
    QString problem_; // of the last measurement
    widgets::TextLabel* machine_;
    widgets::TextLabel* state_;
    widgets::ProgressLine* progress_;
    QPushButton* button_;
};

} // namespace weft::ui
