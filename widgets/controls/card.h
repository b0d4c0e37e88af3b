// SPDX-License-Identifier: GPL-3.0-or-later
// Surfaces: cards to choose from, the drop zone, headers of panels and pages.
#pragma once

#include "widgets/look/theme.h"

#include <QFrame>
#include <QStringList>
#include <QWidget>

class QHBoxLayout;
class QMimeData;
class QScrollArea;
class QVBoxLayout;

namespace weft::widgets {

class TextLabel;
class ElidedLabel;

/// A bordered surface. Clickable cards take focus, react to Enter and Space, and can be selected.
class Card : public QFrame {
    Q_OBJECT
public:
    explicit Card(QWidget* parent = nullptr);

    void setClickable(bool clickable);
    bool isSelected() const { return selected_; }
    void setSelected(bool selected);

signals:
    void clicked();

protected:
    void paintEvent(QPaintEvent* event) override;
    void enterEvent(QEnterEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;
    void setDashed(bool dashed, bool active);

private:
    bool clickable_ = false;
    bool selected_ = false;
    bool pressed_ = false;
    bool dashed_ = false;
    bool active_ = false;
};

/// A dashed surface that takes files and folders. Lay its contents out as in any widget.
class DropZone : public Card {
    Q_OBJECT
public:
    explicit DropZone(QWidget* parent = nullptr);

signals:
    /// Local paths, in the order dropped.
    void pathsDropped(const QStringList& paths);

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dragLeaveEvent(QDragLeaveEvent* event) override;
    void dropEvent(QDropEvent* event) override;
};

/// Local file paths in a drag or paste; empty when there are none. Also for whole windows.
QStringList localPaths(const QMimeData* data);

/// Title, muted explanation, and room for controls at the right. 36 px in panels, 44 for pages.
class SectionHeader : public QWidget {
    Q_OBJECT
public:
    /// Inline: like Surface, without surface, rule and side margins of its own.
    enum class Level { Inline, Section, Panel, Page };

    explicit SectionHeader(const QString& title, Level level = Level::Panel,
                           QWidget* parent = nullptr);
    void setTitle(const QString& title);
    void setSubtitle(const QString& subtitle);
    /// Puts a badge between title and explanation.
    void setBadge(QWidget* badge);
    /// Adds a control at the right end, in order.
    void addControl(QWidget* control);
    /// Muted or coloured text at the right ("best accuracy").
    void setTrailing(const QString& text, Role role = Role::Muted);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Level level_;
    QHBoxLayout* layout_;
    TextLabel* title_;
    ElidedLabel* subtitle_;
    TextLabel* trailing_;
};

/// A 1-px line in hairline colour.
class Hairline : public QWidget {
    Q_OBJECT
public:
    explicit Hairline(Qt::Orientation orientation = Qt::Horizontal, QWidget* parent = nullptr);

protected:
    void paintEvent(QPaintEvent* event) override;
};

/// Scrolls its content up and down when it is too high, never sideways; no frame, no colour of its
/// own.
QScrollArea* verticalScroll(QWidget* content);

/// A plain surface-coloured area for panels (QWidget paints no background of its own).
class Surface : public QWidget {
    Q_OBJECT
public:
    explicit Surface(Role role = Role::Surface, QWidget* parent = nullptr);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Role role_;
};

} // namespace weft::widgets
