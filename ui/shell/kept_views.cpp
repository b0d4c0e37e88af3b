// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/kept_views.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/curve_runs.h"
#include "widgets/controls.h"

#include <QSettings>
#include <QSplitter>

namespace weft::ui {
namespace {

using widgets::SegmentedControl;

const char* const kMoved = "movedByHand"; // a property of splitters
const QString kPart = QStringLiteral("Part");

/// What was not moved by hand follows the window and the texts, as designed.
void keepSplitters(const QWidget& window, QSettings& settings) {
    for (const QSplitter* splitter : window.findChildren<QSplitter*>()) {
        if (splitter->property(kMoved).toBool()) {
            settings.setValue("splitters/" + splitter->objectName(), splitter->saveState());
        }
    }
}

void restoreSplitters(QWidget& window, QSettings& settings) {
    for (QSplitter* splitter : window.findChildren<QSplitter*>()) {
        if (splitter->objectName().isEmpty()) {
            continue;
        }
        QObject::connect(splitter, &QSplitter::splitterMoved, splitter,
                         [splitter] { splitter->setProperty(kMoved, true); });
        const QByteArray kept = settings.value("splitters/" + splitter->objectName()).toByteArray();
        if (!kept.isEmpty() && splitter->restoreState(kept)) {
            emit splitter->splitterMoved(splitter->sizes().value(0), 1); // as by hand then
        }
    }
}

void keepParts(const QWidget& window, QSettings& settings) {
    for (const auto* part : window.findChildren<SegmentedControl*>()) {
        if (part->objectName().endsWith(kPart)) {
            settings.setValue("parts/" + part->objectName(), part->currentIndex());
        }
    }
}

void restoreParts(QWidget& window, QSettings& settings) {
    for (auto* part : window.findChildren<SegmentedControl*>()) {
        const QString key = "parts/" + part->objectName();
        if (part->objectName().endsWith(kPart) && settings.contains(key)) {
            part->setCurrentIndex(std::clamp(settings.value(key).toInt(), 0, part->count() - 1));
        }
    }
}

void keepOverlays(const QWidget& window, QSettings& settings) {
    settings.remove("overlays");
    settings.beginWriteArray("overlays");
    int place = 0;
    for (const CurveRuns* curves : window.findChildren<CurveRuns*>()) {
        for (const auto& run : curves->runs()) {
            if (run->part == CurveRun::Part::Overlay) {
                settings.setArrayIndex(place++);
                settings.setValue("folder", pathText(run->folder));
                settings.setValue("color", run->color);
                settings.setValue("visible", run->visible);
            }
        }
    }
    settings.endArray();
}

/// Those that are still there.
void restoreOverlays(QWidget& window, QSettings& settings) {
    auto* curves = window.findChild<CurveRuns*>();
    const int count = settings.beginReadArray("overlays");
    for (int i = 0; i < count && curves != nullptr; ++i) {
        settings.setArrayIndex(i);
        const std::filesystem::path folder = toPath(settings.value("folder").toString());
        std::error_code gone;
        if (!std::filesystem::is_directory(folder, gone)) {
            continue;
        }
        curves->setVisible(folder, true);
        curves->setColor(folder, std::max(0, settings.value("color").toInt()));
        curves->setVisible(folder, settings.value("visible").toBool());
    }
    settings.endArray();
}

} // namespace

void keepViews(const QWidget& window, QSettings& settings) {
    keepSplitters(window, settings);
    keepParts(window, settings);
    keepOverlays(window, settings);
}

void restoreViews(QWidget& window, QSettings& settings) {
    restoreSplitters(window, settings);
    restoreParts(window, settings);
    restoreOverlays(window, settings);
}

} // namespace weft::ui
