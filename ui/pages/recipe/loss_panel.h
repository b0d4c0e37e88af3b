// SPDX-License-Identifier: GPL-3.0-or-later
// The loss of the draft: its form, and below it what it makes of an output, with its slope.
#pragma once

#include "ui/forms/form_source.h"

#include <QWidget>

namespace weft::widgets {
class LineChart;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class Draft;
class NumberInput;

class LossPanel : public QWidget {
    Q_OBJECT
public:
    LossPanel(FormSource& source, Draft& draft);

private:
    void refresh();
    void offerWords();
    void draw();

    Draft& draft_;
    widgets::LineChart* chart_;
    widgets::TextLabel* said_;
    QWidget* target_row_;
    NumberInput* target_;
    config::Json drawn_; // the section that the picture is of
    double target_now_ = 0;
};

} // namespace weft::ui
