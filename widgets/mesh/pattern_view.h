// SPDX-License-Identifier: GPL-3.0-or-later
// A communication pattern on small numbers: a column for each device, its parts below one another,
// and what the devices send to each other from one step to the next. The numbers are given; the
// view moves them.
#pragma once

#include "widgets/views/painted_view.h"

#include <QVariantAnimation>

#include <optional>
#include <vector>

namespace weft::widgets {

struct PatternCell {
    std::optional<int> value; // none: the device has nothing there
    bool fresh = false;       // arrived or changed in this step
    bool done = false;        // as it shall be in the end

    friend bool operator==(const PatternCell&, const PatternCell&) = default;
};

/// A part on its way; what arrives is added or stands alone.
struct PatternMessage {
    int from = 0; // columns
    int to = 0;
    int from_row = 0;
    int to_row = 0;
    int value = 0;
    bool adds = false;
};

struct PatternStep {
    QString text;
    std::vector<PatternMessage> messages;         // that lead to it
    std::vector<std::vector<PatternCell>> places; // [column][row] afterwards
};

struct Pattern {
    std::vector<int> devices;       // numbers, by column
    std::vector<int> mesh;          // sizes of its axes: the devices' colours
    int second_rows = 0;            // rows at the end for what arrives, where it stands apart
    std::vector<PatternStep> steps; // the first is the beginning

    int rows() const {
        return steps.empty() || steps[0].places.empty()
                   ? 0
                   : static_cast<int>(steps[0].places[0].size());
    }
    int lastStep() const { return static_cast<int>(steps.size()) - 1; }
};

class PatternView : public PaintedView {
    Q_OBJECT
public:
    explicit PatternView(QWidget* parent = nullptr);

    /// Shows its beginning.
    void setPattern(Pattern pattern);
    const Pattern& pattern() const { return pattern_; }
    int step() const { return step_; }
    /// With `ms` above 0 its messages travel first; not with reduced motion.
    void setStep(int step, int ms = 0);
    bool isMoving() const { return motion_.state() == QAbstractAnimation::Running; }

    int itemCount() const override { return static_cast<int>(pattern_.devices.size()); }
    ViewItem item(int index) const override;
    QSize sizeHint() const override { return {480, 170}; }
    QSize minimumSizeHint() const override;

signals:
    /// The messages of the step have arrived.
    void arrived();

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;

private:
    struct Frame {
        double pitch = 0; // of columns
        double top = 0;
        double row = 0; // height of a row, with its gap
        double gap = 0; // before the rows for what arrives
        QSizeF cell;
        double width = 0;
    };

    Frame frame(const QSizeF& view_size) const;
    QRectF cellRect(int column, int row, const Frame& frame) const;
    void paintCell(QPainter& painter, const PatternCell& cell, const QRectF& rect) const;
    void paintMessage(QPainter& painter, const PatternMessage& message, const Frame& frame,
                      double progress) const;
    bool wraps(const PatternMessage& message) const;

    Pattern pattern_;
    int step_ = 0;
    double progress_ = 1.0; // of its messages
    QVariantAnimation motion_;
};

} // namespace weft::widgets
