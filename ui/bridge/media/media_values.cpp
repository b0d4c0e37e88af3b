// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/media/media_values.h"

#include "core/base/file.h"
#include "ui/bridge/convert.h"

#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>
#include <QTextList>
#include <QTextTable>

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::ui {
namespace {

constexpr std::size_t kMostPictures = 64; // of one value
constexpr qsizetype kMostLetters = 20000; // of one text
constexpr std::size_t kMostSpreadSteps = 400;
constexpr int kSpreadParts = 60;

/// Paragraphs and headings as lines, entries of lists with their mark, a row of a table as a line.
QString readableLines(const QTextDocument& document) {
    QString out;
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        QString text = block.text();
        text.remove(QChar::ObjectReplacementCharacter); // pictures, which are not loaded
        if (const QTextList* list = block.textList()) {
            const bool numbered = list->format().style() <= QTextListFormat::ListDecimal;
            text = QString(2 * std::max(0, list->format().indent() - 1), ' ') +
                   (numbered ? list->itemText(block) : QString(QChar(0x2022))) + ' ' + text;
        }
        QTextCursor cursor(block);
        const QTextTable* table = cursor.currentTable();
        const bool goes_on = table != nullptr && table->cellAt(cursor).column() > 0;
        out += out.isEmpty() ? text : (goes_on ? "   " : "\n") + text;
    }
    return out;
}

QString readable(const std::string& markdown) {
    QTextDocument document;
    document.setMarkdown(toQString(markdown),
                         QTextDocument::MarkdownFeatures(QTextDocument::MarkdownDialectGitHub) |
                             QTextDocument::MarkdownNoHTML);
    QString out = readableLines(document).trimmed();
    if (out.size() > kMostLetters) {
        const qsizetype more = out.size() - kMostLetters;
        out.truncate(kMostLetters);
        out += QObject::tr("… and %1 more characters").arg(formatCount(more));
    }
    return out;
}

/// The numbers of a bucket are spread evenly over it.
void rebin(const train::MediaHistogram& histogram, DrawnMedia& out) {
    out.total = histogram.total();
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
        if (histogram.counts[i] > 0) {
            low = std::min(low, histogram.left[i]);
            high = std::max(high, histogram.right[i]);
        }
    }
    if (!(low <= high) || !std::isfinite(high - low)) {
        return;
    }
    out.low = low;
    out.high = high;
    std::vector<double> parts(kSpreadParts, 0.0);
    const double width = (high - low) / kSpreadParts;
    for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
        const double left = histogram.left[i], right = histogram.right[i];
        const auto part_of = [&](double at) {
            return width > 0 ? std::clamp(static_cast<int>((at - low) / width), 0, kSpreadParts - 1)
                             : 0;
        };
        if (!(histogram.counts[i] > 0)) {
            continue;
        }
        const int first = part_of(left), last = part_of(right);
        for (int part = first; part <= last; ++part) {
            const double from = std::max(left, low + width * part);
            const double to = std::min(right, low + width * (part + 1));
            const double share = right > left ? std::max(0.0, to - from) / (right - left)
                                              : (part == first ? 1.0 : 0.0);
            parts[static_cast<std::size_t>(part)] += histogram.counts[i] * share;
        }
    }
    for (const double count : parts) {
        out.counts.push_back(static_cast<qint64>(std::llround(std::min(count, 9e18))));
    }
}

void sortByRecall(const train::MediaPrCurve& curve, DrawnMedia& out) {
    std::vector<std::pair<double, double>> points;
    for (std::size_t i = curve.recall.size(); i-- > 0;) { // thresholds from 1 to 0
        points.emplace_back(curve.recall[i], curve.precision[i]);
    }
    std::stable_sort(points.begin(), points.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [recall, precision] : points) {
        out.recall.push_back(recall);
        out.precision.push_back(precision);
    }
}

