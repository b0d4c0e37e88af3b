// SPDX-License-Identifier: GPL-3.0-or-later
// The channels of a picture that a layer puts out, side by side, each as a small picture;
// one may be chosen.
#pragma once

#include "widgets/views/painted_view.h"

#include <QImage>

#include <vector>

namespace weft::widgets {

struct Channels {
    int rows = 0, columns = 0, channels = 0;
    std::vector<float> values; // [rows, columns, channels]
};

class ChannelView : public PaintedView {
    Q_OBJECT
public:
    explicit ChannelView(QWidget* parent = nullptr);

    void setChannels(Channels channels);
    const Channels& channels() const { return channels_; }
    /// One scale of colours for all; else each channel has its own.
    void setTogether(bool together);
    bool isTogether() const { return together_; }
    /// What one is called; "channel" where nothing is said.
    void setNoun(const QString& noun);
    /// Of all tiles; 0: as large as fits.
    void setTileWidth(int pixels);
    /// One that is marked; -1: none.
    void setChosen(int index);
    int chosen() const { return chosen_; }

    int itemCount() const override { return channels_.channels; }
    /// "channel 3: from -0.12 to 1.40"
    ViewItem item(int index) const override;
    /// The number of a channel under a position: "channel 3, row 2, column 5: 0.31"; empty: none.
    QString wordsAt(const QPointF& position) const;
    QSize sizeHint() const override { return {420, heightForWidth(420)}; }
    QSize minimumSizeHint() const override { return {160, 60}; }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;

signals:
    void pointed(const QString& words);

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;
    int neighbour(int index, int key) const override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    struct Tiles {
        double width = 0, height = 0; // of one
        int columns = 1;
    };
    Tiles tilesFor(double width) const;
    QRectF tile(int index, const Tiles& tiles) const;
    float value(int row, int column, int channel) const;
    const std::vector<QImage>& pictures() const;

    Channels channels_;
    std::vector<float> low_, high_; // of each channel
    bool together_ = false;
    QString noun_;
    int tile_width_ = 0;
    int chosen_ = -1;
    mutable std::vector<QImage> pictures_; // empty: to be made
};

} // namespace weft::widgets
