// SPDX-License-Identifier: Apache-2.0
#include "core/train/record/annotations.h"

#include "core/base/file.h"
#include "core/base/text.h"

#include <algorithm>

namespace weft::train {
namespace {

namespace fs = std::filesystem;
using config::Json;

constexpr std::int64_t kMostNotesBytes = 1 << 20;

fs::path annotations_path(const fs::path& run) {
    return run / "annotations.json";
}

Json read_document(const fs::path& run) {
    std::error_code problem;
    if (!fs::exists(annotations_path(run), problem)) {
        return nullptr;
    }
    return config::json_or_discarded(read_file(annotations_path(run), kMostNotesBytes));
}

void take_over(const Json& from, Annotations& out) {
    if (const auto tags = from.find("tags"); tags != from.end() && tags->is_array()) {
        out.tags.clear();
        for (const Json& tag : *tags) {
            if (tag.is_string()) {
                out.tags.push_back(tag.get<std::string>());
            }
        }
    }
    if (const auto notes = from.find("notes"); notes != from.end() && notes->is_string()) {
        out.notes = notes->get<std::string>();
    }
    if (const auto archived = from.find("archived");
        archived != from.end() && archived->is_boolean()) {
        out.archived = archived->get<bool>();
    }
}

} // namespace

Annotations read_annotations(const fs::path& run, const Json& config) {
    Annotations out;
    if (config.is_object()) {
        take_over(config, out);
        out.archived = false; // not a setting of a configuration
    }
    if (const Json document = read_document(run); document.is_object()) {
        take_over(document, out);
    }
    return out;
}

void write_annotations(const fs::path& run, const Annotations& annotations) {
    Json document = read_document(run);
    if (!document.is_object()) {
        document = Json::object();
    }
    document["schema_version"] = 1;
    document["tags"] = annotations.tags;
    document["notes"] = annotations.notes;
    document["archived"] = annotations.archived;
    write_file_atomically(annotations_path(run),
                          document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::vector<std::string> parse_tags(std::string_view text) {
    std::vector<std::string> tags;
    for (const std::string& part : split(text, ',')) {
        const std::string tag(trim(part));
        if (!tag.empty() && std::find(tags.begin(), tags.end(), tag) == tags.end()) {
            tags.push_back(tag);
        }
    }
    return tags;
}

} // namespace weft::train
