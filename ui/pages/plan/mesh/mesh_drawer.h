// SPDX-License-Identifier: GPL-3.0-or-later
// The lower half of the mesh: one of several panels at a time, chosen by the row above them. It can
// take the whole page.
#pragma once

#include <QWidget>

class QPushButton;
class QStackedWidget;

namespace weft::widgets {
class SegmentedControl;
} // namespace weft::widgets

namespace weft::ui {

class MeshDrawer : public QWidget {
    Q_OBJECT
public:
    explicit MeshDrawer(QWidget* parent = nullptr);

    /// The panels stand in the order in which they are added. Returns the index of the panel.
    int add(const QString& title, const QString& tooltip, QWidget* panel);
    /// A panel can say more in its title: "Findings 3".
    void setTitle(int panel, const QString& title);
    int current() const;
    void setCurrent(int panel);
    /// Whether it has the whole page to itself.
    bool isFull() const;
    void setFull(bool full);
    /// The panels ask for no more than they must have: the tensors above need the height.
    QSize sizeHint() const override { return minimumSizeHint(); }

signals:
    /// Another panel is shown.
    void currentChanged(int panel);
    void fullChanged(bool full);

protected:
    void changeEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void keepHeight();
    void describeFull();

    widgets::SegmentedControl* tabs_;
    QPushButton* full_;
    QStackedWidget* stack_;
};

} // namespace weft::ui
