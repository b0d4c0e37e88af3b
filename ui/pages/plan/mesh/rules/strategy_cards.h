// SPDX-License-Identifier: GPL-3.0-or-later
// Every strategy as a card with a picture of who holds what, in as many rows as the width asks for.
#pragma once

#include <QAbstractButton>
#include <QComboBox>
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
    QSize sizeHint() const override { return {132, 44}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;
    void enterEvent(QEnterEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    std::string strategy_;
    QString remark_;
};

class StrategyCards : public QWidget {
    Q_OBJECT
public:
    explicit StrategyCards(QWidget* parent = nullptr);

    void setStrategy(const std::string& strategy);
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;
    QSize sizeHint() const override { return {1180, heightForWidth(1180)}; }
    QSize minimumSizeHint() const override { return {300, 44}; }

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
};

/// The same to choose from on one line, where there is no room for cards.
class StrategyBox : public QComboBox {
    Q_OBJECT
public:
    explicit StrategyBox(QWidget* parent = nullptr);

    void setStrategy(const std::string& strategy);

signals:
    void strategyChosen(const std::string& strategy);

protected:
    void changeEvent(QEvent* event) override;

private:
    void fill();

    std::string strategy_;
};

} // namespace weft::ui
