// SPDX-License-Identifier: GPL-3.0-or-later
// A run's curve the size of a word: in tables (delegate), cards (widget) or any painter.
#pragma once

#include <QMetaType>
#include <QStyledItemDelegate>
#include <QWidget>

#include <optional>
#include <vector>

namespace weft::widgets {

struct SparklineData {
    std::vector<double> y;   // evenly spaced; non-finite values make a gap
    std::optional<int> best; // index of the star
    bool failed = false;     // red triangle at the end
    double share = 1.0;      // of the width: how far the run got
    int slot = 0;            // of the colours of series; -1: muted, beside ones that count
    Qt::PenStyle dash = Qt::SolidLine;
};

void paintSparkline(QPainter& painter, const QRectF& rect, const SparklineData& data);

class Sparkline : public QWidget {
    Q_OBJECT
public:
    explicit Sparkline(QWidget* parent = nullptr);
    void setData(const SparklineData& curve);
    QSize sizeHint() const override { return {112, 24}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    SparklineData data_;
};

/// Paints the SparklineData found under `role` of each index.
class SparklineDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    explicit SparklineDelegate(int role, QObject* parent = nullptr);
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

private:
    int role_;
};

} // namespace weft::widgets

Q_DECLARE_METATYPE(weft::widgets::SparklineData)
