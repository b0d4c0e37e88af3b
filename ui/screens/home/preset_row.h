// SPDX-License-Identifier: GPL-3.0-or-later
// Presets as cards: what it is, how many parameters, whether it fits this machine.
#pragma once

#include <QWidget>

#include <filesystem>
#include <vector>

class QGridLayout;

namespace weft::ui {

class Studio;

class PresetRow : public QWidget {
    Q_OBJECT
public:
    explicit PresetRow(Studio& studio, QWidget* parent = nullptr);

    /// Reads the presets and plans each in the background, once.
    void load();
    /// Puts the keyboard on the first preset.
    void focusFirst();

signals:
    void presetChosen(const QString& path);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void addCard(const std::filesystem::path& path);

    struct Entry {
        QWidget* card;
        std::int64_t parameters; // 0 until planned
    };

    void setSize(const QWidget* card, std::int64_t parameters);
    void arrange();

    Studio& studio_;
    QGridLayout* grid_;
    std::vector<Entry> cards_;
    bool loaded_ = false;
};

} // namespace weft::ui
