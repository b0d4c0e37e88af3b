// SPDX-License-Identifier: Apache-2.0
// Field numbers: tensorflow/core/framework/{summary,tensor,tensor_shape}.proto; layouts of the
// plug-ins' tensors: tensorboard/plugins/*/metadata.py and summary_v2.py.
#include "core/train/logging/tensorboard_media.h"

#include "core/base/error.h"
#include "core/base/protobuf.h"
#include "core/base/text.h"
#include "core/config/pointer.h"
#include "core/train/logging/tensorboard_event.h"
#include "core/train/logging/tensorboard_reader.h"
#include "core/train/logging/tensorboard_records.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>

namespace weft::train {
namespace {

namespace fs = std::filesystem;

using Message = protobuf::Reader;
using WireField = protobuf::Field;
using protobuf::bytes, protobuf::fixed32, protobuf::fixed64, protobuf::varint;

constexpr std::size_t kMostMediaProblems = 20;
constexpr std::size_t kPrRows = 6; // true and false positives, negatives, precision, recall

template <typename T>
std::vector<double> packed(std::string_view text) {
    std::vector<double> out(text.size() / sizeof(T));
    for (std::size_t i = 0; i < out.size(); ++i) {
        T value;
        std::memcpy(&value, text.data() + i * sizeof(T), sizeof(T));
        out[i] = static_cast<double>(value);
    }
    return out;
}

/// A TensorProto of numbers or texts.
struct MediaTensor {
    std::vector<std::int64_t> shape;
    std::vector<double> numbers;
    std::vector<std::string> texts;

    explicit MediaTensor(std::string_view message) {
        constexpr std::uint64_t kDouble = 2;
        std::uint64_t type = 1; // float
        std::string_view content;
        WireField field;
        for (Message tensor(message); tensor.next(field);) {
            if (field.is(1, varint)) {
                type = field.value;
            } else if (field.is(2, bytes)) {
                read_shape(field.text);
            } else if (field.is(4, bytes)) {
                content = field.text;
            } else if (field.number == 5 && field.wire != varint) {
                add(packed<float>(field.text));
            } else if (field.number == 6 && field.wire != varint) {
                add(packed<double>(field.text));
            } else if (field.is(8, bytes)) {
                texts.emplace_back(field.text);
            }
        }
        if (numbers.empty() && !content.empty()) {
            numbers = type == kDouble ? packed<double>(content) : packed<float>(content);
        }
    }

private:
    void add(const std::vector<double>& more) {
        numbers.insert(numbers.end(), more.begin(), more.end());
    }

    void read_shape(std::string_view message) {
        WireField field;
        for (Message all(message); all.next(field);) {
            WireField part;
            std::int64_t extent = 0;
            for (Message dim(field.text); field.is(2, bytes) && dim.next(part);) {
                extent = part.is(1, varint) ? static_cast<std::int64_t>(part.value) : extent;
            }
            shape.push_back(extent);
        }
    }
};

struct Recognised {
    std::optional<MediaKind> kind;
    std::string what, reason; // of what is not shown
};

/// By the fields that hold it, else by the plug-in that the tag's first value names.
Recognised recognise_value(const TensorboardValue& value, std::string_view plugin) {
    if (!value.image.empty() || plugin == "images") {
        return {MediaKind::image, {}, {}};
    }
    if (!value.audio.empty() || plugin == "audio") {
        return {MediaKind::audio, {}, {}};
    }
    if (!value.histogram.empty() || plugin == "histograms") {
        return {MediaKind::histogram, {}, {}};
    }
    if (plugin == "text") {
        return {MediaKind::text, {}, {}};
    }
    if (plugin == "pr_curves") {
        return {MediaKind::pr_curve, {}, {}};
    }
    if (plugin == "mesh") {
        return {{}, "meshes", "Three-dimensional meshes and point clouds are not drawn."};
    }
    if (plugin == "custom_scalars") {
        return {{}, "a layout of charts", "Charts are put together on the Runs page instead."};
    }
    if (plugin.empty() || plugin == "scalars" || plugin == "hparams") {
        return {};
    }
    return {{}, "plug-in " + shown(plugin, 100), "Data of this plug-in are not known here."};
}

class MediaScan {
public:
    explicit MediaScan(const fs::path& folder) : folder_(folder) {}

