// SPDX-License-Identifier: GPL-3.0-or-later
// What the colours of memory mean: a square and a word for each category, in as many lines as the
// width needs.
#pragma once

#include "widgets/look/theme.h"

#include <QWidget>

#include <vector>

namespace weft::widgets {

class MemoryLegend : public QWidget {
    Q_OBJECT
public:
    explicit MemoryLegend(QWidget* parent = nullptr);

    void setCategories(std::vector<MemoryCategory> categories);
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;
    QSize sizeHint() const override { return {240, heightForWidth(240)}; }
    QSize minimumSizeHint() const override { return {96, heightForWidth(96)}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    /// One for each category.
    std::vector<QRectF> places(double width) const;

    std::vector<MemoryCategory> categories_;
};

} // namespace weft::widgets
