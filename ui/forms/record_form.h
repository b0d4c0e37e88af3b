// SPDX-License-Identifier: GPL-3.0-or-later
// A record of the draft without a name above it, for a place that has its own title: type, fields,
// and what is wrong with the record as a whole. Follows the draft.
#pragma once

#include "ui/forms/record_editor.h"

namespace weft::ui {

class ProblemLines;

class RecordForm : public QWidget {
    Q_OBJECT
public:
    /// `skip` and `guests` as a TableForm has them.
    RecordForm(FormSource& source, const std::string& pointer, std::vector<std::string> skip = {},
               std::vector<std::string> guests = {}, QWidget* parent = nullptr);

private:
    void refresh();

    FormSource& source_;
    RecordEditor* editor_;
    ProblemLines* lines_;
};

} // namespace weft::ui
