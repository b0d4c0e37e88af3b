// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/media/sound_wave.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace weft::ui {
namespace {

constexpr std::uint16_t kWholeNumbers = 1, kFloats = 3, kExtensible = 0xfffe;
constexpr std::uint16_t kMostSoundChannels = 16;

template <class T>
T little_endian(std::string_view bytes, std::size_t at) {
    T out{};
    std::memcpy(&out, bytes.data() + at, sizeof out);
    return out;
}

struct WavFormat {
    std::uint16_t form = 0, channels = 0, bits = 0;
    std::uint32_t rate = 0;

    bool isKnown() const {
        const bool whole = form == kWholeNumbers && bits % 8 == 0 && bits >= 8 && bits <= 32;
        return (whole || (form == kFloats && bits == 32)) && rate > 0 && channels > 0 &&
               channels <= kMostSoundChannels;
    }
    /// -1 to 1.
    double value(std::string_view bytes, std::size_t at) const {
        if (form == kFloats) {
            const auto value = static_cast<double>(little_endian<float>(bytes, at));
            return std::isfinite(value) ? value : 0.0;
        }
        if (bits == 8) { // the only one without a sign
            return (double(little_endian<std::uint8_t>(bytes, at)) - 128.0) / 128.0;
        }
        std::uint32_t high = 0; // its sign is the sign of the number
        std::memcpy(reinterpret_cast<char*>(&high) + (4 - bits / 8), bytes.data() + at, bits / 8U);
        return double(static_cast<std::int32_t>(high)) / 2147483648.0;
    }
};

} // namespace

// Resource Interchange File Format: a name of four letters, a length, its bytes, filled up to two.
std::optional<SoundWave> soundWave(std::string_view wav, std::size_t most_values) {
    constexpr std::size_t kHead = 8, kFormat = 16, kExtended = 26;
    if (wav.size() < 12 || !wav.starts_with("RIFF") || wav.substr(8, 4) != "WAVE") {
        return {};
    }
    WavFormat format;
    std::string_view data;
    for (std::size_t at = 12; at + kHead <= wav.size() && data.empty();) {
        const std::size_t length = little_endian<std::uint32_t>(wav, at + 4);
        const std::string_view body = wav.substr(at + kHead, length); // may be cut off
        if (wav.substr(at, 4) == "fmt " && body.size() >= kFormat) {
            format = {little_endian<std::uint16_t>(body, 0), little_endian<std::uint16_t>(body, 2),
                      little_endian<std::uint16_t>(body, 14),
                      little_endian<std::uint32_t>(body, 4)};
            if (format.form == kExtensible && body.size() >= kExtended) {
                format.form = little_endian<std::uint16_t>(body, 24);
            }
        } else if (wav.substr(at, 4) == "data") {
            data = body;
        }
        at += kHead + length + length % 2;
    }
    if (!format.isKnown() || most_values < 2) {
        return {};
    }
    const std::size_t width = format.bits / 8U;
    const std::size_t frames = data.size() / (width * format.channels);
    const std::size_t stretches = std::min(frames, most_values / 2);
    SoundWave out{double(format.rate), double(frames) / format.rate, {}, {}};
    out.channels.resize(format.channels);
    for (std::size_t i = 0; i < stretches; ++i) {
        const std::size_t first = frames * i / stretches;
        const std::size_t end = frames * (i + 1) / stretches;
        out.at.insert(out.at.end(), 2, double(first) / format.rate);
        for (std::size_t channel = 0; channel < format.channels; ++channel) {
            double low = 1e300, high = -1e300;
            for (std::size_t frame = first; frame < end; ++frame) {
                const double value =
                    format.value(data, (frame * format.channels + channel) * width);
                low = std::min(low, value);
                high = std::max(high, value);
            }
            out.channels[channel].push_back(low);
            out.channels[channel].push_back(high);
        }
    }
    return out;
}

} // namespace weft::ui
