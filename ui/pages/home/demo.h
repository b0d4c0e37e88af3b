// SPDX-License-Identifier: GPL-3.0-or-later
// Which demo this machine can run: the pictures of clothes come in a package of their own; where it
// is not installed, the demo learns pictures that are made as it reads them.
#pragma once

#include "widgets/views/image_grid.h"

#include <QString>

#include <filesystem>
#include <string>
#include <vector>

namespace weft::ui {

struct Demo {
    std::filesystem::path preset;
    std::string name;                         // of its runs
    bool made = false;                        // of pictures made on the fly
    std::vector<widgets::GridImage> pictures; // one of each class
    QString clothes_problem; // of the made one: why it is not the one of clothes, and what to do
    QString problem;         // why there is none
};

/// Opens the data of the presets; for the background.
Demo findDemo(const std::filesystem::path& presets);

} // namespace weft::ui
