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

namespace {

/// Adds tokens to a run, and a stretch where their kind changes.
class RunWriter {
public:
    RunWriter(const tokenizer::Tokenizer* tokenizer, widgets::TokenRun& run)
        : tokenizer_(tokenizer), run_(run) {}

    /// A kind is named where it begins.
    void begin(const QString& name, widgets::TokenStretch::Kind kind) {
        if (run_.stretches.empty() || run_.stretches.back().kind != kind) {
            run_.stretches.push_back({static_cast<int>(run_.tokens.size()), name, kind});
        }
    }
    void add(std::int32_t token, const QString& tooltip) {
        run_.tokens << (tokenizer_ != nullptr ? signOf(token, *tokenizer_)
                                              : QString::number(token));
        run_.tooltips << tooltip;
    }

private:
    const tokenizer::Tokenizer* tokenizer_;
    widgets::TokenRun& run_;
};

/// Where padding begins: nothing is learnt from there on, and every token is 0.
std::size_t paddingOf(const SampleView& sample) {
    std::size_t end = sample.tokens.size();
    while (end > 0 && sample.next[end - 1] < 0 && sample.tokens[end - 1] == 0) {
        --end;
    }
    return end;
}

QString positionText(std::int32_t token, std::size_t position) {
    return QObject::tr("token %1 at position %2").arg(token).arg(position);
}

// What is learnt at a position stands where it is read: behind it. The last token of an answer is
// never read.
void addStretches(const SampleView& sample, const tokenizer::Tokenizer* tokenizer,
                  widgets::TokenRun& run) {
    using Kind = widgets::TokenStretch::Kind;
    RunWriter writer(tokenizer, run);
    const std::size_t padding = paddingOf(sample);
    for (std::size_t i = 0; i <= padding; ++i) {
        const std::int32_t learnt = i > 0 ? sample.next[i - 1] : -1;
        const bool read = i < padding && (learnt < 0 || sample.tokens[i] != learnt);
        if (learnt >= 0) {
            writer.begin(QObject::tr("learnt"), Kind::Underlined);
            writer.add(learnt, QObject::tr("%1, to be learnt").arg(positionText(learnt, i)));
        }
        if (read) {
            const bool next = i > 0 && !sample.positions.empty() && sample.positions[i] == 0;
            if (next) { // of several conversations in one window, which do not see each other
                run.stretches.push_back(
                    {static_cast<int>(run.tokens.size()), QObject::tr("next"), Kind::Muted});
            }
            writer.begin(QObject::tr("read"), Kind::Muted);
            writer.add(sample.tokens[i],
                       QObject::tr("%1, only read").arg(positionText(sample.tokens[i], i)));
        }
    }
    if (padding < sample.tokens.size()) {
        run.stretches.push_back(
            {static_cast<int>(run.tokens.size()), QObject::tr("padding"), Kind::Muted});
        run.tokens << QStringLiteral("× %1").arg(
            formatCount(static_cast<qint64>(sample.tokens.size() - padding)));
        run.tooltips << QObject::tr("positions that hold nothing");
    }
}

} // namespace

widgets::TokenRun runOf(const SampleView& sample, const tokenizer::Tokenizer* tokenizer) {
    widgets::TokenRun run;
    run.caption = sample.problem.isEmpty() ? QObject::tr("sample %1").arg(formatCount(sample.index))
                                           : QObject::tr("sample %1 cannot be read: %2")
                                                 .arg(formatCount(sample.index), sample.problem);
    if (std::any_of(sample.next.begin(), sample.next.end(), [](auto next) { return next < 0; })) {
        addStretches(sample, tokenizer, run);
        return run;
    }
    RunWriter writer(tokenizer, run);
    for (std::size_t i = 0; i < sample.tokens.size(); ++i) {
        writer.add(sample.tokens[i], positionText(sample.tokens[i], i));
    }
    return run;
}

} // namespace weft::ui
