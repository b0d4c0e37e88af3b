// SPDX-License-Identifier: GPL-3.0-or-later
// The line at the bottom: state, step, epoch, loss, speed, time left, memory, disk. A click on an
// item opens the page that explains it; narrow windows drop items from the end.
#pragma once

#include "widgets/pill.h"

#include <QTimer>
#include <QWidget>

#include <vector>

class QPushButton;

namespace weft::widgets {
class TextLabel;
}

namespace weft::ui {

class Actions;
class Studio;

class StatusBar : public QWidget {
    Q_OBJECT
public:
    StatusBar(Studio& studio, Actions& actions, QWidget* parent = nullptr);
    void setProblemCount(int errors, int warnings);

signals:
    void pageRequested(const QString& id);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    struct Item {
        QPushButton* button;
        QString page;
    };

    void setItems(const QStringList& texts);
    void refresh();
    void fitItems();
    QStringList idleTexts() const;
    QStringList runTexts() const;

    Studio& studio_;
    widgets::StatePill* state_;
    std::vector<Item> items_;
    QPushButton* problems_;
    QPushButton* console_;
    QTimer timer_;
    int ticks_ = 0;
    QString machine_;
    QString disk_;
};

} // namespace weft::ui
