// SPDX-License-Identifier: GPL-3.0-or-later
// Whether a run ends when its metric stops improving: as the data suggests, by rules of one's own,
// or never.
#pragma once

#include "ui/forms/field_editor.h"

namespace weft::widgets {
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class FieldGroup;
class ProblemLines;

class StoppingPanel : public FieldEditor {
    Q_OBJECT
public:
    explicit StoppingPanel(FormSource& source);
    void refresh() override;

private:
    void choose(int index);
    /// What a patience comes to in the unit in which evaluations are counted.
    QString patienceText() const;

    widgets::SegmentedControl* choice_;
    widgets::TextLabel* words_;
    FieldGroup* rules_;
    ProblemLines* problems_;
    config::Json last_ = config::Json::object(); // rules, for when they are wanted again
};

} // namespace weft::ui
