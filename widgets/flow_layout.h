// SPDX-License-Identifier: GPL-3.0-or-later
// Widgets side by side, onto further lines where there is no room. Those that expand take what
// their line has left.
#pragma once

#include <QLayout>

#include <vector>

namespace weft::widgets {

class FlowLayout : public QLayout {
    Q_OBJECT
public:
    explicit FlowLayout(QWidget* parent = nullptr);
    ~FlowLayout() override;

    /// Between lines; the layout's spacing is that between neighbours.
    void setLineSpacing(int pixels);
    /// Lines at a width.
    int linesIn(int width) const;

    void addItem(QLayoutItem* item) override;
    int count() const override { return static_cast<int>(items_.size()); }
    QLayoutItem* itemAt(int index) const override;
    QLayoutItem* takeAt(int index) override;
    Qt::Orientations expandingDirections() const override { return {}; }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;
    QSize sizeHint() const override;
    QSize minimumSize() const override;
    void setGeometry(const QRect& rect) override;

private:
    struct Line {
        std::vector<QLayoutItem*> items;
        int height = 0;
        int left = 0; // room behind the last
    };
    std::vector<Line> lines(int width) const;

    std::vector<QLayoutItem*> items_;
    int line_spacing_ = 4;
};

} // namespace weft::widgets
