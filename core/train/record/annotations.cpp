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

bool has_tag(const std::vector<std::string>& tags, const std::string& tag) {
    return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

/// Tags that were taken away go, new ones come last; their order is that of the change where nobody
/// else changed them.
std::vector<std::string> changed_tags(std::vector<std::string> now,
                                      const std::vector<std::string>& before,
                                      const std::vector<std::string>& after) {
    if (now == before) {
        return after;
    }
    std::erase_if(
        now, [&](const std::string& tag) { return has_tag(before, tag) && !has_tag(after, tag); });
    for (const std::string& tag : after) {
        if (!has_tag(before, tag) && !has_tag(now, tag)) {
            now.push_back(tag);
        }
    }
    return now;
}

Annotations changed(Annotations now, const AnnotationChange& change) {
    const auto& [before, after] = change;
    now.tags = changed_tags(std::move(now.tags), before.tags, after.tags);
    if (after.notes != before.notes) {
        now.notes = after.notes;
    }
    if (after.archived != before.archived) {
        now.archived = after.archived;
    }
    return now;
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

Annotations change_annotations(const fs::path& run, const AnnotationChange& change) {
    FileReplacement file(annotations_path(run)); // before reading: nobody writes in between
    Json document = read_document(run);
    Annotations now = change.before;
    if (document.is_object()) {
        take_over(document, now);
    } else {
        document = Json::object();
    }
    now = changed(std::move(now), change);
    document["schema_version"] = 1;
    document["tags"] = now.tags;
    document["notes"] = now.notes;
    document["archived"] = now.archived;
    file.part().write(document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    file.commit();
    return now;
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
