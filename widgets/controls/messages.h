// SPDX-License-Identifier: GPL-3.0-or-later
// Ways to say something: a banner on the page, an empty state, a toast over the window.
#pragma once

#include "widgets/controls/free_place.h"
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

/// Short notes over a window for 6 s, kept in a history, stopped while hovered. Each lies at the
/// upper right where there is room: it covers no control that is on screen, and where it can be no
/// words. A note replaces one that says the same, or whose button would now do something else: all
/// "Undo"s take back the newest edit.
class ToastHost : public QObject {
    Q_OBJECT
public:
    /// Toasts appear over `window`, which owns the host.
    explicit ToastHost(QWidget* window);
    ~ToastHost() override;

    /// A note of `page` goes when that is left, but not when it was what sent the user on.
    void show(MessageKind kind, const QString& text, QAction* action = nullptr,
              QWidget* page = nullptr);
    /// The part of the window in which they appear; else all of it.
    void setArea(QWidget* area);
    void dismissAll();
    int visibleCount() const;
    const std::vector<ToastRecord>& history() const { return history_; }

signals:
    void historyChanged();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    /// What is on screen, and what of it a note must not cover.
    FreePlaces places() const;
    void addTo(FreePlaces& places, const QWidget& widget, const QRect& seen) const;
    void place(QWidget& toast);
    void arrange();
    /// Moves those off that a control has come to lie under.
    void keepClear();
    void forget(QWidget* toast);

    QWidget* window_;
    QWidget* area_;
    QTimer* clearing_;
    std::vector<QWidget*> toasts_; // those alive
    std::vector<ToastRecord> history_;
};

} // namespace weft::widgets
