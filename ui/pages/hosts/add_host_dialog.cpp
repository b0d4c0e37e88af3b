// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/hosts/add_host_dialog.h"

#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"

#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

namespace weft::ui {

AddHostDialog::AddHostDialog(QWidget* parent) : QDialog(parent) {
    setObjectName("addHostDialog");
    setWindowTitle(tr("Add a host"));
    auto* column = new QVBoxLayout(this);
    column->setSpacing(12);
    auto* words = new widgets::TextLabel(
        tr("A machine that your OpenSSH reaches with a key and without a question. The same "
           "version of Weft has to be there."),
        widgets::TextStyle::Body, widgets::Role::Muted);
    words->setWordWrap(true);
    column->addWidget(words);
    auto* form = new QFormLayout;
    column->addLayout(form);
    name_ = addField("hostName", tr("Host"), tr("gpu-box, or you@10.0.0.14"));
    program_ = addField("hostProgram", tr("Program"), tr("weft, as its PATH finds it"));
    runs_ = addField("hostRuns", tr("Folder of runs"), tr("WeftRuns in the home folder there"));
    form->addRow(tr("Host"), name_);
    form->addRow(tr("Program"), program_);
    form->addRow(tr("Folder of runs"), runs_);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
    // Return adds: a button that is dim at first would not be the default.
    buttons->button(QDialogButtonBox::Cancel)->setAutoDefault(false);
    add_ = buttons->addButton(tr("Add"), QDialogButtonBox::AcceptRole);
    add_->setObjectName("addHostAccept");
    add_->setDefault(true);
    widgets::setButtonKind(add_, widgets::ButtonKind::Primary);
    add_->setEnabled(false);
    column->addWidget(buttons);
    connect(name_, &QLineEdit::textChanged, this,
            [this](const QString& text) { add_->setEnabled(!text.trimmed().isEmpty()); });
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    name_->setFocus();
    resize(460, sizeHint().height());
}

QLineEdit* AddHostDialog::addField(const char* name, const QString& label, const QString& hint) {
    auto* field = new QLineEdit;
    field->setObjectName(name);
    field->setAccessibleName(label);
    field->setPlaceholderText(hint);
    return field;
}

hosts::Host AddHostDialog::host() const {
    hosts::Host out;
    out.name = name_->text().trimmed().toStdString();
    if (const QString program = program_->text().trimmed(); !program.isEmpty()) {
        out.program = program.toStdString();
    }
    out.runs = runs_->text().trimmed().toStdString();
    return out;
}

} // namespace weft::ui
