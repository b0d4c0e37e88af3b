// SPDX-License-Identifier: GPL-3.0-or-later
// Presets as cards: what it is, how many parameters, whether it fits this machine.
#pragma once

#include <QWidget>

#include <filesystem>
#include <vector>

class QGridLayout;
class QPushButton;

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
        std::int64_t parameters; // kUnknown until planned
    };

    void planned(const QWidget* card, std::int64_t parameters);
    void showAll(bool all);
    void arrange();

    Studio& studio_;
    QGridLayout* grid_;
    std::vector<Entry> cards_;
    QPushButton* more_;
    std::size_t planned_ = 0;
    bool loaded_ = false;
    bool all_ = false; // not only the first row
};

} // namespace weft::ui
