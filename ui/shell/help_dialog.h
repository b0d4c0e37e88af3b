// SPDX-License-Identifier: GPL-3.0-or-later
// Help on where one is: what the page is for, what the control with the focus sets, and the keys
// that work here; beside it the reference, searched. Stays open beside the window and follows its
// pages.
#pragma once

#include <QDialog>

class QScrollArea;
class QStackedWidget;
class QVBoxLayout;

namespace weft::widgets {
class SegmentedControl;
} // namespace weft::widgets

namespace weft::ui {

class Actions;
class ReferencePanel;

class HelpDialog : public QDialog {
    Q_OBJECT
public:
    /// Over a window, which it never outgrows as it opens.
    HelpDialog(const Actions& actions, QWidget* window);

    /// Help on a page, by its id and title, and on the control of it that has the focus; null: on
    /// the page alone.
    void explain(const QString& page, const QString& title, const QWidget* control);

private:
    void addControl(QVBoxLayout& column, const QWidget* control) const;
    void addKeys(QVBoxLayout& column, const QString& page) const;

    void showTab(int tab);

    const Actions& actions_;
    widgets::SegmentedControl* tab_;
    QPushButton* change_keys_ = nullptr;
    QStackedWidget* stack_;
    QScrollArea* scroll_;
    ReferencePanel* reference_ = nullptr; // made when first looked at: it has thousands of rows
    QString setting_;                     // pointer of the one in focus, until it is looked up
};

} // namespace weft::ui
