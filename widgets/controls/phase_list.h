// SPDX-License-Identifier: GPL-3.0-or-later
// What a run does before its first point: named phases with times, a check or a spinner.
#pragma once

#include <QElapsedTimer>
#include <QWidget>

#include <vector>

namespace weft::widgets {

enum class PhaseState { Waiting, Active, Done, Failed };

struct Phase {
    QString name;   // "Reading data"
    QString detail; // "54,000 images"
    PhaseState state = PhaseState::Waiting;
    double seconds = -1.0; // negative: not known; an active phase counts by itself
};

class PhaseList : public QWidget {
    Q_OBJECT
public:
    explicit PhaseList(QWidget* parent = nullptr);

    void setPhases(std::vector<Phase> phases);
    const std::vector<Phase>& phases() const { return phases_; }
    /// Ends the active phase as done and starts this one (appended when new).
    void begin(const QString& name, const QString& detail = {});
    /// Ends the active phase.
    void finish(bool failed = false, const QString& detail = {});
    void clear();

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void timerEvent(QTimerEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    int activeIndex() const;
    void refresh();
    double shownSeconds(const Phase& phase) const;

    std::vector<Phase> phases_;
    QElapsedTimer clock_;
    int timer_ = 0;
    int turn_ = 0;
};

} // namespace weft::widgets
