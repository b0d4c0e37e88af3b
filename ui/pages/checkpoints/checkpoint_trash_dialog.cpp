// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/checkpoints/checkpoint_trash_dialog.h"

#include "ui/bridge/convert.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"

#include <QCheckBox>
#include <QDialogButtonBox>
#include <QPushButton>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

constexpr int kCheckpointTrashDialogWidth = 480;

QString guarded(const CheckpointRow& row) {
    QStringList what;
    if (row.newest) {
        what << QObject::tr("the newest: the run goes on from it");
    }
    if (row.best) {
        what << QObject::tr("the best");
    }
    if (row.pinned) {
        what << QObject::tr("pinned");
    }
    return what.isEmpty()
               ? QString()
               : QObject::tr("Step %1 is %2.").arg(formatCount(row.step), what.join(", "));
}

} // namespace

CheckpointTrashDialog::CheckpointTrashDialog(const std::vector<CheckpointRow>& rows,
                                             QWidget* parent)
    : QDialog(parent) {
    setObjectName("checkpointTrashDialog");
    setMinimumWidth(kCheckpointTrashDialogWidth);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(24, 20, 24, 20);
    column->setSpacing(widgets::space::kGroup);
    std::int64_t bytes = 0;
    QStringList warnings;
    for (const CheckpointRow& row : rows) {
        if (!row.on_disk) {
            continue; // retention removed it before
        }
        folders_.push_back(row.path);
        bytes += row.bytes;
        if (const QString text = guarded(row); !text.isEmpty()) {
            warnings << text;
        }
    }
    const QString title =
        tr("Move %n checkpoint(s) to the trash?", nullptr, static_cast<int>(folders_.size()));
    setWindowTitle(title);
    const auto say = [&](const QString& text, widgets::TextStyle style, widgets::Role role) {
        auto* label = new widgets::TextLabel(text, style, role);
        label->setWordWrap(true);
        column->addWidget(label);
    };
    say(title, widgets::TextStyle::Heading, widgets::Role::Text);
    say(tr("%1 in all. Metrics and curves of the run stay.").arg(formatFileSize(bytes)),
        widgets::TextStyle::Body, widgets::Role::Muted);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
    QPushButton* move = buttons->addButton(tr("Move to trash"), QDialogButtonBox::AcceptRole);
    move->setObjectName("confirmTrash");
    widgets::setButtonKind(move, widgets::ButtonKind::Danger);
    if (!warnings.isEmpty()) {
        say(warnings.join("\n"), widgets::TextStyle::Body, widgets::Role::Warning);
        auto* sure = new QCheckBox(tr("Move it all the same"));
        sure->setObjectName("trashGuarded");
        column->addWidget(sure);
        move->setEnabled(false);
        connect(sure, &QCheckBox::toggled, move, &QPushButton::setEnabled);
    }
    buttons->button(QDialogButtonBox::Cancel)->setDefault(true);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    column->addWidget(buttons);
}

} // namespace weft::ui
