// SPDX-License-Identifier: GPL-3.0-or-later
// The devices of a mesh, all of them at a glance: few as cards, more as cells that fill up to the
// scale of a device's memory, along the axes of the mesh. Cells become cards as one zooms in. The
// colour of a device is that of the shard it holds of what is looked at; a selected device lights
// those that hold the same.
#pragma once

#include "widgets/mesh/device_places.h"
#include "widgets/mesh/device_set.h"
#include "widgets/mesh/tile_array.h"
#include "widgets/views/painted_view.h"

#include <memory>
#include <optional>
#include <vector>

namespace weft::widgets {

class DeviceGrid : public PaintedView {
    Q_OBJECT
public:
    explicit DeviceGrid(QWidget* parent = nullptr);

    void setDevices(std::shared_ptr<const DeviceSet> devices);
    /// Of the array that is looked at.
    void setShards(ShardGroups shards);
    /// -1: none.
    void setSelectedDevice(int id);
    int selectedDevice() const { return selected_; }
    void setStale(bool stale);
    /// By group, at a moment of the step; empty: the devices show what they need.
    void setNow(std::vector<DeviceNow> now);
    /// Whether a device holds the same shard as the selected one, which lights it.
    bool isLit(int device) const;

    /// What the card says below cells: the device that is pointed at, else the selected one.
    int cardDevice() const;
    /// Cards say all about a device, cells what there is room for.
    enum class Detail { Cards, Cells };
    Detail detail() const { return frame(size()).detail; }
    /// 1: all devices are in view.
    double zoom() const { return zoom_; }
    /// Keeps what is at the anchor there.
    void zoomTo(double zoom, const QPointF& anchor);
    void zoomStep(bool in);
    void fit();

    /// The bars of a card: its share of the device's memory, and the lens on what it holds.
    enum class CardPart { Scale, Lens };
    QRectF cardPart(int index, CardPart part) const;

    int itemCount() const override { return devices_ ? devices_->count() : 0; }
    ViewItem item(int index) const override;
    int hitTest(const QPointF& position) const override;
    QSize sizeHint() const override { return {340, 240}; }
    QSize minimumSizeHint() const override { return {160, 112}; }

signals:
    void deviceSelected(int id);
    void zoomChanged(double zoom);

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;
    int neighbour(int index, int key) const override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    /// What lies where in a view of some size.
    struct Frame {
        QSizeF view;
        Detail detail = Detail::Cards;
        DevicePlaces places;
        QRectF area;       // of the devices; more of them may lie outside
        QRectF card;       // of the device that is pointed at; empty: none
        double labels = 0; // width of what stands left of the area
    };
    struct Batch;

    const Frame& frame(const QSizeF& view_size) const;
    Frame makeFrame(const QSizeF& view_size) const;
    void addZoom(Frame& frame) const;
    void renewFrame();
    void keepInside();
    QRectF rectOf(int device, const Frame& frame) const;
    int lastAxis() const;   // that has several devices; -1: none
    int beforeAxis() const; // the one before it
    const DeviceNow* nowOf(int device) const;
    QString bytesText(int device, double width) const;
    std::vector<int> outerAxes(const DevicePlaces& places) const;
    QString blockAxes(const DevicePlaces& places) const;
    QString blockBytes(int block, const DevicePlaces& places) const;
    QString blockText(int block, const DevicePlaces& places, bool named) const;

    static QSizeF leastCard();
    static QSizeF mostCard();
    static QSizeF mostCell();
    static bool isCard(const QSizeF& size);
    double stripHeight(const QSizeF& cell) const;
    qint64 wholeBytes() const;
    QString placeText(int device, double width) const;
    Role bytesRole(int device) const;

    void paintCards(QPainter& painter, const Frame& frame, const std::vector<QColor>& colors) const;
    void paintCard(QPainter& painter, int device, const QColor& color, const QRectF& rect,
                   bool lit) const;
    void paintHead(QPainter& painter, int device, const QColor& color, const QRectF& inner) const;
    void paintLine(QPainter& painter, int device, const QColor& color, const QRectF& inner) const;
    void paintMemory(QPainter& painter, int device, const QRectF& card) const;
    void paintStack(QPainter& painter, int device, const QRectF& rect, qint64 whole) const;
    void paintCells(QPainter& painter, const Frame& frame, const std::vector<QColor>& colors) const;
    void addCell(Batch& batch, int device, const QRectF& rect, double strip) const;
    void paintCellTexts(QPainter& painter, const Frame& frame, const Batch& batch,
                        double strip) const;
    void paintMarks(QPainter& painter, const Frame& frame) const;
    void paintAxes(QPainter& painter, const Frame& frame) const;
    void paintRange(QPainter& painter, const QRectF& rect, int axis, bool across) const;
    void paintRowLabels(QPainter& painter, const Frame& frame) const;
    void paintColumnLabels(QPainter& painter, const Frame& frame) const;

    std::shared_ptr<const DeviceSet> devices_;
    ShardGroups shards_;
    std::vector<DeviceNow> now_; // [group]
    int selected_ = -1;
    bool stale_ = false;
    double zoom_ = 1.0;
    QPointF offset_; // of what is seen, in the places
    std::optional<QPointF> grabbed_;
    bool dragged_ = false;
    mutable std::optional<Frame> frame_; // the last one that was asked for
};

} // namespace weft::widgets
