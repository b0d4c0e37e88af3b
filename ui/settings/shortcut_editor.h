// SPDX-License-Identifier: GPL-3.0-or-later
// Every action with its keys: the list of shortcuts, and the place to change them.
#pragma once

#include <QMap>
#include <QWidget>

class QKeySequenceEdit;
class QPushButton;
class QTreeWidget;
class QTreeWidgetItem;

namespace weft::widgets {
class TextLabel;
}

namespace weft::ui {

class Actions;

class ShortcutEditor : public QWidget {
    Q_OBJECT
public:
    explicit ShortcutEditor(const Actions& actions, QWidget* parent = nullptr);

    /// Shows the keys that the actions have now.
    void refresh();
    /// Shows the actions whose name, keys or id contain `text`; returns how many those are.
    int filter(const QString& text);

signals:
    /// The keys that differ from the defaults, as Preferences::shortcuts keeps them.
    void edited(const QMap<QString, QString>& shortcuts);

protected:
    void changeEvent(QEvent* event) override;
    /// Of the edit of keys: one combination is taken at once, Escape leaves it.
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QTreeWidgetItem* chosen() const;
    void assign(const QKeySequence& keys);
    /// The other action that has these keys; null when they are free.
    const QAction* holder(const QKeySequence& keys) const;
    void explain();

    const Actions& actions_;
    QTreeWidget* list_;
    QKeySequenceEdit* keys_;
    QPushButton* assign_;
    QPushButton* clear_;
    QPushButton* reset_;
    widgets::TextLabel* note_;
};

} // namespace weft::ui
