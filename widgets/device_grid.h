// SPDX-License-Identifier: GPL-3.0-or-later
// The devices of a mesh as cards: number, name and place, memory stacked by category against the
// limit. A selected device lights up, and those that hold the same part of something with it.
#pragma once

#include "widgets/memory_bar.h"

namespace weft::widgets {

struct DeviceCard {
    int id = 0;
    QString name;  // "cpu:0"
    QString place; // "data=0 model=1"
    QString note;  // "simulated"; what else to say: "[0:32]"
    std::vector<MemorySegment> segments;
    qint64 bytes = 0; // that it needs
    int group = 0;    // devices that hold and do the same have the same
};

/// What the devices of a group hold at a moment.
struct DeviceNow {
    std::vector<MemorySegment> segments;
    qint64 bytes = 0;
    QString note; // what they do: "B3"; empty: what the card says anyway
    friend bool operator==(const DeviceNow&, const DeviceNow&) = default;
};

class DeviceGrid : public PaintedView {
    Q_OBJECT
public:
    explicit DeviceGrid(QWidget* parent = nullptr);

    /// `mesh`: sizes of its axes, major to minor. As many devices as the last axis has stand side
    /// by side; where there is no room, parts of a row that are alike, else as many as there is
    /// room for.
    void setDevices(std::vector<DeviceCard> devices, std::vector<int> mesh);
    void setLimit(std::optional<qint64> bytes);
    /// -1: none.
    void setSelectedDevice(int id);
    int selectedDevice() const { return selected_; }
    /// Devices that hold what is looked at.
    void setLit(std::vector<int> ids);
    void setStale(bool stale);
    /// By group, at a moment of the step; empty: the cards show what they need.
    void setNow(std::vector<DeviceNow> now);

    /// The bars of a card: its share of the device's memory, and the lens on what it holds.
    enum class CardPart { Scale, Lens };
    QRectF cardPart(int index, CardPart part) const;

    int itemCount() const override { return static_cast<int>(devices_.size()); }
    ViewItem item(int index) const override;
    QSize sizeHint() const override { return {340, 240}; }
    QSize minimumSizeHint() const override { return {160, 96}; }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;

signals:
    void deviceSelected(int id);

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;
    int neighbour(int index, int key) const override;

private:
    int columnsIn(double width) const;
    QRectF cardRect(int index, double width) const;
    double cardHeight() const;
    double barsHeight() const;
    void paintCard(QPainter& painter, int index, const QColor& color, const QRectF& rect) const;
    void paintMemory(QPainter& painter, const DeviceCard& card, const QRectF& rect) const;
    void paintStack(QPainter& painter, const DeviceCard& card, const QRectF& rect,
                    qint64 whole) const;
    const DeviceNow* nowOf(const DeviceCard& card) const;
    QString bytesText(const DeviceCard& card, double width) const;

    std::vector<DeviceCard> devices_;
    std::vector<int> mesh_;
    std::optional<qint64> limit_;
    std::vector<int> lit_;
    std::vector<DeviceNow> now_; // [group]
    int selected_ = -1;
    bool stale_ = false;
};

} // namespace weft::widgets
