// SPDX-License-Identifier: GPL-3.0-or-later
// What is wrong now: the draft's diagnostics, and the failure and warnings of the run on screen.
#pragma once

#include "ui/models/table_model.h"

#include <vector>

namespace weft::ui {

class Studio;

struct Problem {
    bool error = true;
    QString source; // "draft" or the run's name
    QString where;  // the draft: the field, in words; a run: op or file
    int line = 0;   // of the draft's text, from 1; 0: none
    int column = 0;
    QString message;
    QString hint;
    QString pointer; // of the draft's field
};

class ProblemModel : public TableModel<Problem> {
    Q_OBJECT
public:
    enum Column { SourceColumn, WhereColumn, LineColumn, MessageColumn, HintColumn, ColumnCount };

    explicit ProblemModel(Studio& studio, QObject* parent = nullptr);

    int errors() const;
    int warnings() const;

    QVariant data(const QModelIndex& index, int role) const override;

signals:
    void countChanged();

private:
    void rebuild();

    Studio& studio_;
};

} // namespace weft::ui
