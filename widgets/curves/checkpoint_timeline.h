// SPDX-License-Identifier: GPL-3.0-or-later
// Checkpoints as flags over the step axis: solid files, dashed pruned ones, the best starred.
#pragma once

#include "widgets/views/painted_view.h"

#include <vector>

namespace weft::widgets {

struct TimelineCheckpoint {
    qint64 step = 0;
    bool present = true; // false: pruned by retention, drawn dashed
    bool best = false;
    bool pinned = false;
    QString detail; // tooltip's second line: "validation loss 1.519 · 130.2 MB"
};

class CheckpointTimeline : public PaintedView {
    Q_OBJECT
public:
    explicit CheckpointTimeline(QWidget* parent = nullptr);

    /// In ascending order of steps.
    void setCheckpoints(std::vector<TimelineCheckpoint> checkpoints);
    /// Steps at the left and right end.
    void setRange(double low, double high);
    /// Pixels left and right of the axis, so that it lines up with a chart above.
    void setMargins(int left, int right);
    /// Word at the left ("files") and hint at the right ("dashed: pruned by retention").
    void setCaptions(const QString& left, const QString& right);
    /// Index of the selected checkpoint, or -1.
    int selected() const { return selected_; }
    void setSelected(int index);

    int itemCount() const override { return static_cast<int>(checkpoints_.size()); }
    ViewItem item(int index) const override;
    QSize sizeHint() const override { return {480, 32}; }
    QSize minimumSizeHint() const override { return {160, 28}; }

signals:
    /// The user chose another one (click or arrow key).
    void selectionChanged(int index);

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;

private:
    double left() const;
    bool inRange(int index) const;
    double xOf(double step, double width) const;
    std::vector<int> paintOrder() const;
    void paintFlag(QPainter& painter, int index, const QSizeF& view_size) const;

    std::vector<TimelineCheckpoint> checkpoints_;
    double low_ = 0.0;
    double high_ = 1.0;
    int left_ = 48;
    int right_ = 16;
    int selected_ = -1;
    QString left_caption_;
    QString right_caption_;
};

} // namespace weft::widgets
