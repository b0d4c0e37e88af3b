// SPDX-License-Identifier: Apache-2.0
#include "core/data/files/image_files.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/stage_meter.h"
#include "core/base/text.h"
#include "core/config/json.h"
#include "core/data/files/tar_members.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace weft::data {

std::string class_folder(const std::string& relative) {
    const std::size_t slash = relative.find('/');
    return slash == std::string::npos ? std::string() : relative.substr(0, slash);
}

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostLookedAt = 100;
constexpr std::int64_t kLongestSide = 64;         // of images that differ in size
constexpr std::int64_t kLongestEqualSide = 256;   // of images that do not
constexpr std::int64_t kHeaderBytes = 256 * 1024; // a camera's thumbnail comes before the size
constexpr std::size_t kMostNamedOthers = 3;
constexpr std::int64_t kMostClassBytes = 64 * 1024;
constexpr std::size_t kClassDigits = 5;

bool named_like_image(const fs::path& path) {
    const std::string ending = lowered(path.extension().string());
    return ending == ".png" || ending == ".jpg" || ending == ".jpeg" || ending == ".jpe" ||
           ending == ".jfif";
}

bool passed_over(const fs::path& path) {
    const std::string name = path.filename().string();
    return name.starts_with('.') || name == "__MACOSX";
}

std::vector<fs::path> folders_in(const fs::path& folder) {
    std::vector<fs::path> out;
    std::error_code code;
    for (fs::directory_iterator entry(folder, code); !code && entry != fs::directory_iterator();
         entry.increment(code)) {
        std::error_code ignored;
        if (!passed_over(entry->path()) && entry->is_directory(ignored)) {
            out.push_back(entry->path());
        }
    }
    std::sort(out.begin(), out.end());
    return out;
}

bool holds_files(const fs::path& folder) {
    std::error_code code;
    for (fs::directory_iterator entry(folder, code); !code && entry != fs::directory_iterator();
         entry.increment(code)) {
        std::error_code ignored;
        if (!passed_over(entry->path()) && entry->is_regular_file(ignored)) {
            return true;
        }
    }
    return false;
}

/// What an archive leaves: data/images/cats... is looked for where the folders begin to differ.
fs::path where_it_begins(fs::path folder, const std::vector<std::string>* class_names) {
    for (int depth = 0; depth < 8; ++depth) {
        const std::vector<fs::path> folders = folders_in(folder);
        if (folders.size() != 1 || holds_files(folder) ||
            (class_names != nullptr && std::binary_search(class_names->begin(), class_names->end(),
                                                          folders.front().filename().string()))) {
            break;
        }
        folder = folders.front();
    }
    return folder;
}

fs::path find_named(const fs::path& folder, std::initializer_list<std::string_view> names) {
    for (const fs::path& candidate : folders_in(folder)) {
        const std::string name = lowered(candidate.filename().string());
        if (std::find(names.begin(), names.end(), name) != names.end()) {
            return candidate;
        }
    }
    return {};
}

struct Passed {
    std::int64_t count = 0;
    std::vector<std::string> names;

    void add(const std::string& name) {
        if (++count <= static_cast<std::int64_t>(kMostNamedOthers)) {
            names.push_back(shown(name));
        }
    }
    void tell(const char* why, Notes& notes) const {
        if (count > 0) {
            notes.push_back(format_thousands(count) + (count == 1 ? " file is" : " files are") +
                            " passed over, " + why + ": " + join(names, ", ") +
                            (count > static_cast<std::int64_t>(names.size()) ? ", ..." : ""));
        }
    }
};

void list_folder(const fs::path& root, ImageFiles& out) {
    Passed others;
    Passed lost;
    std::error_code code;
    fs::recursive_directory_iterator entry(root, code);
    for (; !code && entry != fs::recursive_directory_iterator(); entry.increment(code)) {
        const fs::path& path = entry->path();
        std::error_code ignored;
        if (passed_over(path)) {
            entry.disable_recursion_pending();
        } else if (entry->is_regular_file(ignored)) {
            const std::string relative = path.lexically_relative(root).string();
            if (named_like_image(path)) {
                out.paths.push_back(relative);
            } else {
                others.add(relative);
            }
        } else if (entry->is_symlink(ignored) && !fs::exists(path, ignored)) {
            lost.add(path.lexically_relative(root).string());
        }
    }
    if (code) {
        throw Error(ErrorKind::data, root.string(), "cannot list the folder: " + code.message(),
                    "Check its permissions.");
    }
    std::sort(out.paths.begin(), out.paths.end());
    others.tell("neither PNG nor JPEG by name", out.notes);
    lost.tell("links that lead nowhere", out.notes);
}

