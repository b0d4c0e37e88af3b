// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/screens/plan/export_menu.h"

#include "core/compile/mesh_recipe.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "widgets/icon.h"
#include "widgets/painted_view.h"

#include <QClipboard>
#include <QFileDialog>
#include <QGuiApplication>
#include <QPointer>
#include <QSaveFile>

#include <algorithm>

namespace weft::ui {
namespace {

/// "memory-over-the-steps"
QString fileName(const QString& title) {
    QString out = title.toLower();
    for (QChar& c : out) {
        c = c.isLetterOrNumber() ? c : QLatin1Char('-');
    }
    return out;
}

QString meshText(const PlannedRun& run, plan::MeshFormat format) {
    return toQString(
        plan::write_mesh_as(format, *run.digest->plan, compile::mesh_recipe(run.config)));
}

QString written(const QString& path) {
    return ExportMenu::tr("Written to %1").arg(path);
}

QString notWritten(const QString& path) {
    return ExportMenu::tr("%1 cannot be written").arg(path);
}

} // namespace

ExportMenu::ExportMenu(QWidget* page, std::function<PlannedRun()> shown, QWidget* parent)
    : QMenu(parent), page_(page), shown_(std::move(shown)) {
    connect(this, &QMenu::aboutToShow, this, &ExportMenu::rebuild);
    rebuild();
}

std::vector<widgets::PaintedView*> ExportMenu::drawings() const {
    std::vector<widgets::PaintedView*> out;
    for (auto* view : page_->findChildren<widgets::PaintedView*>()) {
        if (view->isVisible() && view->itemCount() > 0) {
            out.push_back(view);
        }
    }
    return out;
}

void ExportMenu::rebuild() {
    clear();
    qDeleteAll(findChildren<QMenu*>(QString(), Qt::FindDirectChildrenOnly));
    for (const char* suffix : {"png", "svg"}) {
        QMenu* menu = addMenu(tr("Drawing as %1").arg(QString(suffix).toUpper()));
        menu->setObjectName(QStringLiteral("exportDrawing_%1").arg(suffix));
        for (widgets::PaintedView* view : drawings()) {
            QAction* action = menu->addAction(tr("%1…").arg(view->accessibleName()));
            connect(action, &QAction::triggered, this,
                    [this, view = QPointer<widgets::PaintedView>(view), suffix] {
                        if (view) {
                            saveDrawing(view, suffix);
                        }
                    });
        }
        menu->setEnabled(!menu->isEmpty());
    }
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
    return QFileDialog::getSaveFileName(page_, title, run + QLatin1Char('-') + name + '.' + suffix,
                                        "*." + suffix);
}

void ExportMenu::saveDrawing(widgets::PaintedView* view, const QString& suffix) {
    const QString name = view->accessibleName();
    const QString file = path(tr("Export %1").arg(name), fileName(name), suffix);
    if (!file.isEmpty()) {
        const bool well = suffix == "svg" ? view->exportSvg(file) : view->exportPng(file);
        emit done(well, well ? written(file) : notWritten(file));
    }
}

void ExportMenu::copyMesh(const plan::MeshFormatDef& format) {
    const PlannedRun run = shown_();
    if (run.digest) {
        QGuiApplication::clipboard()->setText(meshText(run, format.format));
        emit done(true, tr("The mesh is in the clipboard as %1").arg(toQString(format.title)));
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
    const QByteArray text = meshText(run, format.format).toUtf8();
    const bool well =
        out.open(QIODevice::WriteOnly) && out.write(text) == text.size() && out.commit();
    emit done(well, well ? written(file) : notWritten(file));
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
            emit done(problem.isEmpty(), problem.isEmpty() ? written(file) : problem);
        });
}

} // namespace weft::ui
