// SPDX-License-Identifier: GPL-3.0-or-later
// The newest runs: curve, state, best, and one action each.
#pragma once

#include "core/train/run_summary.h"

#include <QWidget>

class QGridLayout;

namespace weft::ui {

class Studio;

class RecentRuns : public QWidget {
    Q_OBJECT
public:
    explicit RecentRuns(Studio& studio, QWidget* parent = nullptr);

    /// As narrow as the page: columns leave, the least telling first.
    QSize minimumSizeHint() const override;

signals:
    void openRequested(const QString& folder);
    void resumeRequested(const QString& folder);
    void checkpointsRequested(const QString& folder);

protected:
    bool event(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void rebuild();
    void fitColumns();
    void addHeader();
    void addRow(int row, const train::RunSummary& run);
    void addAction(int row, const train::RunSummary& run);
    void addMessage(const QString& text);

    Studio& studio_;
    QWidget* table_ = nullptr;
    QGridLayout* grid_ = nullptr;
};

} // namespace weft::ui