/// A member's name up to the first dot of its file: what belongs together has the same.
std::string key_of_member(const std::string& name) {
    const std::size_t slash = name.rfind('/');
    return name.substr(0, name.find('.', slash == std::string::npos ? 0 : slash));
}

/// What is in a .cls file, or under "cls" or "label" of a .json file. Numbers get leading zeros, so
/// that they are in order.
std::string told_class(const fs::path& archive, const TarMember& member) {
    const File file(archive, File::Mode::read, ErrorKind::data);
    std::string text =
        read_range(file, member.offset, member.offset + std::min(member.bytes, kMostClassBytes));
    if (member.name.ends_with(".json")) {
        const config::Json told = config::json_or_discarded(text);
        text.clear();
        for (const char* key : {"label", "cls"}) {
            if (told.is_object() && told.contains(key)) {
                const config::Json& value = told.at(key);
                text = value.is_string() ? value.get<std::string>() : value.dump();
            }
        }
    }
    text = std::string(trim(text));
    const bool is_number =
        !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    return is_number && text.size() < kClassDigits
               ? std::string(kClassDigits - text.size(), '0') + text
               : text;
}

/// The images of an archive, each with the class that a file beside it tells, or its folder.
void list_archive(const fs::path& path, ImageFiles& out) {
    const auto archive = static_cast<std::uint32_t>(out.archives.size());
    out.archives.push_back(path);
    const std::vector<TarMember> members = list_tar(path);
    std::map<std::string, std::string> classes; // by key
    for (const TarMember& member : members) {
        if (member.name.ends_with(".cls") || member.name.ends_with(".json")) {
            classes[key_of_member(member.name)] = told_class(path, member);
        }
    }
    Passed others;
    for (const TarMember& member : members) {
        const fs::path name(member.name);
        if (passed_over(name) || member.name.ends_with(".cls") || member.name.ends_with(".json")) {
            continue;
        }
        if (!named_like_image(name)) {
            others.add(member.name);
            continue;
        }
        const auto told = classes.find(key_of_member(member.name));
        const std::string folder = name.parent_path().filename().string();
        out.paths.push_back(path.filename().string() + "/" + member.name);
        out.packed.push_back(
            {archive, member.offset, member.bytes, told != classes.end() ? told->second : folder});
    }
    others.tell("neither PNG nor JPEG by name", out.notes);
}

std::vector<fs::path> archives_in(const fs::path& folder) {
    std::vector<fs::path> out;
    std::error_code code;
    for (fs::directory_iterator entry(folder, code); !code && entry != fs::directory_iterator();
         entry.increment(code)) {
        std::error_code ignored;
        if (!passed_over(entry->path()) && entry->path().extension() == ".tar" &&
            entry->is_regular_file(ignored)) {
            out.push_back(entry->path());
        }
    }
    std::sort(out.begin(), out.end());
    return out;
}

void name_classes(const std::vector<std::string>* given, ImageFiles& out) {
    if (given != nullptr) {
        out.class_names = *given;
    } else {
        std::set<std::string> names;
        for (std::size_t i = 0; i < out.paths.size(); ++i) {
            names.insert(out.class_of(i));
        }
        names.erase("");
        out.class_names.assign(names.begin(), names.end());
    }
    for (std::size_t i = 0; i < out.paths.size(); ++i) {
        const std::string name = out.class_of(i);
        const auto found = std::lower_bound(out.class_names.begin(), out.class_names.end(), name);
        const bool known = found != out.class_names.end() && *found == name;
        out.labels.push_back(known ? static_cast<std::int32_t>(found - out.class_names.begin())
                                   : -1);
    }
}

std::int64_t median(std::vector<std::int64_t> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

} // namespace

std::string ImageFiles::class_of(std::size_t image) const {
    return packed.empty() ? class_folder(paths[image]) : packed[image].class_name;
}

