// SPDX-License-Identifier: Apache-2.0
// idx: the files of MNIST and its relatives (Y. LeCun, "The MNIST database", file formats).
// Big-endian header {0, 0, type, rank, extents...}; here unsigned bytes: images [N,H,W] or
// [N,H,W,C], labels [N]. Decoded bytes stay in memory; numbers become f32 in 0..1 when a sample is
// read.
#include "core/data/formats/format_list.h"

#include "core/base/check.h"
#include "core/base/crc32c.h"
#include "core/base/text.h"
#include "core/data/files/gzip.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>

namespace weft::data {
namespace {

namespace fs = std::filesystem;

constexpr std::uint8_t kUnsignedBytes = 0x08;

struct IdxArray {
    std::vector<std::int64_t> extents;
    std::vector<std::byte> values;
};

[[noreturn]] void fail_idx(const fs::path& where, const std::string& text,
                           const std::string& hint) {
    throw Error(ErrorKind::data, where.string(), text, hint);
}

std::int64_t big_endian(std::span<const std::byte, 4> bytes) {
    std::int64_t value = 0;
    for (const std::byte byte : bytes) {
        value = value << 8 | std::to_integer<std::int64_t>(byte);
    }
    return value;
}

/// Number of values; of extents that read_extents has checked.
std::int64_t product(const std::vector<std::int64_t>& extents) {
    return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

/// The extents of an idx file of unsigned bytes with a rank in [least_rank, most_rank]; leaves the
/// file at its first value.
std::vector<std::int64_t> read_extents(InputFile& file, int least_rank, int most_rank) {
    const fs::path& path = file.path();
    std::array<std::byte, 4> word{};
    file.read(word, "header");
    const int rank = std::to_integer<int>(word[3]);
    if (word[0] != std::byte{0} || word[1] != std::byte{0} ||
        std::to_integer<std::uint8_t>(word[2]) != kUnsignedBytes) {
        fail_idx(path,
                 "the file starts with " + std::to_string(big_endian(word)) +
                     ", which is not the mark of idx files of unsigned bytes (0x0000080n)",
                 "Check that this is an idx images or labels file.");
    }
    if (rank < least_rank || rank > most_rank) {
        fail_idx(path,
                 "the array has " + std::to_string(rank) + " dimensions; " +
                     (least_rank == 1 ? "labels have 1" : "images have 3 or 4"),
                 "Check that images and labels were not swapped.");
    }
    std::vector<std::int64_t> extents;
    std::int64_t bytes = 1;
    for (int i = 0; i < rank; ++i) {
        file.read(word, "header");
        extents.push_back(big_endian(word));
        if (__builtin_mul_overflow(bytes, extents.back(), &bytes) || bytes > file.most_bytes()) {
            fail_idx(path, "the header announces more data than a file of this size can hold",
                     "The file is damaged; copy or download it again.");
        }
    }
    if (bytes == 0) {
        fail_idx(path, "the file holds no samples", "Use a file with at least one sample.");
    }
    return extents;
}

/// Reads a whole idx file.
IdxArray read_idx(const fs::path& path, int least_rank, int most_rank) {
    InputFile file(path);
    IdxArray array;
    array.extents = read_extents(file, least_rank, most_rank);
    array.values.resize(static_cast<std::size_t>(product(array.extents)));
    file.read(array.values, "values");
    file.expect_end();
    return array;
}

struct IdxFiles {
    fs::path images;
    fs::path labels;
};

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    const std::size_t at = text.find(from);
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

/// The labels file that belongs to an images file: same name with "labels" and "idx1"; one of the
/// two may be compressed and the other not.
fs::path labels_of(const fs::path& images) {
    const fs::path same =
        images.parent_path() /
        replaced(replaced(images.filename().string(), "images", "labels"), "idx3", "idx1");
    fs::path other = same;
    if (same.extension() == ".gz") {
        other.replace_extension();
    } else {
        other += ".gz";
    }
    std::error_code ignored;
    return !fs::exists(same, ignored) && fs::is_regular_file(other, ignored) ? other : same;
}

std::optional<fs::path> find_in_folder(const fs::path& folder, std::string_view prefix) {
    std::error_code ignored;
    for (const char* middle : {"-images-idx3-ubyte", "-images.idx3-ubyte"}) {
        for (const char* ending : {"", ".gz"}) {
            const fs::path path = folder / (std::string(prefix) + middle + ending);
            if (fs::is_regular_file(path, ignored)) {
                return path;
            }
        }
    }
    return std::nullopt;
}

/// The images file of a part; empty optional when there is none.
std::optional<fs::path> find_images(const fs::path& path, Part part) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
        return find_in_folder(path, part == Part::train ? "train" : "t10k");
    }
    if (part == Part::train) {
        return path;
    }
    const std::string name = path.filename().string();
    const fs::path sibling = path.parent_path() / replaced(name, "train", "t10k");
    return sibling != path && fs::is_regular_file(sibling, ignored) ? std::optional(sibling)
                                                                    : std::nullopt;
}

IdxFiles find_files(const fs::path& path, Part part) {
    std::error_code ignored;
    if (!fs::exists(path, ignored)) {
        fail_idx(path, "there is no such file or folder",
                 "Check data.train.path. Debian has Fashion-MNIST in the package "
                 "dataset-fashion-mnist (/usr/share/datasets/fashion-mnist).");
    }
    const std::optional<fs::path> images = find_images(path, part);
    if (!images) {
        const std::string name = part == Part::train ? "train" : "t10k";
        fail_idx(
            path, "the folder has no " + name + "-images-idx3-ubyte or .gz file",
            "Give a folder with the four files of MNIST or Fashion-MNIST, or one images file.");
    }
    const fs::path labels = labels_of(*images);
    if (labels == *images || !fs::is_regular_file(labels, ignored)) {
        fail_idx(*images, "its labels file is missing: " + labels.string() + " was expected",
                 "Put the labels beside the images, with \"labels\" and \"idx1\" in the name.");
    }
    return {*images, labels};
}

/// A data set that is known by how it begins.
struct KnownSet {
    std::string_view title;
    std::array<std::uint8_t, 10> first_train_labels;
    std::array<std::uint8_t, 10> first_test_labels;
    std::array<const char*, 10> names;
};

constexpr std::array kKnownSets = {
    KnownSet{"Fashion-MNIST",
             {9, 0, 0, 3, 0, 2, 7, 2, 5, 5},
             {9, 2, 1, 1, 6, 1, 4, 6, 5, 7},
             {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker",
              "Bag", "Ankle boot"}},
    KnownSet{"MNIST",
             {5, 0, 4, 1, 9, 2, 1, 3, 1, 4},
             {7, 2, 1, 0, 4, 1, 4, 9, 5, 9},
             {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}},
};

const KnownSet* recognise(const std::vector<std::int64_t>& extents, const IdxArray& labels) {
    if (extents.size() != 3 || extents[1] != 28 || extents[2] != 28 || labels.values.size() < 10 ||
        *std::max_element(labels.values.begin(), labels.values.end()) > std::byte{9}) {
        return nullptr;
    }
    for (const KnownSet& known : kKnownSets) {
        for (const auto& first : {known.first_train_labels, known.first_test_labels}) {
            if (std::memcmp(first.data(), labels.values.data(), first.size()) == 0) {
                return &known;
            }
        }
    }
    return nullptr;
}

/// Checks that images and labels belong together.
void require_pairs(const IdxFiles& files, const std::vector<std::int64_t>& images,
                   const IdxArray& labels) {
    if (images[0] != labels.extents[0]) {
        fail_idx(files.labels,
                 format_thousands(labels.extents[0]) + " labels do not match the " +
                     format_thousands(images[0]) + " images of " + files.images.string(),
                 "Use the images and labels of the same data set.");
    }
}

SampleInfo describe_idx(const fs::path& path, const std::vector<std::int64_t>& extents,
                        const IdxArray& labels) {
    SampleInfo info;
    info.input = {ir::DType::f32, {extents[1], extents[2], extents.size() == 4 ? extents[3] : 1}};
    info.target = {ir::DType::i32, {}};
    const KnownSet* known = recognise(extents, labels);
    if (known != nullptr) {
        info.class_names.assign(known->names.begin(), known->names.end());
        info.classes = static_cast<std::int64_t>(known->names.size());
    } else {
        const std::byte largest = *std::max_element(labels.values.begin(), labels.values.end());
        info.classes = std::to_integer<std::int64_t>(largest) + 1;
    }
    info.class_counts.resize(static_cast<std::size_t>(info.classes));
    for (const std::byte label : labels.values) {
        ++info.class_counts[std::to_integer<std::size_t>(label)];
    }
    const ir::Shape& shape = info.input.shape;
    info.description = (known != nullptr ? std::string(known->title) : path.filename().string()) +
                       ", " + format_thousands(extents[0]) + " images " + std::to_string(shape[0]) +
                       " × " + std::to_string(shape[1]) + " × " + std::to_string(shape[2]);
    return info;
}

class IdxSource final : public Source {
public:
    explicit IdxSource(const IdxFiles& files)
        : images_(read_idx(files.images, 3, 4)), labels_(read_idx(files.labels, 1, 1)) {
        require_pairs(files, images_.extents, labels_);
        info_ = describe_idx(files.images, images_.extents, labels_);
        fingerprint_ = "idx " + ir::to_text(ir::Shape(images_.extents)) + " crc32c " +
                       std::to_string(crc32c(labels_.values, crc32c(images_.values)));
    }

