// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/runs/notes_dialog.h"

#include <QDialogButtonBox>
#include <QPlainTextEdit>
#include <QShortcut>
#include <QVBoxLayout>

namespace weft::ui {

NotesDialog::NotesDialog(const QString& run, const QString& notes, QWidget* parent)
    : QDialog(parent) {
    setObjectName("notesDialog");
    setWindowTitle(tr("Notes of %1").arg(run));
    auto* column = new QVBoxLayout(this);
    text_ = new QPlainTextEdit(notes);
    text_->setObjectName("notesText");
    text_->setAccessibleName(tr("Notes"));
    text_->setTabChangesFocus(true);
    column->addWidget(text_, 1);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Save | QDialogButtonBox::Cancel);
    column->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* save = new QShortcut(QKeySequence(Qt::CTRL | Qt::Key_Return), this);
    connect(save, &QShortcut::activated, this, &QDialog::accept);
    text_->moveCursor(QTextCursor::End);
    text_->setFocus();
    resize(480, 260);
}

QString NotesDialog::notes() const {
    return text_->toPlainText();
}

} // namespace weft::ui
