// SPDX-License-Identifier: Apache-2.0
// images: PNG and JPEG files of any size and colour mode, one folder per class, or packed in tar
// archives. Each is decoded once, brought to one size and kept as 8-bit pixels; they become f32 in
// 0..1 when a sample is read. Sets above the memory limit are decoded whenever a sample is read
// instead.
#include "core/data/formats/format_list.h"

#include "core/base/check.h"
#include "core/base/crc32c.h"
#include "core/base/file.h"
#include "core/base/machine.h"
#include "core/base/on_threads.h"
#include "core/base/stage_meter.h"
#include "core/base/text.h"
#include "core/data/files/damaged_files.h"
#include "core/data/files/image_files.h"
#include "core/data/files/image_resize.h"
#include "core/data/files/tar_members.h"

#include <algorithm>
#include <cstring>

namespace weft::data {
namespace {

namespace fs = std::filesystem;
using config::Json;

constexpr std::int64_t kLargestFile = 256 << 20;

/// Classes by name and the shape of training's images.
struct ImageEncoding final : Encoding {
    ImageEncoding(std::vector<std::string> names, std::int64_t rows, std::int64_t columns,
                  std::int64_t values)
        : class_names(std::move(names)), height(rows), width(columns), channels(values) {}

    std::vector<std::string> class_names;
    std::int64_t height, width, channels;
};

struct ImageSettings {
    fs::path path;
    std::int64_t height = 0, width = 0, channels = 0;
    bool crop = false;
    int background = 255;
    double most_bad = 0;
    std::int64_t memory_limit = 0;

    std::int64_t sample_bytes() const { return height * width * channels; }
};

/// A file's bytes as pixels of the size and channels that are wanted. Throws weft::Error{data}.
void decode_bytes(const std::string& file, const fs::path& path, const ImageSettings& settings,
                  std::span<std::uint8_t> out) {
    DecodeOptions options;
    options.channels = settings.channels;
    options.background = settings.background;
    options.least_height = settings.height;
    options.least_width = settings.width;
    const Image image = decode_image(std::as_bytes(std::span(file)), path.string(), options);
    ImageBox box{0, 0, static_cast<double>(image.width), static_cast<double>(image.height)};
    if (settings.crop) {
        const double wanted =
            static_cast<double>(settings.width) / static_cast<double>(settings.height);
        const double width = std::min(box.width, box.height * wanted);
        const double height = std::min(box.height, box.width / wanted);
        box = {(box.width - width) / 2, (box.height - height) / 2, width, height};
    }
    resize_image(image, box, settings.height, settings.width, out);
}

/// Throws weft::Error{data} for what is too large for an image.
std::string read_image(const ImageFiles& files, std::size_t image) {
    std::string out = files.read(image, kLargestFile + 1);
    if (static_cast<std::int64_t>(out.size()) > kLargestFile) {
        throw Error(ErrorKind::data, (files.root / files.paths[image]).string(),
                    "it is larger than " + format_bytes(kLargestFile), "Give images.");
    }
    return out;
}

SampleInfo describe_images(const fs::path& path, const ImageSettings& settings,
                           const ImageFiles& files) {
    SampleInfo info;
    info.input = {ir::DType::f32, {settings.height, settings.width, settings.channels}};
    info.target = {ir::DType::i32, {}};
    for (const std::string& name : files.class_names) {
        info.class_names.push_back(shown(name, 200)); // a folder's name may be no UTF-8
    }
    info.classes = std::ssize(files.class_names);
    info.class_counts.resize(files.class_names.size());
    for (const std::int32_t label : files.labels) {
        if (label >= 0) {
            ++info.class_counts[static_cast<std::size_t>(label)];
        }
    }
    info.description = path.filename().string() + ", " + format_thousands(std::ssize(files.paths)) +
                       " images " + std::to_string(settings.height) + " × " +
                       std::to_string(settings.width) + " × " + std::to_string(settings.channels) +
                       " in " + std::to_string(info.classes) + " classes";
    return info;
}

class ImageSource final : public Source {
public:
    /// `listed`: files before those that cannot be used were left out.
    ImageSource(ImageFiles files, ImageSettings settings, std::vector<std::uint8_t> pixels,
                std::size_t listed)
        : files_(std::move(files)), settings_(std::move(settings)), pixels_(std::move(pixels)),
          damaged_(listed, listed - files_.paths.size(), settings_.most_bad) {
        info_ = describe_images(settings_.path, settings_, files_);
        encoding_ = std::make_shared<ImageEncoding>(files_.class_names, settings_.height,
                                                    settings_.width, settings_.channels);
        std::string names;
        for (const std::string& path : files_.paths) {
            names += path + '\n';
        }
        fingerprint_ =
            "images " + ir::to_text(info_.input) + ", " + std::to_string(samples()) +
            " files, names crc32c " + std::to_string(crc32c(names)) +
            (pixels_.empty() ? "" : ", crc32c ") +
            (pixels_.empty() ? "" : std::to_string(crc32c(std::as_bytes(std::span(pixels_)))));
    }

