// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/draft/command_text.h"

#include "ui/bridge/convert.h"

#include <QRegularExpression>

namespace weft::ui {

QString shellQuoted(const QString& word) {
    static const QRegularExpression kPlain("^[A-Za-z0-9_@%+=:,./-]+$");
    if (kPlain.match(word).hasMatch()) {
        return word;
    }
    QString inside = word;
    return "'" + inside.replace("'", "'\\''") + "'";
}

QString trainCommand(const Draft& draft) {
    QStringList words = {"weft", "train", shellQuoted(pathText(draft.path()))};
    const compile::CheckedRun saved = compile::read_run_config(
        std::string_view(draft.savedText()), draft.baseDir(), {}, draft.dataLook());
    if (saved.ok()) {
        for (const compile::FieldChange& change : compile::compare(saved.config, draft.config())) {
            words.append("--set");
            words.append(shellQuoted(toQString(change.path + "=" + change.after.dump())));
        }
    }
    return words.join(' ');
}

} // namespace weft::ui
