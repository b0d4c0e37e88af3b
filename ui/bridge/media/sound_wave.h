// SPDX-License-Identifier: GPL-3.0-or-later
// A WAV file as a wave that can be drawn.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace weft::ui {

/// Of each channel the lowest and the highest value of every stretch of time, one after the other.
struct SoundWave {
    double rate = 0; // Hz
    double seconds = 0;
    std::vector<double> at;                    // s; of the values below
    std::vector<std::vector<double>> channels; // -1 to 1
};

/// At most so many values of a channel. None where the file is damaged or of a form that is not
/// read: whole numbers of 8, 16, 24 and 32 bits and floats of 32 are.
std::optional<SoundWave> soundWave(std::string_view wav, std::size_t most_values = 8000);

} // namespace weft::ui
