// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/drawings.h"

#include "ui/file_dialog.h"
#include "ui/pages/page.h"
#include "widgets/curves/line_chart.h"
#include "widgets/look/icon.h"
#include "widgets/look/menu_text.h"
#include "widgets/views/painted_view.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QMenu>
#include <QPageSize>
#include <QPdfWriter>
#include <QPointer>
#include <QPushButton>

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

bool writePdf(const widgets::PaintedView& view, const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly)) {
        return false;
    }
    QPdfWriter writer(&file);
    writer.setTitle(view.accessibleName());
    // A point a pixel, so that lines and text keep their proportions.
    writer.setPageSize(QPageSize(QSizeF(view.size()), QPageSize::Point));
    writer.setPageMargins(QMarginsF(0, 0, 0, 0));
    writer.setResolution(72);
    view.renderTo(&writer, view.size());
    return file.error() == QFileDevice::NoError;
}

struct DrawingKind {
    const char* filter;
    const char* suffix;
    std::function<bool(const QString& path)> write;
};

std::vector<DrawingKind> kindsOf(const widgets::PaintedView& view) {
    return {{QT_TRANSLATE_NOOP("Drawings", "Picture, twice the pixels (*.png)"), "png",
             [&view](const QString& path) { return view.exportPng(path); }},
            {QT_TRANSLATE_NOOP("Drawings", "Vector drawing (*.svg)"), "svg",
             [&view](const QString& path) { return view.exportSvg(path); }},
            {QT_TRANSLATE_NOOP("Drawings", "Document (*.pdf)"), "pdf",
             [&view](const QString& path) { return writePdf(view, path); }}};
}

std::vector<DrawingKind> kindsOf(widgets::LineChart& chart) {
    return {{QT_TRANSLATE_NOOP("Drawings", "Picture, twice the pixels (*.png)"), "png",
             [&chart](const QString& path) { return chart.exportPng(path, 2.0); }},
            {QT_TRANSLATE_NOOP("Drawings", "Picture, as on screen (*.png)"), "png",
             [&chart](const QString& path) { return chart.exportPng(path, 1.0); }},
            {QT_TRANSLATE_NOOP("Drawings", "Vector drawing (*.svg)"), "svg",
             [&chart](const QString& path) { return chart.exportSvg(path); }},
            {QT_TRANSLATE_NOOP("Drawings", "Document (*.pdf)"), "pdf",
             [&chart](const QString& path) { return chart.exportPdf(path); }},
            {QT_TRANSLATE_NOOP("Drawings", "Every point (*.csv)"), "csv",
             [&chart](const QString& path) { return chart.exportCsv(path, false); }},
            {QT_TRANSLATE_NOOP("Drawings", "Points in view (*.csv)"), "csv",
             [&chart](const QString& path) { return chart.exportCsv(path, true); }}};
}

void save(QWidget& drawing, QString name, const std::vector<DrawingKind>& kinds,
          const Written& done) {
    QStringList filters;
    for (const DrawingKind& kind : kinds) {
        filters << words(kind.filter);
    }
    QString chosen = filters.front();
    QString path = askForPlace(
        &drawing,
        {words(QT_TRANSLATE_NOOP("Drawings", "Export %1")).arg(drawing.accessibleName()),
         FileUse::Export, filters.join(";;"),
         name.replace('/', '-') + QLatin1Char('.') + QLatin1String(kinds.front().suffix)},
        &chosen);
    if (path.isEmpty()) {
        return;
    }
    const DrawingKind* kind =
        &kinds[static_cast<std::size_t>(std::max(0, static_cast<int>(filters.indexOf(chosen))))];
    const QString suffix = QFileInfo(path).suffix();
    // The name decides where it says something else than the filter.
    const auto named = std::find_if(kinds.begin(), kinds.end(),
                                    [&](const DrawingKind& one) { return suffix == one.suffix; });
    if (named == kinds.end()) {
        path += QLatin1Char('.') + QLatin1String(kind->suffix);
    } else if (suffix != kind->suffix) {
        kind = &*named;
    }
    const bool well = kind->write(path);
    done(well, writtenText(well, path));
}

void saveAs(widgets::PaintedView& view, const QString& name, const QString& suffix,
            const Written& done) {
    std::vector<DrawingKind> kinds = kindsOf(view);
    std::erase_if(kinds, [&](const DrawingKind& kind) { return suffix != kind.suffix; });
    save(view, name + QLatin1Char('-') + fileName(view.accessibleName()), kinds, done);
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
                 : words(QT_TRANSLATE_NOOP("Drawings",
                                           "%1 cannot be written. Choose another folder.")))
        .arg(path);
}

void exportDrawing(widgets::PaintedView& view, const QString& name, const Written& done) {
    save(view, name, kindsOf(view), done);
}

void exportDrawing(widgets::LineChart& chart, const QString& name, const Written& done) {
    save(chart, name, kindsOf(chart), done);
}

void offerExport(widgets::LineChart& chart, std::function<QString()> name, Written done) {
    QObject::connect(&chart, &widgets::LineChart::exportRequested, &chart,
                     [&chart, name = std::move(name), done = std::move(done)] {
                         exportDrawing(chart, name(), done);
                     });
}

void addDrawings(QMenu* menu, QWidget* page, const QString& name, const Written& done) {
    const std::vector<widgets::PaintedView*> views = drawingsOf(page);
    for (const char* suffix : {"png", "svg", "pdf"}) {
        QMenu* drawings = menu->addMenu(
            words(QT_TRANSLATE_NOOP("Drawings", "Drawing as %1")).arg(QString(suffix).toUpper()));
        drawings->setObjectName(QStringLiteral("exportDrawing_%1").arg(suffix));
        for (widgets::PaintedView* view : views) {
            QAction* action =
                drawings->addAction(words(QT_TRANSLATE_NOOP("Drawings", "%1…"))
                                        .arg(widgets::menuText(view->accessibleName())));
            QObject::connect(action, &QAction::triggered, menu,
                             [view = QPointer<widgets::PaintedView>(view), name, suffix, done] {
                                 if (view) {
                                     saveAs(*view, name, suffix, done);
                                 }
                             });
        }
        drawings->setEnabled(!drawings->isEmpty());
    }
}

QPushButton* createExportButton(Page& page, std::function<QString()> name) {
    auto* button =
        new QPushButton(widgets::icon("export"), words(QT_TRANSLATE_NOOP("Drawings", "Export")));
    auto* menu = new QMenu(button);
    QObject::connect(menu, &QMenu::aboutToShow, menu, [menu, &page, name = std::move(name)] {
        menu->clear();
        qDeleteAll(menu->findChildren<QMenu*>(QString(), Qt::FindDirectChildrenOnly));
        addDrawings(menu, &page, name(),
                    [&page](bool well, const QString& text) { page.showWritten(well, text); });
    });
    button->setMenu(menu);
    return button;
}

} // namespace weft::ui
