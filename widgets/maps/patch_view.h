// SPDX-License-Identifier: GPL-3.0-or-later
// A picture in patches, each the stronger coloured the more weight lies on it; what comes before
// the patches (a class token) stands above. One of all is the one that looks.
#pragma once

#include "widgets/views/painted_view.h"

#include <QImage>

#include <vector>

namespace weft::widgets {

struct Patches {
    int rows = 0, columns = 0;
    int before = 0;             // places that are no patches
    QImage picture;             // null: only the weights are drawn
    std::vector<float> weights; // [before + rows columns]
    std::vector<QString> words; // of each
    int chosen = -1;
};

class PatchView : public PaintedView {
    Q_OBJECT
public:
    explicit PatchView(QWidget* parent = nullptr);

    void setPatches(Patches patches);
    const Patches& patches() const { return patches_; }

    int itemCount() const override { return static_cast<int>(patches_.weights.size()); }
    ViewItem item(int index) const override;
    QSize sizeHint() const override { return {240, 260}; }
    QSize minimumSizeHint() const override { return {120, 140}; }

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;
    int neighbour(int index, int key) const override;

private:
    QRectF picture(const QSizeF& view_size) const;
    QRectF place(int index, const QSizeF& view_size) const;

    Patches patches_;
};

} // namespace weft::widgets
