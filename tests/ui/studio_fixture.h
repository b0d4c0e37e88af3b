// SPDX-License-Identifier: GPL-3.0-or-later
// A studio over a private folder, with one preset; the usual one trains in a second on any machine.
#pragma once

#include "ui/shell/main_window.h"
#include "ui/studio.h"

#include <QTemporaryDir>

#include <memory>

namespace weft::test {

std::string tiny_config();

class StudioFixture {
public:
    /// `config`: the preset, under the name "tiny".
    explicit StudioFixture(const std::string& config = tiny_config());
    ~StudioFixture();
    StudioFixture(const StudioFixture&) = delete;
    StudioFixture& operator=(const StudioFixture&) = delete;

    ui::Studio& studio() { return *studio_; }
    ui::MainWindow& window() { return *window_; }
    std::filesystem::path root() const { return dir_.path().toStdString(); }
    std::filesystem::path preset() const { return root() / "presets" / "tiny.json"; }
    /// Where the studio and its workers look for what was measured on this machine: in the private
    /// cache of this test program. Nothing is there.
    static std::filesystem::path calibration();
    /// How many processes the system is said to have ended for want of memory. At first it does not
    /// say.
    void setMemoryKills(int count);
    /// Closes the window and the studio and opens both again over the same folders.
    void reopen();
    /// Clicks a widget by object name with the mouse; fails the test when there is none.
    void click(const QString& object_name);
    /// Presses a key in the window, which becomes the active one.
    void press(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier);
    QWidget* find(const QString& object_name) const;

private:
    void open();
    std::filesystem::path counters() const { return root() / "vmstat"; }

    QTemporaryDir dir_;
    std::unique_ptr<widgets::ThemeController> theme_;
    std::unique_ptr<ui::Studio> studio_;
    std::unique_ptr<ui::MainWindow> window_;
};

/// Makes a file, and its folder.
void write_file(const std::filesystem::path& path, const std::string& content);
/// A widget's name and those of what it is in, "a in b in c".
QString place_of(const QWidget* widget);

} // namespace weft::test
