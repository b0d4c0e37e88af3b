// SPDX-License-Identifier: GPL-3.0-or-later
// A studio over a folder of its own, with its window on screen.
#pragma once

#include "ui/shell/main_window.h"
#include "ui/studio.h"

#include <QTemporaryDir>

namespace bench {

class OpenStudio {
public:
    OpenStudio();

    weft::ui::Studio& studio() { return studio_; }
    weft::ui::MainWindow& window() { return window_; }
    std::filesystem::path root() const { return dir_.path().toStdString(); }
    std::filesystem::path runs() const { return root() / "runs"; }
    static std::filesystem::path preset(const char* name);

private:
    QTemporaryDir dir_;
    weft::widgets::ThemeController theme_;
    weft::ui::Studio studio_;
    weft::ui::MainWindow window_;
};

/// The folder of a finished run: a noisy falling loss, an evaluation every 1,000 steps.
std::filesystem::path make_long_run(const std::filesystem::path& folder, std::int64_t steps);

/// Starts a preset in the studio and waits for its first step; false when there is none.
bool start_preset(OpenStudio& open, const char* name);
/// Stops what trains, and waits until it has.
void stop_training(OpenStudio& open);

} // namespace bench
