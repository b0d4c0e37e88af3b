// SPDX-License-Identifier: GPL-3.0-or-later
// Ways to say something: a banner on the page, an empty state, a toast over the window.
#pragma once

#include "widgets/look/theme.h"

#include <QWidget>

#include <vector>

class QAction;
class QHBoxLayout;
class QLabel;
class QPushButton;
class QTimer;

namespace weft::widgets {

class ElidedLabel;
class TextLabel;

enum class MessageKind { Info, Success, Warning, Error };

QString messageIconName(MessageKind kind);
Role messageRole(MessageKind kind);

/// A tinted line over a page: icon, strong words, the rest, and what one can do about it.
class Banner : public QWidget {
    Q_OBJECT
public:
    explicit Banner(MessageKind kind = MessageKind::Info, QWidget* parent = nullptr);

    void setKind(MessageKind kind);
    void setIconName(const QString& name);
    /// `what` is semibold and stays whole; `detail` wraps onto more lines when it must.
    void setText(const QString& what, const QString& detail = {});
    QPushButton* addButton(const QString& text, bool flat = false);
    void clearButtons();
    /// A cross at the end that hides the banner.
    void setClosable(bool closable);

signals:
    void closed();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void refresh();

    MessageKind kind_;
    QString icon_name_;
    QLabel* icon_;
    TextLabel* what_;
    TextLabel* detail_;
    QHBoxLayout* buttons_;
    QPushButton* close_;
};

/// Nothing here yet: a large icon, one sentence, and the button that changes it.
class EmptyState : public QWidget {
    Q_OBJECT
public:
    explicit EmptyState(const QString& icon_name = {}, const QString& title = {},
                        const QString& text = {}, QWidget* parent = nullptr);
    void setIconName(const QString& name);
    void setTitle(const QString& title);
    void setText(const QString& text);
    QPushButton* addButton(const QString& text, bool primary = true);
    /// As narrow as title and buttons: the words break.
    QSize minimumSizeHint() const override;

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void arrange();

    bool has_icon_ = false;
    QLabel* icon_;
    TextLabel* title_;
    TextLabel* text_;
    QHBoxLayout* buttons_;
};

struct ToastRecord {
    MessageKind kind = MessageKind::Info;
    QString text;
    QString action_text;
};

/// Short notes at the upper right of a window, or of a part of it, for 6 s; kept in a history,
/// stopped while hovered. A note replaces one that says the same, or whose button would now do
/// something else: all "Undo"s take back the newest edit.
class ToastHost : public QObject {
    Q_OBJECT
public:
    /// Toasts appear over `window`, which owns the host.
    explicit ToastHost(QWidget* window);

    /// A note of `page` goes when that is left, but not when it was what sent the user on.
    void show(MessageKind kind, const QString& text, QAction* action = nullptr,
              QWidget* page = nullptr);
    /// Where they appear, below its upper `inset`; else in the window. It belongs to the window.
    void setArea(QWidget* area, int inset);
    void dismissAll();
    int visibleCount() const;
    const std::vector<ToastRecord>& history() const { return history_; }

signals:
    void historyChanged();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void arrange();

    QWidget* window_;
    QWidget* area_;
    int inset_ = 0;
    std::vector<QWidget*> toasts_; // those alive
    std::vector<ToastRecord> history_;
};

} // namespace weft::widgets
