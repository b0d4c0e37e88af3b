// SPDX-License-Identifier: GPL-3.0-or-later
// Presets as cards: what it is, how many parameters, how long it takes here and how good it
// becomes, whether it fits this machine.
#pragma once

#include "ui/bridge/draft/preset_list.h"

#include <QWidget>

#include <filesystem>
#include <limits>
#include <vector>

class QGridLayout;
class QPushButton;

namespace weft::widgets {
class Badge;
class ElidedLabel;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class Studio;
struct PresetFacts;

class PresetRow : public QWidget {
    Q_OBJECT
public:
    explicit PresetRow(Studio& studio, QWidget* parent = nullptr);

    /// Reads the presets and plans each in the background, once.
    void load();

signals:
    void presetChosen(const QString& path);
    void failed(const QString& problem);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    static constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max();

    struct Entry {
        QWidget* card;
        std::filesystem::path path;
        std::int64_t parameters = kUnknown; // until planned
        widgets::TextLabel* size = nullptr;
        widgets::TextLabel* time = nullptr;
        widgets::TextLabel* quality = nullptr;
        widgets::Badge* badge = nullptr;
        widgets::ElidedLabel* memory = nullptr;
    };

    void addCard(const PresetInfo& preset);
    /// In the background, again when this machine has been measured.
    void planAll();
    void show(const QWidget* card, const PresetFacts& facts);
    void sort();
    void showAll(bool all);
    void updateMeasuring();
    void arrange();

    Studio& studio_;
    QGridLayout* grid_;
    std::vector<Entry> cards_;
    QPushButton* measure_; // while nothing says how long a run takes here
    QPushButton* more_;
    std::size_t planned_ = 0;
    bool loaded_ = false;
    bool all_ = false; // not only the first row
};

} // namespace weft::ui
