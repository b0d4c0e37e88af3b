// SPDX-License-Identifier: GPL-3.0-or-later
// Memory stacked by category: measured over planned, or two of a kind, with a legend and the
// device's limit.
#pragma once

#include "widgets/views/memory_unit.h"
#include "widgets/views/painted_view.h"

#include <optional>
#include <vector>

namespace weft::widgets {

struct MemorySegment {
    MemoryCategory category = MemoryCategory::Parameters;
    qint64 bytes = 0;
    friend bool operator==(const MemorySegment&, const MemorySegment&) = default;
};

class MemoryBar : public PaintedView {
    Q_OBJECT
public:
    explicit MemoryBar(QWidget* parent = nullptr);

    /// Drawn in the order of MemoryCategory whatever the order given; zero bytes are left out.
    void setMeasured(std::vector<MemorySegment> segments, const QString& label = {});
    void setPlanned(std::vector<MemorySegment> segments, const QString& label = {});
    /// Both bars are of equal weight and the legend names the categories of both, without figures.
    void setAlike(bool alike);
    /// A line at the device's capacity; the bar that crosses it says "over by".
    void setLimit(std::optional<qint64> bytes);
    void setLegendVisible(bool visible);
    qint64 measuredBytes() const;
    qint64 plannedBytes() const;

    int itemCount() const override;
    ViewItem item(int index) const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;
    int neighbour(int index, int key) const override;

private:
    struct Bar {
        QString label;
        std::vector<MemorySegment> segments;
        qint64 total = 0;
    };
    struct LegendEntry {
        QRectF rect;
        MemorySegment segment;
    };

    static Bar makeBar(std::vector<MemorySegment> segments, const QString& label);
    /// Of all figures: that of the larger bar.
    MemoryUnit unit() const;
    double labelWidth() const;
    QString totalText(const Bar& bar) const;
    double totalWidth() const;
    QRectF barRect(int bar, double width) const;
    QRectF segmentRect(int bar, int index, double width) const;
    std::vector<MemorySegment> legendSegments() const;
    std::vector<LegendEntry> legend(double width) const;
    double legendTop() const;
    double barScale(double width) const;
    std::optional<double> limitX(double width) const; // of the mark; nullopt: none is in sight
    void paintBar(QPainter& painter, int bar, double width) const;
    void paintLegend(QPainter& painter, double width) const;

    Bar measured_;
    Bar planned_;
    std::optional<qint64> limit_;
    bool legend_visible_ = true;
    bool alike_ = false;
};

} // namespace weft::widgets
