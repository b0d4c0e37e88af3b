// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/runs/trash_dialog.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/run/run_facts.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"

#include <QDialogButtonBox>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr int kTrashDialogWidth = 520;
constexpr std::size_t kMostNamed = 8;

QString runLine(const train::RunSummary& run) {
    QString line = QObject::tr("%1: %2 steps, %3")
                       .arg(nameOf(run), formatCount(run.step), formatFileSize(run.bytes));
    if (run.last_checkpoint_step >= 0) {
        line += QObject::tr(", with its checkpoints");
    }
    return line;
}

bool is_child(const train::RunSummary& run, const train::RunSummary& parent) {
    return !run.info.parent.empty() &&
           (std::filesystem::path(run.info.parent).filename() == parent.folder.filename() ||
            run.info.parent == parent.info.id);
}

} // namespace

TrashDialog::TrashDialog(const std::vector<train::RunSummary>& chosen,
                         const std::vector<train::RunSummary>& all, QWidget* parent)
    : QDialog(parent) {
    setObjectName("trashDialog");
    setMinimumWidth(kTrashDialogWidth);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(24, 20, 24, 20);
    column->setSpacing(widgets::space::kGroup);
    const auto say = [&](const QString& text, widgets::TextStyle style, widgets::Role role) {
        auto* label = new widgets::TextLabel(text, style, role);
        label->setWordWrap(true);
        column->addWidget(label);
    };
    QStringList lines;
    QStringList staying;
    std::int64_t bytes = 0;
    for (const train::RunSummary& run : chosen) {
        if (isBeingWritten(run)) {
            staying << nameOf(run);
            continue;
        }
        folders_.push_back(run.folder);
        bytes += run.bytes;
        if (lines.size() < static_cast<qsizetype>(kMostNamed)) {
            lines << runLine(run);
        }
    }
    const auto count = static_cast<int>(folders_.size());
    const QString title = count == 0 ? tr("Nothing can be moved")
                                     : tr("Move %n run(s) to the trash?", nullptr, count);
    setWindowTitle(title);
    say(title, widgets::TextStyle::Heading, widgets::Role::Text);
    if (count > static_cast<int>(lines.size())) {
        lines << tr("and %1 more").arg(count - lines.size());
    }
    if (count > 0) {
        say(lines.join("\n"), widgets::TextStyle::Body, widgets::Role::Text);
        say(tr("Configuration, curves, samples and checkpoints go together, %1 in all. They can be "
               "brought back from the trash until it is emptied.")
                .arg(formatFileSize(bytes)),
            widgets::TextStyle::Body, widgets::Role::Muted);
    }
    const auto children = std::count_if(all.begin(), all.end(), [&](const auto& run) {
        const bool goes = std::find(folders_.begin(), folders_.end(), run.folder) != folders_.end();
        return !goes && std::any_of(chosen.begin(), chosen.end(), [&](const auto& parent_run) {
            return is_child(run, parent_run);
        });
    });
    if (children > 0 && count > 0) {
        say(tr("%n run(s) that were forked from them stay and keep their own checkpoints.", nullptr,
               static_cast<int>(children)),
            widgets::TextStyle::Body, widgets::Role::Muted);
    }
    if (!staying.isEmpty()) {
        say(tr("Being written, so it stays: %1. Stop it first.").arg(staying.join(", ")),
            widgets::TextStyle::Body, widgets::Role::Warning);
    }
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
    QPushButton* move = buttons->addButton(tr("Move to trash"), QDialogButtonBox::AcceptRole);
    move->setObjectName("confirmTrash");
    move->setEnabled(count > 0);
    widgets::setButtonKind(move, widgets::ButtonKind::Danger);
    buttons->button(QDialogButtonBox::Cancel)->setDefault(true);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    column->addWidget(buttons);
}

} // namespace weft::ui
