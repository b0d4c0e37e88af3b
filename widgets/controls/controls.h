// SPDX-License-Identifier: GPL-3.0-or-later
// Small controls of the toolbars: segmented choice, button with menu, switch, thin progress.
#pragma once

#include "widgets/look/style.h"

#include <QAbstractButton>
#include <QPushButton>
#include <QWidget>

class QAction;
class QButtonGroup;
class QHBoxLayout;
class QMenu;
class QToolButton;

namespace weft::widgets {

/// One of a few choices as joined buttons; arrow keys move, the chosen one is tinted.
class SegmentedControl : public QWidget {
    Q_OBJECT
public:
    explicit SegmentedControl(QWidget* parent = nullptr);
    explicit SegmentedControl(const QStringList& choices, QWidget* parent = nullptr);

    int addSegment(const QString& text, const QString& tooltip = {});
    int count() const;
    int currentIndex() const;
    void setCurrentIndex(int index);
    void setSegmentText(int index, const QString& text);
    void setSegmentEnabled(int index, bool enabled, const QString& reason = {});
    /// One that there is nothing behind; not the current one.
    void setSegmentVisible(int index, bool visible);
    /// 24 px high with caption text, for panel headers.
    void setCompact(bool compact);

signals:
    void currentIndexChanged(int index);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void placeTabStop();

    QHBoxLayout* layout_;
    QButtonGroup* group_;
    bool compact_ = false;
};

/// A command with variants: the left part triggers the default action, the arrow opens the menu.
class SplitButton : public QWidget {
    Q_OBJECT
public:
    explicit SplitButton(const QString& text, const QString& icon_name = {},
                         QWidget* parent = nullptr);

    QPushButton* button() const { return button_; }
    QMenu* menu() const { return menu_; }
    /// Adds a variant to the menu.
    QAction* addAction(const QString& text, const QString& icon_name = {});
    void setText(const QString& text);
    /// Why it is disabled goes into the tooltip of both parts.
    void setEnabledWithReason(bool enabled, const QString& reason = {});

signals:
    void clicked();

private:
    QPushButton* button_;
    QPushButton* arrow_;
    QMenu* menu_;
};

/// On or off. Keyboard and accessibility of a checkbox.
class ToggleSwitch : public QAbstractButton {
    Q_OBJECT
public:
    explicit ToggleSwitch(const QString& text = {}, QWidget* parent = nullptr);
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
};

/// A 2-px line that fills from the left; busy shows a moving part (standing with reduced motion).
class ProgressLine : public QWidget {
    Q_OBJECT
public:
    explicit ProgressLine(QWidget* parent = nullptr);
    /// 0 to 1; negative hides the fill.
    void setProgress(double fraction);
    double progress() const { return fraction_; }
    void setBusy(bool busy);
    void setRole(Role role);

protected:
    void paintEvent(QPaintEvent* event) override;
    void timerEvent(QTimerEvent* event) override;

private:
    double fraction_ = -1.0;
    Role role_ = Role::Accent;
    int timer_ = 0;
    double phase_ = 0.0;
};

} // namespace weft::widgets
