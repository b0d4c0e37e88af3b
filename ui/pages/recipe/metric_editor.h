// SPDX-License-Identifier: GPL-3.0-or-later
// Which metric of which split a run is judged by: one of those that it reports.
#pragma once

#include "ui/forms/field_editor.h"

class QComboBox;

namespace weft::ui {

class MetricEditor : public FieldEditor {
    Q_OBJECT
public:
    MetricEditor(FormSource& source, const config::Field& field, const std::string& pointer);
    void refresh() override;
    void setInvalid(bool invalid) override;

private:
    void choose(int index);
    QStringList reported() const;

    QComboBox* names_;
};

/// A MetricEditor for fields called "metric", else the editor by the field's type.
FieldEditor* createTrainingEditor(FormSource& source, const config::Field& field,
                                  const std::string& pointer);

} // namespace weft::ui