    const SampleInfo& info() const override { return info_; }
    std::int64_t samples() const override { return images_.extents[0]; }

    void read(std::int64_t index, std::span<std::byte> input,
              std::span<std::byte> target) const override {
        WEFT_CHECK(index >= 0 && index < samples(), "sample index within the source");
        const auto count = static_cast<std::size_t>(info_.input.shape.elements());
        WEFT_CHECK(input.size() == count * sizeof(float), "input has the size of info()");
        const std::byte* pixels = images_.values.data() + static_cast<std::size_t>(index) * count;
        for (std::size_t i = 0; i < count; ++i) {
            const float value = static_cast<float>(std::to_integer<int>(pixels[i])) / 255.0F;
            std::memcpy(input.data() + i * sizeof(float), &value, sizeof(float));
        }
        if (!target.empty()) {
            const std::int32_t value = label(index);
            std::memcpy(target.data(), &value, sizeof(value));
        }
    }

    std::int32_t label(std::int64_t index) const override {
        return std::to_integer<std::int32_t>(labels_.values[static_cast<std::size_t>(index)]);
    }
    std::int64_t cache_bytes() const override {
        return static_cast<std::int64_t>(images_.values.size() + labels_.values.size());
    }
    std::string fingerprint() const override { return fingerprint_; }

private:
    IdxArray images_;
    IdxArray labels_;
    SampleInfo info_;
    std::string fingerprint_;
};

fs::path idx_path(const config::Json& settings, const OpenContext& context) {
    return resolve(context.base_dir, settings.at("path").get<std::string>());
}

config::FieldTable idx_fields() {
    return {
        config::path_field("path", nullptr,
                           "Folder with train-images-idx3-ubyte (or .gz) and its companions, or "
                           "one images file with its labels beside it.")
            .must_be_given()};
}

bool sniff_idx(const fs::path& path) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
        return find_in_folder(path, "train").has_value();
    }
    const std::string name = path.filename().string();
    return fs::is_regular_file(path, ignored) && name.find("idx3-ubyte") != std::string::npos;
}

