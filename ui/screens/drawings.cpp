// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/screens/drawings.h"

#include "widgets/menu_text.h"
#include "widgets/painted_view.h"

#include <QCoreApplication>
#include <QFileDialog>
#include <QMenu>
#include <QPointer>

#include <algorithm>
#include <vector>

namespace weft::ui {
namespace {

QString words(const char* text) {
    return QCoreApplication::translate("Drawings", text);
}

/// What the page shows, as it is read: from top to bottom.
std::vector<widgets::PaintedView*> drawingsOf(const QWidget* page) {
    std::vector<widgets::PaintedView*> out;
    for (auto* view : page->findChildren<widgets::PaintedView*>()) {
        if (view->isVisible() && view->itemCount() > 0) {
            out.push_back(view);
        }
    }
    const auto place = [page](const widgets::PaintedView* view) {
        const QPoint at = view->mapTo(page, QPoint());
        return std::pair(at.y(), at.x());
    };
    std::stable_sort(out.begin(), out.end(),
                     [&](const auto* a, const auto* b) { return place(a) < place(b); });
    return out;
}

void save(QWidget* page, widgets::PaintedView* view, const QString& name, const QString& suffix,
          const Written& done) {
    const QString title = view->accessibleName();
    const QString path = QFileDialog::getSaveFileName(
        page, words(QT_TRANSLATE_NOOP("Drawings", "Export %1")).arg(title),
        name + QLatin1Char('-') + fileName(title) + '.' + suffix, "*." + suffix);
    if (!path.isEmpty()) {
        const bool well = suffix == "svg" ? view->exportSvg(path) : view->exportPng(path);
        done(well, writtenText(well, path));
    }
}

} // namespace

QString fileName(const QString& title) {
    QString out;
    for (const QChar c : title.toLower()) {
        if (c.isLetterOrNumber()) {
            out += c;
        } else if (!out.isEmpty() && !out.endsWith('-')) {
            out += '-';
        }
    }
    return out.endsWith('-') ? out.chopped(1) : out;
}

QString writtenText(bool well, const QString& path) {
    return (well ? words(QT_TRANSLATE_NOOP("Drawings", "Written to %1"))
                 : words(QT_TRANSLATE_NOOP("Drawings", "%1 cannot be written")))
        .arg(path);
}

void addDrawings(QMenu* menu, QWidget* page, const QString& name, const Written& done) {
    for (const char* suffix : {"png", "svg"}) {
        QMenu* drawings = menu->addMenu(
            words(QT_TRANSLATE_NOOP("Drawings", "Drawing as %1")).arg(QString(suffix).toUpper()));
        drawings->setObjectName(QStringLiteral("exportDrawing_%1").arg(suffix));
        for (widgets::PaintedView* view : drawingsOf(page)) {
            QAction* action =
                drawings->addAction(words(QT_TRANSLATE_NOOP("Drawings", "%1…"))
                                        .arg(widgets::menuText(view->accessibleName())));
            QObject::connect(
                action, &QAction::triggered, menu,
                [page, view = QPointer<widgets::PaintedView>(view), name, suffix, done] {
                    if (view) {
                        save(page, view, name, suffix, done);
                    }
                });
        }
        drawings->setEnabled(!drawings->isEmpty());
    }
}

} // namespace weft::ui