    MediaIndex run(const std::stop_token& stop) {
        for (const fs::path& path : tensorboard_files(folder_)) {
            const File file(path, File::Mode::read, ErrorKind::data);
            TensorboardRecords records(file);
            using Found = TensorboardRecords::Found;
            for (Found found = records.next(); found == Found::record || found == Found::damaged;
                 found = records.next()) {
                if (stop.stop_requested()) {
                    return {};
                }
                if (found == Found::record) {
                    take_record(path, records);
                } else {
                    problem(path, records.offset(), "the checksum of a record is wrong");
                }
            }
        }
        std::error_code ignored;
        if (fs::exists(folder_ / "projector_config.pbtxt", ignored)) {
            unshown("", {{}, "embeddings", "The projector of embeddings is not there."});
        }
        return std::move(out_);
    }

private:
    void take_record(const fs::path& path, const TensorboardRecords& records) {
        int number = 0;
        TensorboardEvent event;
        const bool sound = read_tensorboard_event(
            records.payload(),
            [&](const TensorboardEvent& at, const TensorboardValue& value) {
                take_value(value,
                           {path.filename().string(), records.offset(), number, at.step, at.time});
                ++number;
            },
            event);
        if (!sound) {
            problem(path, records.offset(), "a record is no TensorBoard event");
        }
        if (event.graph) {
            unshown("", {{}, "graphs", "Graphs of other programs' models are not drawn."});
        }
        if (event.session_start) {
            for (MediaSeries& series : out_.series) {
                take_back(series, event.step);
            }
        }
    }

    void take_value(const TensorboardValue& value, MediaPlace place) {
        std::string& plugin =
            plugins_.try_emplace(std::string(value.tag), value.plugin).first->second;
        const Recognised what = recognise_value(value, plugin);
        const std::string tag =
            is_utf8(value.tag) ? std::string(value.tag) : shown(value.tag, 1000);
        if (!what.kind) {
            if (!what.what.empty()) {
                unshown(tag, what);
            } else if (plugin != "hparams") {
                ++out_.scalars;
            }
            return;
        }
        const auto [at, is_new] = numbers_.try_emplace({tag, *what.kind}, out_.series.size());
        if (is_new) {
            out_.series.push_back({tag, *what.kind, {}});
        }
        MediaSeries& series = out_.series[at->second];
        if (!series.places.empty() && place.step < series.places.back().step) {
            take_back(series, place.step);
        }
        series.places.push_back(std::move(place));
    }

    static void take_back(MediaSeries& series, std::int64_t from_step) {
        std::erase_if(series.places,
                      [&](const MediaPlace& place) { return place.step >= from_step; });
    }

    void unshown(const std::string& tag, const Recognised& what) {
        const auto found =
            std::find_if(out_.unshown.begin(), out_.unshown.end(), [&](const UnshownData& one) {
                return one.tag == tag && one.what == what.what;
            });
        if (found != out_.unshown.end()) {
            ++found->count;
        } else {
            out_.unshown.push_back({tag, what.what, what.reason, 1});
        }
    }

    void problem(const fs::path& path, std::int64_t offset, const char* what) {
        if (out_.problems.size() < kMostMediaProblems) {
            out_.problems.push_back(path.filename().string() + ", byte " +
                                    format_thousands(offset) + ": " + what + "; it is left out");
        }
    }