    const SampleInfo& info() const override { return info_; }
    std::int64_t samples() const override { return static_cast<std::int64_t>(files_.paths.size()); }

    void read(std::int64_t index, std::span<std::byte> input,
              std::span<std::byte> target) const override {
        WEFT_CHECK(index >= 0 && index < samples(), "sample index within the source");
        const auto count = static_cast<std::size_t>(settings_.sample_bytes());
        WEFT_CHECK(input.size() == count * sizeof(float), "input has the size of info()");
        std::vector<std::uint8_t> decoded;
        const std::uint8_t* pixels = pixels_.data() + static_cast<std::size_t>(index) * count;
        if (pixels_.empty()) {
            decoded.resize(count);
            decode(static_cast<std::size_t>(index), decoded);
            pixels = decoded.data();
        }
        for (std::size_t i = 0; i < count; ++i) {
            const float value = static_cast<float>(pixels[i]) / 255.0F;
            std::memcpy(input.data() + i * sizeof(float), &value, sizeof(float));
        }
        if (!target.empty()) {
            const std::int32_t value = label(index);
            std::memcpy(target.data(), &value, sizeof(value));
        }
    }

    std::int32_t label(std::int64_t index) const override {
        return files_.labels[static_cast<std::size_t>(index)];
    }
    std::string place_of(std::int64_t index) const override {
        return (files_.root / files_.paths[static_cast<std::size_t>(index)]).string();
    }
    std::int64_t cache_bytes() const override {
        return static_cast<std::int64_t>(pixels_.capacity());
    }
    std::string fingerprint() const override { return fingerprint_; }
    std::shared_ptr<const Encoding> encoding() const override { return encoding_; }

private:
    // What cannot be opened or read is no damage: it may be there again in a moment.
    void decode(std::size_t file, std::span<std::uint8_t> out) const {
        const InStage decoding(Stage::decode);
        const fs::path path = files_.root / files_.paths[file];
        const std::string bytes = read_image(files_, file);
        try {
            decode_bytes(bytes, path, settings_, out);
        } catch (const Error& fault) {
            damaged_.add(file, fault);
        }
        damaged_.remove(file);
    }