DrawnMedia draw(const train::MediaValue& value) {
    DrawnMedia out;
    if (const auto* images = std::get_if<train::MediaImages>(&value)) {
        const std::size_t shown = std::min(images->encoded.size(), kMostPictures);
        out.more_pictures = static_cast<qint64>(images->encoded.size() - shown);
        for (std::size_t i = 0; i < shown; ++i) {
            const std::string& bytes = images->encoded[i];
            out.pictures.push_back(QImage::fromData(reinterpret_cast<const uchar*>(bytes.data()),
                                                    static_cast<int>(bytes.size())));
        }
    } else if (const auto* audio = std::get_if<train::MediaAudio>(&value)) {
        if (auto wave = soundWave(audio->wav)) {
            out.sound = std::move(*wave);
        } else {
            out.problem = QObject::tr("This form of WAV file is not drawn. It can be saved.");
        }
    } else if (const auto* text = std::get_if<train::MediaText>(&value)) {
        for (const std::string& one : text->texts) {
            out.texts << readable(one);
        }
    } else if (const auto* histogram = std::get_if<train::MediaHistogram>(&value)) {
        rebin(*histogram, out);
    } else {
        sortByRecall(std::get<train::MediaPrCurve>(value), out);
    }
    out.files = train::media_files(value);
    return out;
}

} // namespace

DrawnMedia readDrawnMedia(const std::filesystem::path& folder, train::MediaKind kind,
                          const train::MediaPlace& place) {
    try {
        return draw(train::read_media(folder, kind, place));
    } catch (const std::exception& fault) {
        DrawnMedia out;
        out.problem = faultText(fault);
        return out;
    }
}

QString saveMedia(const std::vector<train::MediaFile>& files, const std::filesystem::path& place,
                  const QString& stem) {
    try {
        for (std::size_t i = 0; i < files.size(); ++i) {
            const std::filesystem::path name =
                toPath(stem + QString("-%1").arg(i + 1) + toQString(files[i].ending));
            write_file_atomically(files.size() == 1 ? place : place / name, files[i].bytes);
        }
    } catch (const std::exception& fault) {
        return faultText(fault);
    }
    return {};
}

std::array<double, kSpreadShares.size()> spreadLevels(const train::MediaHistogram& histogram) {
    std::array<double, kSpreadShares.size()> out;
    out.fill(std::numeric_limits<double>::quiet_NaN());
    const double total = histogram.total();
    double below = 0;
    std::size_t level = 0;
    for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
        const double count = histogram.counts[i];
        if (!(count > 0)) {
            continue;
        }
        // The last share is the right end of the last bucket, however the sum was rounded.
        for (; level + 1 < out.size() && kSpreadShares[level] * total <= below + count; ++level) {
            const double within = (kSpreadShares[level] * total - below) / count;
            out[level] = histogram.left[i] + within * (histogram.right[i] - histogram.left[i]);
        }
        below += count;
        out.back() = histogram.right[i];
    }
    return out;
}

MediaSpread readMediaSpread(const std::filesystem::path& folder,
                            const std::vector<train::MediaPlace>& places,
                            const std::stop_token& stop) {
    MediaSpread out;
    out.all = places.size();
    const std::size_t taken = std::min(places.size(), kMostSpreadSteps);
    for (std::size_t i = 0; i < taken; ++i) {
        if (stop.stop_requested()) {
            return {};
        }
        const std::size_t number =
            taken < 2 ? 0 : i * (places.size() - 1) / (taken - 1); // first and last among them
        try {
            const auto value =
                train::read_media(folder, train::MediaKind::histogram, places[number]);
            const auto levels = spreadLevels(std::get<train::MediaHistogram>(value));
            out.steps.push_back(static_cast<double>(places[number].step));
            for (std::size_t level = 0; level < levels.size(); ++level) {
                out.levels[level].push_back(levels[level]);
            }
        } catch (const std::exception&) {
            continue; // said by the step itself, when it is chosen
        }
    }
    return out;
}

} // namespace weft::ui
