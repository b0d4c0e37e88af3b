// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers that follow from others, side by side on an inset ground: value above, caption below.
#pragma once

#include <QString>
#include <QWidget>

#include <vector>

namespace weft::widgets {

struct Figure {
    QString value; // "81.9 M"; empty is shown as an en dash
    QString caption;
    QString tooltip;
    bool operator==(const Figure&) const = default;
};

class FigureStrip : public QWidget {
    Q_OBJECT
public:
    explicit FigureStrip(QWidget* parent = nullptr);

    void setFigures(const std::vector<Figure>& figures);
    const std::vector<Figure>& figures() const { return figures_; }
    /// Of an earlier state: muted until it is renewed.
    void setStale(bool stale);

    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool event(QEvent* event) override;

private:
    int columnsIn(int width) const;
    QRectF cell(int index) const;

    std::vector<Figure> figures_;
    bool stale_ = false;
};

} // namespace weft::widgets
