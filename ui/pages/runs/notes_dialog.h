// SPDX-License-Identifier: GPL-3.0-or-later
// Notes of a run, in as many lines as they need.
#pragma once

#include <QDialog>

class QPlainTextEdit;

namespace weft::ui {

class NotesDialog : public QDialog {
    Q_OBJECT
public:
    NotesDialog(const QString& run, const QString& notes, QWidget* parent = nullptr);
    QString notes() const;

private:
    QPlainTextEdit* text_;
};

} // namespace weft::ui
