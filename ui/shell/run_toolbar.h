// SPDX-License-Identifier: GPL-3.0-or-later
// The toolbar on every page: which run it controls, what can be done with it, how far it is.
#pragma once

#include "widgets/controls.h"
#include "widgets/pill.h"

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

    /// Below 1100 px the buttons show icons only.
    void setCompact(bool compact);
    /// One filled button at a time: Start, or one of the page.
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
    QPushButton* bind(QPushButton* button, QAction* action);
    void reservePauseWidth();
    void fillPicker();
    void updateState();
    void updateProgress();

    Studio& studio_;
    widgets::StatePill* state_;
    widgets::ElidedLabel* name_;
    QMenu* picker_menu_;
    QList<QPushButton*> buttons_;
    QPushButton* start_;
    QPushButton* pause_ = nullptr;
    widgets::SplitButton* stop_;
    QPushButton* palette_;
    widgets::TextLabel* trailing_;
    widgets::ProgressLine* progress_;
};

} // namespace weft::ui
