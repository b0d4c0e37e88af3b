// SPDX-License-Identifier: GPL-3.0-or-later
// "Find a field": every field of the configuration by name, path or words of its help.
#pragma once

#include "ui/forms/form_source.h"

#include <QLineEdit>

class QStandardItemModel;

namespace weft::ui {

class FieldFinder : public QLineEdit {
    Q_OBJECT
public:
    explicit FieldFinder(FormSource& source, QWidget* parent = nullptr);

signals:
    void fieldChosen(const std::string& pointer);

private:
    void fill();
    void choose(const QModelIndex& index);

    FormSource& source_;
    QStandardItemModel* fields_;
};

/// Every field that a form can show for the document as it stands: pointers, in the table's order.
std::vector<std::string> allFields(const FormSource& source);

} // namespace weft::ui
