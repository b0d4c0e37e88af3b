// SPDX-License-Identifier: GPL-3.0-or-later
// Every tag of one kind of another program's run, one below the other.
#pragma once

#include "ui/bridge/media/media_folder.h"

#include <QWidget>

class QLineEdit;
class QPushButton;
class QVBoxLayout;

namespace weft::widgets {
class SectionHeader;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class MediaCard;

class MediaPanel : public QWidget {
    Q_OBJECT
public:
    explicit MediaPanel(MediaFolder& media, QWidget* parent = nullptr);

    void setKind(train::MediaKind kind);
    const std::vector<MediaCard*>& cards() const { return cards_; }

signals:
    void exported(bool well, const QString& text);

private:
    void forget();
    void update();
    void addCard(const train::MediaSeries& series);

    MediaFolder& media_;
    train::MediaKind kind_ = train::MediaKind::image;
    bool shown_ = false; // a kind was chosen
    std::size_t most_;
    std::vector<MediaCard*> cards_;
    widgets::SectionHeader* header_;
    QLineEdit* filter_;
    QVBoxLayout* column_;
    widgets::TextLabel* none_;
    QPushButton* more_;
};

} // namespace weft::ui
