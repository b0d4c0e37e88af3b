// SPDX-License-Identifier: GPL-3.0-or-later
// Console, Problems and System: below the pages, closed until somebody asks for them.
#pragma once

#include <QObject>

class QDockWidget;
class QMainWindow;
class QWidget;

namespace weft::widgets {
class LogView;
}

namespace weft::ui {

class ProblemModel;
class Studio;

class LowerDocks : public QObject {
    Q_OBJECT
public:
    /// Docks of `window`, which owns them.
    LowerDocks(QMainWindow& window, ProblemModel& problems, Studio& studio);

    widgets::LogView& log() { return *log_; }
    /// Shows a closed one, closes an open one.
    void toggleConsole();
    void toggleProblems();
    void toggleSystem();
    void showProblems();
    void hideAll();

signals:
    void problemActivated(int row);

private:
    QDockWidget* add(const QString& title, const QString& name, QWidget* content);
    QWidget* createProblems();

    QMainWindow& window_;
    ProblemModel& problems_;
    widgets::LogView* log_;
    QDockWidget* console_;
    QDockWidget* list_;
    QDockWidget* system_;
};

} // namespace weft::ui