bool idx_has_test(const config::Json& settings, const OpenContext& context) {
    return find_images(idx_path(settings, context), Part::test).has_value();
}

std::shared_ptr<const Source> open_idx(const config::Json& settings, const OpenContext& context,
                                       Part part, Notes&) {
    return std::make_shared<IdxSource>(find_files(idx_path(settings, context), part));
}

PartOutline outline_idx(const config::Json& settings, const OpenContext& context, Part part,
                        Files) {
    const IdxFiles files = find_files(idx_path(settings, context), part);
    InputFile images(files.images);
    const std::vector<std::int64_t> extents = read_extents(images, 3, 4);
    const IdxArray labels = read_idx(files.labels, 1, 1); // the number of classes is in them
    require_pairs(files, extents, labels);
    return {describe_idx(files.images, extents, labels), extents[0],
            product(extents) + product(labels.extents), ""};
}

config::Json propose_idx(const fs::path& path, const OpenContext&) {
    return {{"train", {{"type", "idx"}, {"path", path.string()}}},
            {"validation", {{"split", 0.1}}}};
}

Look look_at_idx(const config::Json& settings, const OpenContext& context) {
    const fs::path path = idx_path(settings, context);
    const IdxFiles files = find_files(path, Part::train);
    InputFile images(files.images);
    const std::vector<std::int64_t> extents = read_extents(images, 3, 4);
    const IdxArray labels = read_idx(files.labels, 1, 1);
    require_pairs(files, extents, labels);
    const SampleInfo info = describe_idx(files.images, extents, labels);
    Look out;
    out.summary = info.description;
    for (std::size_t k = 0; k < static_cast<std::size_t>(info.classes); ++k) {
        const std::string name = k < info.class_names.size() ? info.class_names[k] : "";
        out.classes.push_back({name.empty() ? std::to_string(k) : name, info.class_counts[k]});
    }
    return out;
}

config::Json idx_for_input(config::Json settings, const fs::path& path) {
    settings["path"] = path.string();
    return settings;
}

} // namespace

const FormatDef kIdxFormat = {.name = "idx",
                              .help = "Images and labels of MNIST, Fashion-MNIST and their "
                                      "relatives.",
                              .split_rule = SplitRule::by_class,
                              .fields = idx_fields,
                              .sniff = sniff_idx,
                              .has_test = idx_has_test,
                              .open = open_idx,
                              .outline = outline_idx,
                              .propose = propose_idx,
                              .look = look_at_idx,
                              .for_input = idx_for_input};

} // namespace weft::data
