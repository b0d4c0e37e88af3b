// SPDX-License-Identifier: GPL-3.0-or-later
// The big numbers above the charts. Digits are painted one by one in equal cells, so that a
// counting number does not move its neighbours.
#pragma once

#include "widgets/look/theme.h"

#include <QRectF>
#include <QWidget>

#include <vector>

namespace weft::widgets {

struct BigNumber {
    QString caption; // "Train loss"
    QString value;   // "0.238"; empty is shown as an en dash
    QString lead;    // first words of the sub line, in `lead_role`: "best so far"
    QString sub;     // rest of the sub line: "step 1,266"
    Role lead_role = Role::Success;
    QString tooltip;
    bool operator==(const BigNumber&) const = default;
};

class NumberStrip : public QWidget {
    Q_OBJECT
public:
    explicit NumberStrip(int count = 5, QWidget* parent = nullptr);

    int count() const { return static_cast<int>(numbers_.size()); }
    void setNumber(int index, const BigNumber& number);
    /// Only the changing parts, for the tick of a run.
    void setValue(int index, const QString& value, const QString& sub);
    const BigNumber& number(int index) const;
    /// Where each character of a value is painted, in widget coordinates.
    std::vector<QRectF> characterCells(int index) const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    void numberClicked(int index);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool event(QEvent* event) override;

private:
    QRectF cellRect(int index) const;
    void paintNumber(QPainter& painter, int index) const;
    QFont valueFont() const;
    void updateAccessibleText();

    std::vector<BigNumber> numbers_;
};

} // namespace weft::widgets
