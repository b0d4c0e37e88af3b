// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/export_menu.h"

#include "core/compile/mesh/mesh_recipe.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "ui/file_dialog.h"
#include "ui/pages/drawings.h"
#include "widgets/look/icon.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QSaveFile>

#include <algorithm>

namespace weft::ui {
namespace {

QString exportedMeshText(const PlannedRun& run, plan::MeshFormat format) {
    return toQString(
        plan::write_mesh_as(format, *run.digest->plan, compile::mesh_recipe(run.config)));
}

} // namespace

ExportMenu::ExportMenu(QWidget* page, std::function<PlannedRun()> shown, QWidget* parent)
    : QMenu(parent), page_(page), shown_(std::move(shown)) {
    connect(this, &QMenu::aboutToShow, this, &ExportMenu::rebuild);
    rebuild();
}

void ExportMenu::rebuild() {
    clear();
    qDeleteAll(findChildren<QMenu*>(QString(), Qt::FindDirectChildrenOnly));
    addDrawings(this, page_, toQString(shown_().config.name),
                [this](bool well, const QString& text) { emit done(well, text); });
    addSeparator();
    QMenu* copy = addMenu(widgets::icon("copy"), tr("Copy the mesh as"));
    copy->setObjectName("exportCopy");
    QMenu* save = addMenu(tr("Save the mesh as"));
    save->setObjectName("exportSave");
    for (const plan::MeshFormatDef& format : plan::kMeshFormats) {
        const QString title = toQString(format.title);
        QAction* to_clipboard = copy->addAction(title);
        to_clipboard->setObjectName("copy_" + toQString(format.name));
        connect(to_clipboard, &QAction::triggered, this, [this, &format] { copyMesh(format); });
        connect(save->addAction(tr("%1…").arg(title)), &QAction::triggered, this,
                [this, &format] { saveMesh(format); });
    }
    addSeparator();
    QAction* plan = addAction(tr("Plan as JSON…"));
    connect(plan, &QAction::triggered, this, &ExportMenu::savePlan);
    const bool planned = shown_().digest != nullptr;
    copy->setEnabled(planned);
    save->setEnabled(planned);
    plan->setEnabled(planned);
}

QString ExportMenu::path(const QString& title, const QString& name, const QString& suffix) {
    const QString run = toQString(shown_().config.name);
    return askForPlace(page_, {title, FileUse::Export, "*." + suffix,
                               run + QLatin1Char('-') + name + '.' + suffix});
}

void ExportMenu::copyMesh(const plan::MeshFormatDef& format) {
    const PlannedRun run = shown_();
    if (run.digest) {
        QGuiApplication::clipboard()->setText(exportedMeshText(run, format.format));
        emit done(true, tr("The mesh is on the clipboard as %1").arg(toQString(format.title)));
    }
}

void ExportMenu::saveMesh(const plan::MeshFormatDef& format) {
    const PlannedRun run = shown_();
    if (!run.digest) {
        return;
    }
    const QString file = path(tr("Save the mesh as %1").arg(toQString(format.title)),
                              QStringLiteral("mesh"), toQString(format.suffix));
    if (file.isEmpty()) {
        return;
    }
    QSaveFile out(file);
    const QByteArray text = exportedMeshText(run, format.format).toUtf8();
    const bool well =
        out.open(QIODevice::WriteOnly) && out.write(text) == text.size() && out.commit();
    emit done(well, writtenText(well, file));
}

void ExportMenu::savePlan() {
    const PlannedRun run = shown_();
    if (!run.digest) {
        return;
    }
    const QString file = path(tr("Export plan"), QStringLiteral("plan"), QStringLiteral("json"));
    if (file.isEmpty()) {
        return;
    }
    runInBackground(
        this, [digest = run.digest, file] { return writePlan(*digest->plan, toPath(file)); },
        [this, file](const QString& problem) {
            emit done(problem.isEmpty(), problem.isEmpty() ? writtenText(true, file) : problem);
        });
}

} // namespace weft::ui
