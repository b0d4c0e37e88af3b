// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/kept_views.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/run/curve_runs.h"
#include "widgets/controls/controls.h"

#include <QAbstractButton>
#include <QSettings>
#include <QSplitter>

namespace weft::ui {
namespace {

using widgets::SegmentedControl;

const char* const kMoved = "movedByHand"; // a property of splitters
const QString kTab = QStringLiteral("Tab");
const QString kKept = QStringLiteral("Kept");
const QString kOverlays = QStringLiteral("overlays/");

/// What was not moved by hand follows the window and the texts, as designed.
void addSplitters(const QWidget& window, QVariantMap& views) {
    for (const QSplitter* splitter : window.findChildren<QSplitter*>()) {
        if (splitter->property(kMoved).toBool()) {
            views.insert("splitters/" + splitter->objectName(), splitter->saveState());
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

void addTabs(const QWidget& window, QVariantMap& views) {
    for (const auto* tab : window.findChildren<SegmentedControl*>()) {
        if (tab->objectName().endsWith(kTab)) {
            views.insert("tabs/" + tab->objectName(), tab->currentIndex());
        }
    }
}

void restoreTabs(QWidget& window, QSettings& settings) {
    for (auto* tab : window.findChildren<SegmentedControl*>()) {
        const QString key = "tabs/" + tab->objectName();
        if (tab->objectName().endsWith(kTab) && settings.contains(key)) {
            tab->setCurrentIndex(std::clamp(settings.value(key).toInt(), 0, tab->count() - 1));
        }
    }
}

/// What folds away and what fills the page.
void addSwitches(const QWidget& window, QVariantMap& views) {
    for (const auto* button : window.findChildren<QAbstractButton*>()) {
        if (button->objectName().endsWith(kKept)) {
            views.insert("switches/" + button->objectName(), button->isChecked());
        }
    }
}

void restoreSwitches(QWidget& window, QSettings& settings) {
    for (auto* button : window.findChildren<QAbstractButton*>()) {
        const QString key = "switches/" + button->objectName();
        if (button->objectName().endsWith(kKept) && settings.contains(key)) {
            button->setChecked(settings.value(key).toBool());
        }
    }
}

/// As QSettings writes an array.
void addOverlays(const QWidget& window, QVariantMap& views) {
    int count = 0;
    for (const CurveRuns* curves : window.findChildren<CurveRuns*>()) {
        for (const auto& run : curves->runs()) {
            if (run->kind == CurveRun::Kind::Overlay) {
                const QString place = kOverlays + QString::number(++count) + '/';
                views.insert(place + "folder", pathText(run->folder));
                views.insert(place + "color", run->color);
                views.insert(place + "visible", run->visible);
            }
        }
    }
    views.insert(kOverlays + "size", count);
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

/// A file of settings gives numbers back as text.
bool isSame(const QVariant& a, const QVariant& b) {
    return a.isValid() == b.isValid() && a.toByteArray() == b.toByteArray();
}

QVariantMap overlaysOf(const QVariantMap& layout) {
    QVariantMap overlays;
    for (auto entry = layout.lowerBound(kOverlays);
         entry != layout.end() && entry.key().startsWith(kOverlays); ++entry) {
        overlays.insert(entry.key(), entry.value().toByteArray());
    }
    return overlays;
}

} // namespace

QVariantMap viewsOf(const QWidget& window) {
    QVariantMap views;
    addSplitters(window, views);
    addTabs(window, views);
    addSwitches(window, views);
    addOverlays(window, views);
    return views;
}

void resetSwitches(QWidget& window) {
    for (auto* button : window.findChildren<QAbstractButton*>()) {
        if (button->objectName().endsWith(kKept)) {
            button->setChecked(false);
        }
    }
}

void keepChanges(QSettings& settings, const QVariantMap& before, const QVariantMap& now) {
    const bool other_overlays = overlaysOf(before) != overlaysOf(now);
    if (other_overlays) {
        settings.remove("overlays"); // a list is one thing
    }
    for (auto entry = now.begin(); entry != now.end(); ++entry) {
        const bool changed = entry.key().startsWith(kOverlays)
                                 ? other_overlays
                                 : !isSame(before.value(entry.key()), entry.value());
        if (changed) {
            settings.setValue(entry.key(), entry.value());
        }
    }
}

void restoreViews(QWidget& window, QSettings& settings) {
    restoreSplitters(window, settings);
    restoreTabs(window, settings);
    restoreSwitches(window, settings);
    restoreOverlays(window, settings);
}

} // namespace weft::ui
