// SPDX-License-Identifier: GPL-3.0-or-later
// One saved array on its way to other devices: above the pieces that were saved, below the parts
// that the new devices hold, both to scale, and between them bands for what goes where.
#pragma once

#include "widgets/views/painted_view.h"

#include <vector>

namespace weft::widgets {

/// A stretch of the array that lies together: saved by one device, or held by some.
struct ReshardPiece {
    QString range;            // "[0:512, :]"
    std::vector<int> devices; // ascending
    qint64 elements = 0;
};

/// What goes from one piece to one part; offsets are elements from their starts.
struct ReshardBand {
    int from = 0;
    int to = 0;
    qint64 from_at = 0;
    qint64 to_at = 0;
    qint64 elements = 0;
    QString name; // what a screen reader and the tooltip say
};

struct ReshardArray {
    std::vector<ReshardPiece> pieces; // saved; they make up the array
    std::vector<ReshardPiece> parts;  // held; so do they, copies counted once
    std::vector<ReshardBand> bands;   // by part and place in it
    std::vector<int> from_mesh;       // sizes of the axes that saved, for the colours
    std::vector<int> to_mesh;
    QString from; // "saved on data=4 × model=2"; for those who do not see it
    QString to;
};

class ReshardView : public PaintedView {
    Q_OBJECT
public:
    explicit ReshardView(QWidget* parent = nullptr);

    void setArray(ReshardArray array);
    const ReshardArray& array() const { return array_; }
    void setStale(bool stale);

    int itemCount() const override { return static_cast<int>(array_.bands.size()); }
    ViewItem item(int index) const override;
    int hitTest(const QPointF& position) const override;
    QSize sizeHint() const override { return {480, 180}; }
    QSize minimumSizeHint() const override;

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;

private:
    /// Where things lie in a view of some size.
    struct Layout {
        QRectF above; // the row of pieces
        QRectF below; // the row of parts
        double scale = 0;
    };

    Layout layoutFor(const QSizeF& view_size) const;
    /// Left and right edge of a band in the row of pieces, or of parts.
    std::pair<double, double> edges(const ReshardBand& band, bool above,
                                    const Layout& layout) const;
    QPolygonF shape(const ReshardBand& band, const Layout& layout) const;
    void paintRow(QPainter& painter, bool above, const Layout& layout) const;
    void paintBand(QPainter& painter, int index, const Layout& layout, bool lit) const;

    ReshardArray array_;
    std::vector<qint64> piece_starts_, part_starts_; // elements before each
    qint64 elements_ = 0;
    bool stale_ = false;
};

} // namespace weft::widgets
