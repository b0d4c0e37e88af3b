// SPDX-License-Identifier: GPL-3.0-or-later
// Help on where one is: what the page is for, what the control with the focus sets, and the keys
// that work here. Stays open beside the window and follows its pages.
#pragma once

#include <QDialog>

class QScrollArea;
class QVBoxLayout;

namespace weft::ui {

class Actions;

class HelpDialog : public QDialog {
    Q_OBJECT
public:
    explicit HelpDialog(const Actions& actions, QWidget* parent = nullptr);

    /// Help on a page, by its id and title, and on the control of it that has the focus; null: on
    /// the page alone.
    void explain(const QString& page, const QString& title, const QWidget* control);

private:
    void addControl(QVBoxLayout& column, const QWidget* control) const;
    void addKeys(QVBoxLayout& column, const QString& page) const;

    const Actions& actions_;
    QScrollArea* scroll_;
};

} // namespace weft::ui
