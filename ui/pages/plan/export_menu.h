// SPDX-License-Identifier: GPL-3.0-or-later
// What the plan page can hand out: every drawing that is shown, the mesh in its own words and in
// those of other programs, the plan.
#pragma once

#include "core/plan/mesh_formats.h"
#include "ui/bridge/plan/mesh_search.h"

#include <QMenu>

#include <functional>

namespace weft::ui {

/// A run with its plan.
struct PlannedRun {
    compile::RunConfig config;
    std::shared_ptr<const PlanDigest> digest; // null: there is none
};

class ExportMenu : public QMenu {
    Q_OBJECT
public:
    /// Drawings are looked for among the children of `page`, which must outlive the menu; `shown`
    /// gives what the page shows.
    ExportMenu(QWidget* page, std::function<PlannedRun()> shown, QWidget* parent = nullptr);

signals:
    /// It has been written or copied, or it has not; for a short note over the window.
    void done(bool well, const QString& text);

private:
    void rebuild();
    QString path(const QString& title, const QString& name, const QString& suffix);
    void copyMesh(const plan::MeshFormatDef& format);
    void saveMesh(const plan::MeshFormatDef& format);
    void savePlan();

    QWidget* page_;
    std::function<PlannedRun()> shown_;
};

} // namespace weft::ui
