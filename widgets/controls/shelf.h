// SPDX-License-Identifier: GPL-3.0-or-later
// A page with messages that come and go at one of its edges. While the mouse is over the page they
// lie on it, and nothing moves under the mouse; when it goes, the page makes room for what is
// there.
#pragma once

#include <QWidget>

#include <vector>

namespace weft::widgets {

class Shelf : public QWidget {
    Q_OBJECT
public:
    enum class Edge { Top, Bottom };

    /// Takes the page.
    Shelf(QWidget* page, Edge edge, QWidget* parent = nullptr);

    /// Takes a message: seen whenever it is not hidden, the first outermost, as high as it asks
    /// for.
    void add(QWidget* message);

    /// Room for what is there, also below the mouse: what is on the page is another thing now.
    void makeRoom();

    /// The page and the messages, from the top down.
    std::vector<QWidget*> downwards() const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    bool event(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    int heightOf(const QWidget& message) const;
    /// Of all that are there.
    int wanted() const;
    void arrange();

    QWidget* page_;
    const Edge edge_;
    std::vector<QWidget*> messages_;
    int room_ = 0; // that the page leaves
};

} // namespace weft::widgets
