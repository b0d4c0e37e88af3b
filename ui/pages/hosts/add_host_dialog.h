// SPDX-License-Identifier: GPL-3.0-or-later
// A machine to train on: how ssh calls it, and where weft lies there.
#pragma once

#include "core/hosts/host_list.h"

#include <QDialog>

class QLineEdit;
class QPushButton;

namespace weft::ui {

class AddHostDialog : public QDialog {
    Q_OBJECT
public:
    explicit AddHostDialog(QWidget* parent = nullptr);
    hosts::Host host() const;

private:
    QLineEdit* addField(const char* name, const QString& label, const QString& hint);

    QLineEdit* name_;
    QLineEdit* program_;
    QLineEdit* runs_;
    QPushButton* add_;
};

} // namespace weft::ui
