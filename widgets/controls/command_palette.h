// SPDX-License-Identifier: GPL-3.0-or-later
// Every action by name: type a few letters of it, Enter runs it.
#pragma once

#include <QAction>
#include <QFrame>
#include <QList>
#include <QPointer>

class QLineEdit;
class QListView;
class QStandardItemModel;

namespace weft::widgets {

/// How well `pattern` fits `text`: its letters in order, better at word starts and in runs.
/// -1 when it does not fit; an empty pattern fits everything with 0.
int fuzzyScore(const QString& pattern, const QString& text);

/// Property of an action: why it is disabled. Its row says so.
inline constexpr auto kReasonProperty = "weft.reason";

class CommandPalette : public QFrame {
    Q_OBJECT
public:
    explicit CommandPalette(QWidget* parent = nullptr);

    /// Actions may die later; they then vanish from the list. Invisible ones are not listed.
    void setActions(const QList<QAction*>& actions);
    /// Shows itself over the upper middle of the parent window with an empty filter.
    void open();
    QLineEdit* filter() const { return filter_; }
    QListView* list() const { return list_; }
    /// Texts in the order shown.
    QStringList visibleTexts() const;

signals:
    void triggered(QAction* action);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void refilter();
    void runCurrent();
    void moveBy(int rows);

    QLineEdit* filter_;
    QListView* list_;
    QStandardItemModel* model_;
    QList<QPointer<QAction>> actions_;
};

} // namespace weft::widgets
