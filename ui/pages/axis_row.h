// SPDX-License-Identifier: GPL-3.0-or-later
// The axes of a mesh as chips in their order, which is placement: sizes are typed, chips are
// dragged or moved by keys, axes are added and removed. Beside them what they multiply to.
#pragma once

#include "ui/bridge/draft/mesh_edit.h"
#include "widgets/controls/card.h"

#include <QWidget>

class QMenu;
class QPushButton;

namespace weft::widgets {
class FlowLayout;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class AxisRow : public QWidget {
    Q_OBJECT
public:
    explicit AxisRow(QWidget* parent = nullptr);

    /// Shows a mesh; no signal is emitted.
    void setEdit(const MeshEdit& edit);
    /// "left is major: model partners sit side by side"
    QString orderText() const;
    /// Without the words that stand there only where there is room left.
    QSize sizeHint() const override;

signals:
    void edited(const MeshEdit& edit);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dragMoveEvent(QDragMoveEvent* event) override;
    void dragLeaveEvent(QDragLeaveEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void rebuild();
    void renewSizes();
    void describe();
    void arrange();
    void fillMenu();
    void add(const std::string& name);
    void askName();
    QWidget* createChip(std::size_t axis);
    void move(std::size_t axis, int step);
    void remove(std::size_t axis);
    /// The place among the chips that is nearest to a point.
    int placeAt(const QPoint& point) const;

    MeshEdit edit_;
    std::vector<std::string> shown_; // names of the chips
    std::vector<QWidget*> chips_;
    std::vector<QWidget*> signs_; // between them
    widgets::FlowLayout* flow_;
    QPushButton* add_;
    QMenu* menu_;
    widgets::TextLabel* product_;
    widgets::TextLabel* order_;
    int drop_ = -1; // place of a chip that is dragged here
};

} // namespace weft::ui
