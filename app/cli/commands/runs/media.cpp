// SPDX-License-Identifier: Apache-2.0
// weft runs media FOLDER: what a folder of TensorBoard files holds beside scalars.
#include "app/cli/commands/commands.h"
#include "app/cli/json_output.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/train/logging/tensorboard_media.h"
#include "core/train/logging/tensorboard_reader.h"

#include <algorithm>
#include <cstdio>

namespace weft::cli {
namespace {

namespace fs = std::filesystem;
using config::Json;

struct MediaOptions {
    std::string folder;
    std::string to;
    bool json = false;
};

Json media_json(const train::MediaIndex& index) {
    Json series = Json::array();
    for (const train::MediaSeries& one : index.series) {
        Json steps = Json::array();
        for (const train::MediaPlace& place : one.places) {
            steps.push_back(place.step);
        }
        series.push_back({{"tag", one.tag},
                          {"kind", train::media_kind_name(one.kind)},
                          {"steps", std::move(steps)}});
    }
    Json unshown = Json::array();
    for (const train::UnshownData& one : index.unshown) {
        unshown.push_back(
            {{"tag", one.tag}, {"what", one.what}, {"reason", one.reason}, {"count", one.count}});
    }
    return {{"series", std::move(series)},
            {"not_shown", std::move(unshown)},
            {"problems", index.problems}};
}

void print_media_table(const train::MediaIndex& index) {
    for (const train::MediaSeries& one : index.series) {
        if (one.places.empty()) {
            continue;
        }
        const std::int64_t first = one.places.front().step;
        const std::int64_t last = one.places.back().step;
        std::printf("%-22s %-40s %s\n", std::string(train::media_kind_name(one.kind)).c_str(),
                    one.tag.c_str(),
                    first == last ? ("step " + format_thousands(first)).c_str()
                                  : (std::to_string(one.places.size()) + " from step " +
                                     format_thousands(first) + " to " + format_thousands(last))
                                        .c_str());
    }
    for (const train::UnshownData& one : index.unshown) {
        std::printf("%-22s %-40s not shown: %s\n", one.what.c_str(), one.tag.c_str(),
                    one.reason.c_str());
    }
}

/// "pictures/half" at step 5 -> "pictures/half/5": a tag is a path below the folder, and no way out
/// of it.
fs::path media_path(const train::MediaSeries& series, std::int64_t step) {
    fs::path out;
    for (const std::string& part : split(series.tag, '/')) {
        std::string name = part;
        std::replace_if(
            name.begin(), name.end(),
            [](unsigned char c) { return c < 0x20 || c == '\\' || c == ':' || c == 0x7f; }, '_');
        out /= name.empty() || name == "." || name == ".." ? "_" : name;
    }
    return out / std::to_string(step);
}

std::size_t write_media(const fs::path& folder, const train::MediaIndex& index,
                        const fs::path& to) {
    std::size_t files = 0;
    for (const train::MediaSeries& series : index.series) {
        for (const train::MediaPlace& place : series.places) {
            const train::MediaValue value = train::read_media(folder, series.kind, place);
            const fs::path stem = to / media_path(series, place.step);
            fs::create_directories(stem.parent_path());
            const std::vector<train::MediaFile> parts = train::media_files(value);
            for (std::size_t i = 0; i < parts.size(); ++i) {
                fs::path path = stem; // 5.png; 5-1.png, 5-2.png where there are several
                path += (parts.size() > 1 ? "-" + std::to_string(i + 1) : "") + parts[i].ending;
                write_file_atomically(path, parts[i].bytes);
                ++files;
            }
        }
    }
    return files;
}

int print_media(const MediaOptions& options) {
    const fs::path folder = options.folder;
    std::error_code unreadable;
    if (!fs::is_directory(folder, unreadable)) {
        throw Error(ErrorKind::usage, options.folder, "is no folder",
                    "Name a folder of TensorBoard event files.");
    }
    if (train::tensorboard_files(folder).empty()) {
        throw Error(ErrorKind::usage, options.folder, "holds no TensorBoard event files",
                    "Name the folder in which they lie, not one above it.");
    }
    const train::MediaIndex index = train::index_media(folder);
    for (const std::string& problem : index.problems) {
        std::fprintf(stderr, "%s\n", problem.c_str());
    }
    if (options.json) {
        print_json(media_json(index));
    } else {
        print_media_table(index);
    }
    if (!options.to.empty()) {
        const std::size_t files = write_media(folder, index, options.to);
        std::fprintf(stderr, "%s: %zu files\n", options.to.c_str(), files);
    }
    return 0;
}

} // namespace

void add_media(Command runs, Context& context) {
    auto options = std::make_shared<MediaOptions>();
    const Command command = runs.subcommand(
        "media", "images, sounds, histograms, texts and curves in a folder of TensorBoard files");
    command.positional("FOLDER", &options->folder, "folder of event files").required();
    command.option("--to", &options->to, "write them as files below this folder");
    command.flag("--json", &options->json, "print JSON");
    command.callback([options, &context] { context.exit_code = print_media(*options); });
}

} // namespace weft::cli
