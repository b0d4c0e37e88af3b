// SPDX-License-Identifier: GPL-3.0-or-later
// The toolbar on every page: which run it controls, what can be done with it, how far it is. What
// comes next is filled, what is often wanted has words, what is rarely wanted is an icon.
#pragma once

#include "widgets/controls/controls.h"
#include "widgets/controls/pill.h"

#include <QWidget>

class QMenu;
class QPushButton;

namespace weft::widgets {
class ElidedLabel;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class Actions;
class Studio;

class RunToolbar : public QWidget {
    Q_OBJECT
public:
    RunToolbar(Studio& studio, Actions& actions, QWidget* parent = nullptr);

    /// For narrow windows: a shorter name of the run.
    void setCompact(bool compact);
    /// One filled button at a time: Start, Resume of a paused run, or one of the page.
    void setLeading(bool leads);

signals:
    /// A run was chosen in the picker.
    void runChosen(const QString& folder);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QWidget* createPicker();
    QWidget* createStop(Actions& actions);
    QPushButton* bind(QAction* action);
    void fillNext();
    void reservePauseWidth();
    void fillPicker();
    void updateState();
    void updateProgress();

    Studio& studio_;
    widgets::StatePill* state_;
    widgets::ElidedLabel* name_;
    QMenu* picker_menu_;
    bool leads_ = true;
    QPushButton* start_;
    QPushButton* pause_;
    QPushButton* palette_;
    widgets::TextLabel* trailing_;
    widgets::ProgressLine* progress_;
};

} // namespace weft::ui