    const fs::path& folder_;
    MediaIndex out_;
    std::map<std::string, std::string> plugins_; // by tag: that of its first value
    std::map<std::pair<std::string, MediaKind>, std::size_t> numbers_;
};

[[noreturn]] void fail_media(const MediaPlace& place, const std::string& what) {
    throw Error(ErrorKind::data, place.file + ", byte " + format_thousands(place.offset), what,
                "Look at the folder again: another program may have written it anew.");
}

MediaImages images_of(const TensorboardValue& value, const MediaPlace& place) {
    MediaImages out;
    WireField field;
    for (Message image(value.image); image.next(field);) {
        if (field.is(4, bytes)) {
            out.encoded.emplace_back(field.text);
        }
    }
    if (out.encoded.empty()) {
        const MediaTensor tensor(value.tensor); // width, height, then images
        for (std::size_t i = 2; i < tensor.texts.size(); ++i) {
            out.encoded.push_back(tensor.texts[i]);
        }
    }
    if (out.encoded.empty()) {
        fail_media(place, "the value holds no image");
    }
    return out;
}

/// Of the header of a RIFF file: what a writer says beside it is not always there.
void read_riff(MediaAudio& out) {
    constexpr std::size_t kChannels = 22, kRate = 24, kHeader = 44;
    if (out.wav.size() >= kHeader && out.wav.starts_with("RIFF")) {
        std::uint16_t channels = 0;
        std::uint32_t rate = 0;
        std::memcpy(&channels, out.wav.data() + kChannels, sizeof channels);
        std::memcpy(&rate, out.wav.data() + kRate, sizeof rate);
        out.channels = channels;
        out.rate = rate;
    }
}

MediaAudio audio_of(const TensorboardValue& value, const MediaPlace& place) {
    MediaAudio out;
    WireField field;
    for (Message audio(value.audio); audio.next(field);) {
        if (field.is(4, bytes)) {
            out.wav = field.text;
        }
    }
    if (out.wav.empty()) {
        const MediaTensor tensor(value.tensor); // [clips, 2]: file and label
        if (!tensor.texts.empty()) {
            out.wav = tensor.texts.front();
        }
    }
    read_riff(out);
    if (out.rate <= 0 || out.channels <= 0) {
        fail_media(place, "the value holds no sound in the form of a WAV file");
    }
    return out;
}

MediaHistogram histogram_of(const TensorboardValue& value, const MediaPlace& place) {
    MediaHistogram out;
    if (value.histogram.empty()) {
        const MediaTensor tensor(value.tensor); // [buckets, 3]
        for (std::size_t i = 0; i + 2 < tensor.numbers.size(); i += 3) {
            out.left.push_back(tensor.numbers[i]);
            out.right.push_back(tensor.numbers[i + 1]);
            out.counts.push_back(tensor.numbers[i + 2]);
        }
        return out;
    }
    double least = 0;
    double most = 0;
    std::vector<double> limits;
    const auto add = [](std::vector<double>& to, const WireField& field) {
        const std::vector<double> more = packed<double>(field.text);
        to.insert(to.end(), more.begin(), more.end());
    };
    WireField field;
    for (Message message(value.histogram); message.next(field);) {
        if (field.is(1, fixed64)) {
            least = packed<double>(field.text).front();
        } else if (field.is(2, fixed64)) {
            most = packed<double>(field.text).front();
        } else if (field.number == 6 && field.wire != varint) {
            add(limits, field);
        } else if (field.number == 7 && field.wire != varint) {
            add(out.counts, field);
        }
    }
    if (limits.size() != out.counts.size()) {
        fail_media(place, "the histogram has " + std::to_string(limits.size()) + " limits and " +
                              std::to_string(out.counts.size()) + " counts");
    }
    // Limits are right ends; the outermost buckets end where the values do.
    for (std::size_t i = 0; i < limits.size(); ++i) {
        out.left.push_back(std::max(least, i == 0 ? least : limits[i - 1]));
        out.right.push_back(std::max(out.left.back(), std::min(most, limits[i])));
    }
    return out;
}

MediaPrCurve pr_curve_of(const TensorboardValue& value, const MediaPlace& place) {
    const MediaTensor tensor(value.tensor);
    const std::size_t thresholds = tensor.numbers.size() / kPrRows;
    if (thresholds == 0 || tensor.numbers.size() % kPrRows != 0) {
        fail_media(place, "the curve has " + std::to_string(tensor.numbers.size()) +
                              " numbers, which are not six per threshold");
    }
    const auto row = [&](std::size_t index) {
        const auto begin = tensor.numbers.begin() + static_cast<std::ptrdiff_t>(index * thresholds);
        return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(thresholds));
    };
    return {row(4), row(5)};
}

MediaText text_of_value(const TensorboardValue& value) {
    MediaText out;
    for (const std::string& text : MediaTensor(value.tensor).texts) {
        out.texts.push_back(is_utf8(text) ? text : shown(text, text.size()));
    }
    return out;
}

MediaValue read_kind(MediaKind kind, const TensorboardValue& value, const MediaPlace& place) {
    switch (kind) {
    case MediaKind::image: return images_of(value, place);
    case MediaKind::audio: return audio_of(value, place);
    case MediaKind::histogram: return histogram_of(value, place);
    case MediaKind::text: return text_of_value(value);
    case MediaKind::pr_curve: break;
    }
    return pr_curve_of(value, place);
}

std::string
csv_of(std::initializer_list<std::pair<const char*, const std::vector<double>*>> table) {
    std::string out;
    std::size_t rows = 0;
    for (const auto& [name, column] : table) {
        out += (out.empty() ? "" : ",") + std::string(name);
        rows = column->size();
    }
    out += "\n";
    for (std::size_t i = 0; i < rows; ++i) {
        std::string line;
        for (const auto& [name, column] : table) {
            line += (line.empty() ? "" : ",") + config::number_text((*column)[i]);
        }
        out += line + "\n";
    }
    return out;
}

std::string image_ending(const std::string& encoded) {
    return encoded.starts_with("\xff\xd8") ? ".jpg" : encoded.starts_with("GIF8") ? ".gif" : ".png";
}

} // namespace

