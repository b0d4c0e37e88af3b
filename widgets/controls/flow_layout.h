// SPDX-License-Identifier: GPL-3.0-or-later
// Widgets side by side, onto further lines where there is no room. Those that expand share what
// their line has left. With columns all begin at one of them and fill those that they need, so that
// lines stand in rank and file.
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
    /// Columns of at least this width, as many as there is room for; 0: none.
    void setColumnWidth(int pixels);
    /// Where an item stands that is lower than its line: in the middle unless told otherwise.
    void setItemAlignment(Qt::Alignment vertical);
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
    struct Place {
        QLayoutItem* item = nullptr;
        int size = 0; // pixels, or columns
        int x = 0;
        int width = 0;
    };
    struct Line {
        std::vector<Place> places;
        int height = 0;
    };
    int columnsIn(int width) const;
    /// Pixels or columns that an item asks for.
    int sizeOf(const QLayoutItem* item, int width) const;
    /// Shares what is left of a line among those that expand, and puts all in their places.
    void arrange(Line& line, int left, int width) const;
    std::vector<Line> lines(int width) const;

    std::vector<QLayoutItem*> items_;
    int line_spacing_ = 4;
    int column_width_ = 0;
    Qt::Alignment item_alignment_ = Qt::AlignVCenter;
};

} // namespace weft::widgets