    ImageFiles files_;
    ImageSettings settings_;
    std::vector<std::uint8_t> pixels_; // empty: decoded when they are read
    mutable DamagedFiles damaged_;
    SampleInfo info_;
    std::shared_ptr<const Encoding> encoding_;
    std::string fingerprint_;
};

/// Leaves out the files whose place in `faults` holds a reason.
void remove_bad(const std::vector<std::string>& faults, double most_bad, ImageFiles& files,
                std::vector<std::uint8_t>& pixels, std::size_t sample_bytes, Notes& notes) {
    std::vector<std::string> named;
    std::size_t bad = 0;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < faults.size(); ++i) {
        if (!faults[i].empty()) {
            if (++bad <= kMostNamedBad) {
                named.push_back(faults[i]);
            }
            continue;
        }
        if (kept != i) {
            files.move(i, kept);
            if (!pixels.empty()) {
                std::memcpy(pixels.data() + kept * sample_bytes, pixels.data() + i * sample_bytes,
                            sample_bytes);
            }
        }
        ++kept;
    }
    if (bad == 0) {
        return;
    }
    const std::string text = told_as_bad(bad, faults.size(), named);
    if (too_many_bad(bad, faults.size(), most_bad)) {
        throw Error(ErrorKind::data, files.root.string(), text,
                    "Repair or remove them, or raise data.train.most_bad.");
    }
    notes.push_back("left out: " + text);
    files.resize(kept);
    if (!pixels.empty()) {
        pixels.resize(kept * sample_bytes);
        pixels.shrink_to_fit();
    }
}

ImageSettings image_settings(const Json& settings, const OpenContext& context, Part part,
                             const ImageEncoding* encoding) {
    ImageSettings out;
    const fs::path path = resolve(context.base_dir, settings.at("path").get<std::string>());
    out.path = part_folder(path, part == Part::train ? ImagePart::train : ImagePart::test,
                           encoding != nullptr ? &encoding->class_names : nullptr);
    out.path = out.path.empty() ? path : out.path;
    if (const Json& size = settings.at("size"); !size.is_null()) {
        out.height = size[0].get<std::int64_t>();
        out.width = size[1].get<std::int64_t>();
    }
    if (const Json& channels = settings.at("channels"); !channels.is_null()) {
        out.channels = channels.get<std::int64_t>();
    }
    if (out.channels == 2) {
        throw Error(ErrorKind::usage, "/data/train/channels", "images have 1 or 3 channels",
                    "Choose 1 for grey or 3 for colour, or leave it out.");
    }
    out.crop = settings.at("fit") == "crop";
    out.background = settings.at("background").get<int>();
    out.most_bad = settings.at("most_bad").get<double>();
    out.memory_limit = settings.at("memory_limit").get<std::int64_t>();
    return out;
}

struct Listed {
    ImageFiles files;
    ImageSettings settings;
};

/// Files and the shape that they will have.
Listed list_set(const Json& given, const OpenContext& context, Part part) {
    Listed out;
    const auto* encoding = dynamic_cast<const ImageEncoding*>(context.encoding.get());
    out.settings = image_settings(given, context, part, encoding);
    const bool labelled = context.targets == OpenContext::Targets::needed;
    static const std::vector<std::string> kNoClasses;
    out.files = list_images(out.settings.path, encoding != nullptr ? &encoding->class_names
                                               : labelled          ? nullptr
                                                                   : &kNoClasses);
    ImageFiles& files = out.files;
    if (files.paths.empty()) {
        throw Error(ErrorKind::data, out.settings.path.string(), "there are no PNG or JPEG files",
                    "Give a folder that holds one folder of images per class.");
    }
    if (labelled && encoding == nullptr && files.class_names.size() < 2) {
        throw Error(ErrorKind::data, out.settings.path.string(),
                    files.class_names.empty()
                        ? "the images lie in no class folders"
                        : "there is one class folder only, '" + shown(files.class_names[0]) + "'",
                    "Sort the images into one folder per class.");
    }
    ImageSettings& settings = out.settings;
    if (encoding != nullptr) {
        settings.height = encoding->height;
        settings.width = encoding->width;
        settings.channels = encoding->channels;
    }
    if (settings.height == 0 || settings.channels == 0) {
        const ImageShapeChoice shape = choose_shape(files);
        if (settings.height == 0) {
            settings.height = shape.height;
            settings.width = shape.width;
            files.notes.push_back(
                Note::decision("images are brought to " + std::to_string(shape.width) + "x" +
                               std::to_string(shape.height) +
                               (shape.all_alike ? ": all that were looked at have this size"
                                                : ": set data.train.size for another")));
        }
        settings.channels = settings.channels == 0 ? shape.channels : settings.channels;
    }
    return out;
}

/// Why a file has no class; empty: it has one.
std::string fault_of_class(const ImageFiles& files, std::size_t i) {
    if (files.labels[i] >= 0) {
        return {};
    }
    const std::string name = files.class_of(i);
    return shown((files.root / files.paths[i]).string(), 200) +
           (name.empty() ? ": it lies in no folder of a class"
                         : ": '" + shown(name) + "' is no class of the training data");
}

std::vector<std::string> faults_of_class(const ImageFiles& files) {
    std::vector<std::string> out(files.paths.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = fault_of_class(files, i);
    }
    return out;
}

std::shared_ptr<const Source> open_images(const Json& given, const OpenContext& context, Part part,
                                          Notes& notes) {
    auto [files, settings] = list_set(given, context, part);
    notes.insert(notes.end(), files.notes.begin(), files.notes.end());
    const auto sample_bytes = static_cast<std::size_t>(settings.sample_bytes());
    const std::size_t count = files.paths.size();
    const auto limit = static_cast<std::size_t>(settings.memory_limit);
    const bool wanted = context.cache != Cache::none;
    const bool cached = wanted && count <= limit / sample_bytes;
    std::vector<std::uint8_t> pixels(cached ? count * sample_bytes : 0);
    std::vector<std::string> faults(count);
    OpeningWatch watch(context, {.name = settings.path.filename().string(),
                                 .unit = "images",
                                 .total = static_cast<std::int64_t>(count)});
    for_each_on(read_machine().usable_cores, count,
                [&, &files = files, &settings = settings](std::size_t i) {
                    if (!watch.add_one()) {
                        return;
                    }
                    if (context.targets == OpenContext::Targets::needed) {
                        faults[i] = fault_of_class(files, i);
                    }
                    try {
                        if (cached && faults[i].empty()) {
                            decode_bytes(read_image(files, i), files.root / files.paths[i],
                                         settings,
                                         std::span(pixels).subspan(i * sample_bytes, sample_bytes));
                        }
                    } catch (const Error& error) {
                        faults[i] = fault_of(error);
                    } catch (const std::exception& error) { // memory
                        faults[i] = shown(files.paths[i], 200) + ": " + error.what();
                    }
                });
    end_if_stopped(context.stop);
    remove_bad(faults, settings.most_bad, files, pixels, sample_bytes, notes);
    if (wanted && !cached) {
        notes.push_back(Note::decision(
            "the decoded images would take " +
            format_bytes(static_cast<std::int64_t>(count * sample_bytes)) +
            ", more than data.train.memory_limit: each is decoded whenever it is read"));
    }
    return std::make_shared<ImageSource>(std::move(files), std::move(settings), std::move(pixels),
                                         count);
}

PartOutline outline_images(const Json& given, const OpenContext& context, Part part, Files) {
    auto [files, settings] = list_set(given, context, part);
    PartOutline out;
    if (context.targets == OpenContext::Targets::needed) {
        std::vector<std::uint8_t> none;
        remove_bad(faults_of_class(files), settings.most_bad, files, none, 0, files.notes);
    }
    out.samples = static_cast<std::int64_t>(files.paths.size());
    out.sample = describe_images(settings.path, settings, files);
    out.encoding = std::make_shared<ImageEncoding>(files.class_names, settings.height,
                                                   settings.width, settings.channels);
    const std::int64_t bytes = out.samples * settings.sample_bytes();
    out.cache_bytes = context.cache != Cache::none && bytes <= settings.memory_limit ? bytes : 0;
    return out;
}

config::FieldTable image_fields() {
    return {
        config::path_field("path", nullptr,
                           "Folder with one folder of PNG or JPEG files per class, or with train, "
                           "val and test that hold such folders. Or a tar archive, or a folder of "
                           "such: x.cls beside x.jpg tells its class, or else its folder does.")
            .must_be_given(),
        config::list_field(
            "size", nullptr,
            config::integer_field("extent", nullptr, "Pixels.").must_be_given().range(1, 4096),
            "Height and width that every image is brought to; null: their own if it is the same "
            "and at most 256, otherwise the usual shape with 64 pixels on the longer side.")
            .exactly(2)
            .or_null(),
        config::integer_field("channels", nullptr,
                              "1: grey, 3: red, green, blue; null: 1 if the images are grey.")
            .range(1, 3)
            .or_null(),
        config::choice_field("fit", "stretch", {"stretch", "crop"},
                             "Images of another shape are stretched, or cut at both ends."),
        config::integer_field("background", 255,
                              "Grey that shows through transparent parts: 0 black, 255 white.")
            .range(0, 255),
        config::real_field(
            "most_bad", 0.1,
            "Share of damaged files up to which they are named and left out; more of them "
            "pause a run that reads them while it trains.")
            .range(0, 1)
            .for_experts(),
        config::integer_field("memory_limit", std::int64_t{4} << 30,
                              "Decoded images stay in memory up to this size; above it, each is "
                              "decoded whenever it is read.")
            .at_least(0)
            .in("bytes")
            .for_experts()};
}

bool sniff_images(const fs::path& path) {
    std::error_code ignored;
    if (fs::is_regular_file(path, ignored) && path.extension() == ".tar") {
        return looks_like_tar(path) && !list_images(path, nullptr).paths.empty();
    }
    if (fs::is_regular_file(path, ignored)) {
        const File file(path, File::Mode::read, ErrorKind::data);
        std::array<std::byte, 8> head{};
        if (file.size() < static_cast<std::int64_t>(head.size())) {
            return false;
        }
        file.read_at(head, 0);
        return looks_like_image(head);
    }
    return fs::is_directory(path, ignored) &&
           !list_images(part_folder(path, ImagePart::train), nullptr).paths.empty();
}

bool images_have_test(const Json& settings, const OpenContext& context) {
    const fs::path path = resolve(context.base_dir, settings.at("path").get<std::string>());
    return !part_folder(path, ImagePart::test).empty();
}

Json propose_images(const fs::path& path, const OpenContext&) {
    const fs::path train = part_folder(path, ImagePart::train);
    const ImageShapeChoice shape = choose_shape(list_images(train, nullptr));
    const Json settings = {{"type", "images"},
                           {"path", path.string()},
                           {"size", {shape.height, shape.width}},
                           {"channels", shape.channels}};
    Json section = {{"train", settings}, {"validation", {{"split", 0.1}}}};
    if (const fs::path own = part_folder(path, ImagePart::validation); !own.empty()) {
        section["validation"] = settings;
        section["validation"]["path"] = own.string();
    }
    return section;
}

Look look_at_images(const Json& given, const OpenContext& context) {
    auto [files, settings] = list_set(given, context, Part::train);
    Look out;
    std::vector<std::uint8_t> none;
    remove_bad(faults_of_class(files), 1, files, none, 0, files.notes);
    out.notes = files.notes;
    for (const std::string& name : files.class_names) {
        out.classes.push_back({shown(name, 200), 0});
    }
    for (const std::int32_t label : files.labels) {
        ++out.classes[static_cast<std::size_t>(label)].samples;
    }
    const bool is_packed = !files.packed.empty();
    out.summary = format_thousands(static_cast<std::int64_t>(files.labels.size())) +
                  (is_packed ? " images of " : " image files in ") +
                  std::to_string(files.class_names.size()) + (is_packed ? " classes" : " folders");
    return out;
}

Json images_for_input(Json settings, const fs::path& path) {
    settings["path"] = path.string();
    return settings;
}

} // namespace

const FormatDef kImagesFormat = {.name = "images",
                                 .help = "PNG and JPEG files, one folder per class.",
                                 .split_rule = SplitRule::by_class,
                                 .fields = image_fields,
                                 .sniff = sniff_images,
                                 .has_test = images_have_test,
                                 .open = open_images,
                                 .outline = outline_images,
                                 .propose = propose_images,
                                 .look = look_at_images,
                                 .for_input = images_for_input};

} // namespace weft::data
