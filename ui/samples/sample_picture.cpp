// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/samples/sample_picture.h"

#include "core/base/text.h"
#include "ui/bridge/convert.h"
#include "widgets/views/image_grid.h"

#include <algorithm>
#include <cmath>

namespace weft::ui {

std::pair<float, float> valueRange(std::span<const SampleView> samples) {
    float low = 0;
    float high = 1;
    for (const SampleView& sample : samples) {
        for (const float value : sample.values) {
            if (std::isfinite(value)) {
                low = std::min(low, value);
                high = std::max(high, value);
            }
        }
    }
    return {low, high};
}

QImage pictureOf(const SampleView& sample, const ir::Shape& shape, float low, float high) {
    const auto height = static_cast<int>(shape[0]);
    const auto width = static_cast<int>(shape[1]);
    const auto channels = static_cast<int>(shape[2]);
    const int drawn = channels >= 3 ? 3 : 1;
    if (drawn == channels) {
        return widgets::imageFromFloats(sample.values, width, height, channels, low, high);
    }
    std::vector<float> values;
    values.reserve(sample.values.size() / static_cast<std::size_t>(channels) *
                   static_cast<std::size_t>(drawn));
    for (std::size_t at = 0; at < sample.values.size(); at += static_cast<std::size_t>(channels)) {
        values.insert(values.end(), sample.values.begin() + static_cast<std::ptrdiff_t>(at),
                      sample.values.begin() + static_cast<std::ptrdiff_t>(at) + drawn);
    }
    return widgets::imageFromFloats(values, width, height, drawn, low, high);
}

/// What a token stands for: a part of a character as its bytes.
QString signOf(std::int32_t token, const tokenizer::Tokenizer& tokenizer) {
    const std::string bytes = tokenizer.decoded(std::span(&token, 1));
    QString out;
    if (is_utf8(bytes)) {
        for (const QChar c : toQString(bytes)) {
            out += c.unicode() < 0x80 ? widgets::byteSign(c.unicode()) : QString(c);
        }
        return out;
    }
    for (const char byte : bytes) {
        out += widgets::byteSign(static_cast<unsigned char>(byte));
    }
    return out;
}

widgets::TokenRun runOf(const SampleView& sample, const tokenizer::Tokenizer* tokenizer) {
    widgets::TokenRun run;
    run.caption = sample.problem.isEmpty() ? QObject::tr("sample %1").arg(formatCount(sample.index))
                                           : QObject::tr("sample %1 cannot be read: %2")
                                                 .arg(formatCount(sample.index), sample.problem);
    for (std::size_t i = 0; i < sample.tokens.size(); ++i) {
        const std::int32_t token = sample.tokens[i];
        const QString sign =
            tokenizer != nullptr ? signOf(token, *tokenizer) : QString::number(token);
        run.tokens << sign;
        run.tooltips << QObject::tr("token %1 at position %2").arg(token).arg(i);
    }
    return run;
}

} // namespace weft::ui