std::string_view media_kind_name(MediaKind kind) {
    switch (kind) {
    case MediaKind::image: return "images";
    case MediaKind::audio: return "sounds";
    case MediaKind::histogram: return "histograms";
    case MediaKind::text: return "texts";
    case MediaKind::pr_curve: break;
    }
    return "precision and recall";
}

MediaIndex index_media(const fs::path& folder, const std::stop_token& stop) {
    return MediaScan(folder).run(stop);
}

double MediaHistogram::total() const {
    return std::accumulate(counts.begin(), counts.end(), 0.0);
}

MediaValue read_media(const fs::path& folder, MediaKind kind, const MediaPlace& place) {
    const File file(folder / place.file, File::Mode::read, ErrorKind::data);
    TensorboardRecords records(file, place.offset);
    std::optional<MediaValue> out;
    int number = 0;
    TensorboardEvent event;
    if (place.offset < 0 || place.offset >= file.size() ||
        records.next() != TensorboardRecords::Found::record ||
        !read_tensorboard_event(
            records.payload(),
            [&](const TensorboardEvent&, const TensorboardValue& value) {
                if (number++ == place.value) {
                    out = read_kind(kind, value, place);
                }
            },
            event) ||
        !out) {
        fail_media(place, "there is no such value any more");
    }
    return std::move(*out);
}

std::vector<MediaFile> media_files(const MediaValue& value) {
    if (const auto* images = std::get_if<MediaImages>(&value)) {
        std::vector<MediaFile> out;
        for (const std::string& one : images->encoded) {
            out.push_back({image_ending(one), one});
        }
        return out;
    }
    if (const auto* audio = std::get_if<MediaAudio>(&value)) {
        return {{".wav", audio->wav}};
    }
    if (const auto* text = std::get_if<MediaText>(&value)) {
        std::string out;
        for (const std::string& one : text->texts) {
            out += one + "\n";
        }
        return {{".md", std::move(out)}};
    }
    if (const auto* curve = std::get_if<MediaPrCurve>(&value)) {
        return {{".csv", csv_of({{"precision", &curve->precision}, {"recall", &curve->recall}})}};
    }
    const auto& histogram = std::get<MediaHistogram>(value);
    return {{".csv", csv_of({{"left", &histogram.left},
                             {"right", &histogram.right},
                             {"count", &histogram.counts}})}};
}

} // namespace weft::train
