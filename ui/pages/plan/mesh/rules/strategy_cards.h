// SPDX-License-Identifier: GPL-3.0-or-later
// Every strategy as a card with a picture of who holds what, in as many rows as the width asks for.
#pragma once

#include <QAbstractButton>
#include <QWidget>

#include <string>
#include <vector>

namespace weft::ui {

class StrategyCard : public QAbstractButton {
    Q_OBJECT
public:
    StrategyCard(std::string strategy, const QString& title, const QString& remark,
                 const QString& help, QWidget* parent = nullptr);

    const std::string& strategy() const { return strategy_; }
    void setBrief(bool brief);
    QSize sizeHint() const override { return {132, 44}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;
    void enterEvent(QEnterEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    std::string strategy_;
    QString remark_;
    bool brief_ = false;
};

class StrategyCards : public QWidget {
    Q_OBJECT
public:
    explicit StrategyCards(QWidget* parent = nullptr);

    void setStrategy(const std::string& strategy);
    /// Titles alone, for low windows.
    void setBrief(bool brief);
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;
    QSize sizeHint() const override { return {1180, heightForWidth(1180)}; }
    QSize minimumSizeHint() const override { return {300, 30}; }

signals:
    void strategyChosen(const std::string& strategy);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    /// Left and right walk the cards, as in a group of radio buttons.
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    int columnsIn(int width) const;
    void arrange();

    std::vector<StrategyCard*> cards_;
    std::vector<StrategyCard*> shown_; // of these
    bool brief_ = false;
};

} // namespace weft::ui
