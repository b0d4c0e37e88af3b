// SPDX-License-Identifier: GPL-3.0-or-later
// The two lines with which a training loop of one's own logs what the studio shows: to be copied,
// then its folder is opened.
#pragma once

#include <QDialog>

namespace weft::ui {

class LogRecipeDialog : public QDialog {
    Q_OBJECT
public:
    explicit LogRecipeDialog(QWidget* parent = nullptr);

signals:
    void openRequested();

private:
    QWidget* createRecipe(int index);
};

} // namespace weft::ui
