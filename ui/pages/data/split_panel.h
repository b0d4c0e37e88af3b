// SPDX-License-Identifier: GPL-3.0-or-later
// Where validation samples come from: a share of the training samples, a source of their own, or
// none.
#pragma once

#include "core/config/field.h"
#include "ui/bridge/data/data_preview.h"

#include <QWidget>

class QDoubleSpinBox;
class QSlider;
class QVBoxLayout;

namespace weft::widgets {
class SegmentedControl;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class EditorPanel;
class FormSource;

class SplitPanel : public QWidget {
    Q_OBJECT
public:
    SplitPanel(FormSource& source, Draft& draft, DataPreview& preview, QWidget* parent = nullptr);

private:
    QWidget* createShare();
    void update();
    void showOwn(bool own);
    void describe();
    void choose(int kind);
    void setShare(double percent);

    FormSource& source_;
    Draft& draft_;
    DataPreview& preview_;
    config::Json own_ = nullptr; // the source of its own that was there before another kind
    double share_ = 0.1;         // the share before another kind
    widgets::SegmentedControl* kind_;
    QWidget* line_;
    QSlider* slider_;
    QDoubleSpinBox* percent_;
    QVBoxLayout* own_place_;
    EditorPanel* own_editor_ = nullptr; // while there is a source of its own
    widgets::TextLabel* says_;
};

} // namespace weft::ui
