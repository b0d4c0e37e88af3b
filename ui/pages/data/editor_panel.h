// SPDX-License-Identifier: GPL-3.0-or-later
// One field of the draft under a heading of the page.
#pragma once

#include "ui/forms/field_editor.h"
#include "ui/forms/problem_lines.h"

namespace weft::ui {

class EditorPanel : public QWidget {
    Q_OBJECT
public:
    /// Edits `pointer` as `field` describes it, which may be narrower than the table does.
    EditorPanel(FormSource& source, config::Field field, const std::string& pointer,
                const QString& title, QWidget* parent = nullptr);

private:
    void refresh();

    FormSource& source_;
    const config::Field field_;
    FieldEditor* editor_;
    ProblemLines* problems_;
};

} // namespace weft::ui
