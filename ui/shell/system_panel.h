// SPDX-License-Identifier: GPL-3.0-or-later
// What this machine computes with: its GPUs and how they are, how they are joined, what they stand
// on, its processor and memory. As of the last look; while a run trains, as its events say.
#pragma once

#include <QWidget>

class QFormLayout;
class QPushButton;
class QStackedWidget;
class QTableView;

namespace weft::widgets {
class ElidedLabel;
class EmptyState;
} // namespace weft::widgets

namespace weft::ui {

class GpuModel;
class Studio;

class SystemPanel : public QWidget {
    Q_OBJECT
public:
    explicit SystemPanel(Studio& studio, QWidget* parent = nullptr);

protected:
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QWidget* createGpus();
    QWidget* createFacts();
    void keepHeight();
    void update();
    void fillFacts();
    void addFact(const QString& name, const QString& text, bool wrong = false);

    Studio& studio_;
    widgets::ElidedLabel* state_;
    QPushButton* again_;
    QStackedWidget* sheets_;
    widgets::EmptyState* none_;
    GpuModel* gpus_;
    QTableView* table_;
    QFormLayout* facts_;
};

} // namespace weft::ui
