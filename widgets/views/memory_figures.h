// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes by category on one line, as numbers that change in place: a square and a figure for each,
// then the sum and what it is of. All figures are in the same unit, which the largest sum sets.
#pragma once

#include "widgets/views/memory_unit.h"
#include "widgets/views/painted_view.h"

#include <array>
#include <vector>

namespace weft::widgets {

class MemoryFigures : public PaintedView {
    Q_OBJECT
public:
    using Bytes = std::array<qint64, kMemoryCategoryCount>;

    explicit MemoryFigures(QWidget* parent = nullptr);

    /// The most that each category can come to, and all together: sets unit and room. Categories
    /// that would always be nought are left out.
    void setMost(const Bytes& most, qint64 total);
    void setBytes(const Bytes& bytes);
    /// What the bytes are of, before the sum: "arena".
    void setSumName(const QString& name);
    void setStale(bool stale);
    /// Leaves the categories out where there is no room for them.
    void setTotalOnly(bool only);
    int fullWidth() const { return widthOf(true); }

    int itemCount() const override { return total_only_ ? 0 : static_cast<int>(shown_.size()); }
    ViewItem item(int index) const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;

private:
    int widthOf(bool all) const;
    double figureWidth() const;
    double sumNameWidth() const;
    QString figure(qint64 bytes) const;
    QRectF place(int index) const;
    qint64 total() const;
    void describe();

    std::vector<MemoryCategory> shown_;
    Bytes bytes_{};
    MemoryUnit unit_;
    QString sum_name_;
    QString widest_; // figure
    bool total_only_ = false;
    bool stale_ = false;
};

} // namespace weft::widgets
