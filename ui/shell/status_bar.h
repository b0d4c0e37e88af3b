// SPDX-License-Identifier: GPL-3.0-or-later
// The line at the bottom: state, step, epoch, loss, speed, time left, memory, disk. An item opens
// the page that explains it, by a click or the keyboard: one Tab stop, arrows go from item to item.
// Narrow windows drop items from the end.
#pragma once

#include "widgets/controls/pill.h"

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
    bool eventFilter(QObject* watched, QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    struct Item {
        QPushButton* button;
        QString page;
    };
    struct Said {
        QString text; // empty: nothing to say of it now
        const char* page = "train";
    };

    void setItems(const std::vector<Said>& said);
    void placeTabStop();
    void moveFocus(int direction);
    void refresh();
    void fitItems();
    std::vector<Said> idleTexts() const;
    std::vector<Said> runTexts() const;

    Studio& studio_;
    widgets::StatePill* state_;
    std::vector<Item> items_;
    std::size_t stop_ = 0; // the item that Tab reaches
    QPushButton* problems_;
    QPushButton* console_;
    QTimer timer_;
    int ticks_ = 0;
    QString machine_;
    QString disk_;
};

} // namespace weft::ui
