// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/recent_menu.h"

#include "ui/bridge/convert.h"
#include "ui/studio.h"
#include "widgets/controls/command_palette.h"
#include "widgets/look/icon.h"
#include "widgets/look/menu_text.h"

#include <QCoreApplication>
#include <QDir>

namespace weft::ui {
namespace {

constexpr int kMostFolderLetters = 40;

QString recentWords(const char* text) {
    return QCoreApplication::translate("RecentMenu", text);
}

/// "~/work/houses", of a long one its end.
QString folderText(const std::filesystem::path& folder) {
    QString text = pathText(folder);
    const QString home = QDir::homePath();
    if (text == home || text.startsWith(home + '/')) {
        text = '~' + text.mid(home.size());
    }
    return text.size() > kMostFolderLetters ? QStringLiteral("…") + text.right(kMostFolderLetters)
                                            : text;
}

QString entryText(const RecentPaths::Entry& entry) {
    const QString name = pathText(entry.path.filename());
    return entry.there
               ? QStringLiteral("%1  –  %2").arg(name, folderText(entry.path.parent_path()))
               : recentWords(QT_TRANSLATE_NOOP("RecentMenu", "%1  –  no longer there")).arg(name);
}

} // namespace

QList<QAction*> recentActions(Studio& studio, RecentWords words, QObject* parent) {
    QList<QAction*> actions;
    for (const RecentPaths::Entry& entry : studio.recent().entries()) {
        const QString text = widgets::menuText(entryText(entry));
        auto* action = new QAction(
            widgets::icon(entry.path.has_extension() ? "file" : "folder"),
            words == RecentWords::InMenu
                ? text
                : recentWords(QT_TRANSLATE_NOOP("RecentMenu", "Open recent: %1")).arg(text),
            parent);
        const QString path = pathText(entry.path);
        action->setObjectName("recent." + QString::number(actions.size()));
        action->setEnabled(entry.there);
        action->setToolTip(
            entry.there
                ? path
                : recentWords(QT_TRANSLATE_NOOP("RecentMenu", "%1 is no longer there")).arg(path));
        action->setProperty(widgets::kReasonProperty, action->toolTip());
        QObject::connect(action, &QAction::triggered, &studio, [&studio, path] {
            if (const QString problem = studio.opener().open(toPath(path)); !problem.isEmpty()) {
                emit studio.troubled(problem);
            }
        });
        actions.append(action);
    }
    return actions;
}

RecentMenu::RecentMenu(Studio& studio, QAction* clear, QWidget* parent)
    : QMenu(parent), studio_(studio), clear_(clear) {
    setTitle(tr("Open &recent"));
    setIcon(widgets::icon("clock"));
    setToolTipsVisible(true);
    connect(this, &QMenu::aboutToShow, &studio_.recent(), &RecentPaths::refresh);
    connect(&studio_.recent(), &RecentPaths::changed, this, &RecentMenu::rebuild);
    rebuild();
}

void RecentMenu::rebuild() {
    clear(); // with the entries, which are its own
    addActions(recentActions(studio_, RecentWords::InMenu, this));
    addSeparator();
    addAction(clear_);
    menuAction()->setEnabled(!studio_.recent().entries().empty());
}

} // namespace weft::ui
