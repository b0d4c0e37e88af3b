// SPDX-License-Identifier: GPL-3.0-or-later
// A tour through the studio: its parts, and how pictures are taken.
#pragma once

#include "ui/shell/main_window.h"
#include "ui/studio.h"

#include <QWidget>

#include <functional>
#include <string>

class QAbstractButton;
class QScrollBar;

namespace weft::tour {

class Tour {
public:
    Tour(ui::Studio& studio, ui::MainWindow& window, widgets::ThemeController& theme,
         QString folder)
        : studio(studio), window(window), theme(theme), folder_(std::move(folder)) {}

    ui::Studio& studio;
    ui::MainWindow& window;
    widgets::ThemeController& theme;

    /// A page, light and dark, at the designed size and the smallest; where it scrolls, its end
    /// too.
    void shoot(const QString& page, const QString& name);
    /// Also with large text, and as a screen of twice as many pixels shows it.
    void shootAll(const QString& page, const QString& name);
    /// The window, or what lies over it, as it is this moment, once: of what does not stay.
    void snap(const QString& name, QWidget* over = nullptr);
    /// A dialog, light and dark, that `open` opens over the window.
    void shootDialog(const QString& name, const std::function<void()>& open);

    /// Opens a preset as the draft.
    void openPreset(const char* name);
    template <class Widget>
    Widget* find(const char* name) const {
        return window.findChild<Widget*>(name);
    }
    /// Clicks one segment of a segmented control; negative ones count from the end.
    void choose(const char* control, int segment);
    /// Where files and runs of the tour's own lie.
    std::filesystem::path place(const char* name) const { return studio.paths().runs_root / name; }

private:
    QScrollBar* scrollsPage(const QString& page) const;
    void save(const QPixmap& picture, const QString& name);

    QString folder_;
};

/// Says so when it never comes true: the picture then shows the state at hand.
void wait_for(const std::function<bool()>& condition, int limit_ms);
/// What queued work and animations take.
void settle(int ms = 150);

// The parts, in order. Each can be walked alone.
void tourEmpty(Tour& tour);
void tourData(Tour& tour);
void tourModel(Tour& tour);
void tourTraining(Tour& tour);
void tourPlan(Tour& tour);
void tourMesh(Tour& tour);
void tourDevices(Tour& tour);
void tourTrain(Tour& tour);
void tourOutcomes(Tour& tour);
void tourRuns(Tour& tour);
void tourDialogs(Tour& tour);

} // namespace weft::tour