void ImageFiles::move(std::size_t from, std::size_t to) {
    paths[to] = std::move(paths[from]);
    labels[to] = labels[from];
    if (!packed.empty()) {
        packed[to] = std::move(packed[from]);
    }
}

void ImageFiles::resize(std::size_t images) {
    paths.resize(images);
    labels.resize(images);
    if (!packed.empty()) {
        packed.resize(images);
    }
}

std::string ImageFiles::read(std::size_t image, std::int64_t most) const {
    const InStage reading(Stage::read);
    const PackedImage whole = packed.empty() ? PackedImage() : packed[image];
    const File file(packed.empty() ? root / paths[image] : archives[whole.archive],
                    File::Mode::read, ErrorKind::data);
    const std::int64_t bytes = packed.empty() ? file.size() : whole.bytes;
    return read_range(file, whole.offset, whole.offset + std::min(bytes, most));
}

fs::path part_folder(const fs::path& path, ImagePart part,
                     const std::vector<std::string>* class_names) {
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) {
        return part == ImagePart::train ? path : fs::path();
    }
    const fs::path root = where_it_begins(path, class_names);
    const fs::path train = find_named(root, {"train", "training"});
    if (train.empty()) {
        return part == ImagePart::train ? root : fs::path();
    }
    switch (part) {
    case ImagePart::train: return train;
    case ImagePart::validation: return find_named(root, {"val", "valid", "validation"});
    case ImagePart::test: return find_named(root, {"test", "testing"});
    }
    return {};
}

ImageFiles list_images(const fs::path& path, const std::vector<std::string>* class_names) {
    ImageFiles out;
    std::error_code code;
    const fs::file_status status = fs::status(path, code);
    if (!fs::exists(status)) {
        throw Error(ErrorKind::data, path.string(), "there is no such file or folder",
                    "Check data.train.path.");
    }
    if (fs::is_directory(status)) {
        out.root = path;
        for (const fs::path& archive : archives_in(path)) {
            list_archive(archive, out);
        }
        if (out.archives.empty()) {
            list_folder(path, out);
        }
    } else if (path.extension() == ".tar") {
        out.root = path.parent_path();
        list_archive(path, out);
    } else {
        out.root = path.parent_path();
        out.paths = {path.filename().string()};
    }
    name_classes(class_names, out);
    return out;
}

ImageShapeChoice choose_shape(const ImageFiles& files) {
    std::vector<std::int64_t> heights;
    std::vector<std::int64_t> widths;
    bool grey = true;
    std::string reason = "there is no image";
    const std::size_t looked_at = std::min(files.paths.size(), kMostLookedAt);
    for (std::size_t i = 0; i < looked_at; ++i) {
        const std::size_t image = i * files.paths.size() / looked_at;
        try {
            const std::string head = files.read(image, kHeaderBytes);
            const ImageHeader header = read_image_header(
                std::as_bytes(std::span(head)), (files.root / files.paths[image]).string());
            heights.push_back(header.height);
            widths.push_back(header.width);
            grey = grey && header.grey;
        } catch (const Error& error) {
            reason = error.message();
        }
    }
    if (heights.empty()) {
        throw Error(ErrorKind::data, files.root.string(), "no image could be read: " + reason,
                    "Give PNG or JPEG files.");
    }
    ImageShapeChoice out{median(heights), median(widths), grey ? 1 : 3, false};
    out.all_alike = std::count(heights.begin(), heights.end(), heights.front()) ==
                        static_cast<std::ptrdiff_t>(heights.size()) &&
                    std::count(widths.begin(), widths.end(), widths.front()) ==
                        static_cast<std::ptrdiff_t>(widths.size());
    const std::int64_t longest = std::max(out.height, out.width);
    const std::int64_t most = out.all_alike ? kLongestEqualSide : kLongestSide;
    if (longest > most) {
        const double factor = static_cast<double>(kLongestSide) / static_cast<double>(longest);
        // Multiples of four suit two poolings.
        const auto reduced = [factor](std::int64_t side) {
            return std::max<std::int64_t>(4,
                                          4 * std::llround(static_cast<double>(side) * factor / 4));
        };
        out = {reduced(out.height), reduced(out.width), out.channels, false};
    }
    return out;
}

} // namespace weft::data
