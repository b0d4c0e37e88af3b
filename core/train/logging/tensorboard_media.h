// SPDX-License-Identifier: Apache-2.0
// What a folder of TensorBoard event files holds beside scalars: images, sounds, histograms, texts
// and curves of precision over recall, as PyTorch's and TensorFlow's writers leave them. An index
// says what there is and where; values are read one by one. Nothing in the files is trusted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace weft::train {

enum class MediaKind : std::uint8_t { image, audio, histogram, text, pr_curve };
/// "images", "sounds", ...
std::string_view media_kind_name(MediaKind kind);

/// Where a value lies.
struct MediaPlace {
    std::string file;        // its name, in the folder
    std::int64_t offset = 0; // of the record
    int value = 0;           // of the values in it
    std::int64_t step = 0;
    double time = 0; // s, UTC epoch
};

/// Values of one tag in the order of their steps. Where a program went back, what was there from
/// that step on is left out, as of scalars.
struct MediaSeries {
    std::string tag;
    MediaKind kind = MediaKind::image;
    std::vector<MediaPlace> places;
};

/// What is there and not shown.
struct UnshownData {
    std::string tag;    // empty: of the run as a whole
    std::string what;   // "meshes", "plug-in mine"
    std::string reason; // a sentence for people
    std::int64_t count = 0;
};

struct MediaIndex {
    std::vector<MediaSeries> series; // by the order in which tags appear
    std::vector<UnshownData> unshown;
    std::int64_t scalars = 0;          // values that tensorboard_reader.h reads
    std::vector<std::string> problems; // file, place, what is wrong
};

/// Looks through all files of the folder. Empty when it is stopped. Throws weft::Error{data} when a
/// file cannot be opened.
MediaIndex index_media(const std::filesystem::path& folder, const std::stop_token& stop = {});

struct MediaImages {
    std::vector<std::string> encoded; // PNG, JPEG or GIF, as they were written
};

struct MediaAudio {
    double rate = 0; // Hz
    int channels = 1;
    std::string wav; // a RIFF file
};

/// Bucket i reaches from left[i] to right[i].
struct MediaHistogram {
    std::vector<double> left, right, counts;
    double total() const;
};

struct MediaText {
    std::vector<std::string> texts; // UTF-8; a table in the order of its rows
};

/// A point per threshold, which are evenly spaced from 0 to 1.
struct MediaPrCurve {
    std::vector<double> precision, recall;
};

using MediaValue = std::variant<MediaImages, MediaAudio, MediaHistogram, MediaText, MediaPrCurve>;

/// Throws weft::Error{data} that names the file and place of a value that is damaged or not there
/// any more.
MediaValue read_media(const std::filesystem::path& folder, MediaKind kind, const MediaPlace& place);

/// A value as a file.
struct MediaFile {
    std::string ending; // ".png" and the like; of images by their content
    std::string bytes;
};
/// The files of a value: every picture, sounds and texts as they are, numbers as CSV with a header.
std::vector<MediaFile> media_files(const MediaValue& value);

} // namespace weft::train
