// SPDX-License-Identifier: GPL-3.0-or-later
// The reference in the help: names to script against and every setting, searched while one types;
// below them all that is known of the chosen one.
#pragma once

#include <QWidget>

class QComboBox;
class QLineEdit;
class QTableView;

namespace weft::widgets {
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class ReferenceModel;

class ReferencePanel : public QWidget {
    Q_OBJECT
public:
    explicit ReferencePanel(QWidget* parent = nullptr);

    /// Shows the setting of a JSON pointer, "/training/batch_size".
    void lookUp(const QString& pointer);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* createSearch();
    QWidget* createDetails();
    void search();
    void choose(int row);
    void explain(int row);

    ReferenceModel* model_;
    QComboBox* topic_;
    QLineEdit* words_;
    QTableView* table_;
    widgets::TextLabel* name_;
    widgets::TextLabel* facts_;
    widgets::TextLabel* meaning_;
    widgets::TextLabel* place_;
};

} // namespace weft::ui
