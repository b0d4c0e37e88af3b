// SPDX-License-Identifier: Apache-2.0
#include "core/train/record/run_names.h"

#include "core/base/text.h"

#include <algorithm>

namespace weft::train {
namespace {

using config::Json;

constexpr std::size_t kMostNamedValues = 24;
constexpr std::size_t kMostNearNames = 3;
constexpr std::size_t kMostAlike = 4;

/// Whether `part` stands at the end of `name`, behind a dot or a slash. Both in lower case.
bool ends_with_part(std::string_view name, std::string_view part) {
    return name.size() > part.size() && name.ends_with(part) &&
           (name[name.size() - part.size() - 1] == '.' ||
            name[name.size() - part.size() - 1] == '/');
}

bool has_part_beginning(std::string_view name, std::string_view part) {
    for (std::size_t at = name.find(part); at != std::string_view::npos;
         at = name.find(part, at + 1)) {
        if (at == 0 || name[at - 1] == '.' || name[at - 1] == '/' || name[at - 1] == '_') {
            return true;
        }
    }
    return false;
}

std::string_view last_part(std::string_view name) {
    const std::size_t sign = name.find_last_of("./");
    return sign == std::string_view::npos ? name : name.substr(sign + 1);
}

/// "a", "a or b", "a, b or c"; of many the first, and "...".
std::string either(const std::vector<std::string>& names) {
    std::string out;
    const std::size_t told = std::min(names.size(), kMostAlike);
    for (std::size_t i = 0; i < told; ++i) {
        const bool last = i + 1 == told && told == names.size();
        out += (i == 0 ? "" : last ? " or " : ", ") + names[i];
    }
    return told < names.size() ? out + ", ..." : out;
}

void add_value(RunNames::Named& named, const std::string& value) {
    if (!value.empty() && named.values.size() < kMostNamedValues) {
        named.values.insert(value);
    }
}

} // namespace

std::string_view source_name(RunSource source) {
    return source == RunSource::weft     ? "weft"
           : source == RunSource::events ? "events"
                                         : "tensorboard";
}

RunNames::RunNames() {
    for (const char* name : {"best", "loss", "step", "time", "size", "parameters"}) {
        names_[name].number = true;
    }
    for (const char* name :
         {"name", "tag", "state", "model", "data", "parent", "notes", "source"}) {
        names_[name].text = true;
    }
    names_["is"] = {Kind::fact, false, true, {"archived"}};
}

void RunNames::add(const RunSummary& run) {
    for (const auto& [name, metric] : run.metrics) {
        const auto [found, fresh] = names_.try_emplace(name);
        found->second.kind = fresh ? Kind::metric : found->second.kind;
        found->second.number = true;
    }
    add_settings(run.config, "", Kind::setting);
    for (const std::string& tag : run.annotations.tags) {
        add_value(names_["tag"], tag);
    }
    add_value(names_["state"], run.state);
    add_value(names_["model"], run.info.model);
    add_value(names_["data"], run.info.data);
    add_value(names_["source"], std::string(source_name(run.source)));
}

void RunNames::add_settings(const Json& value, const std::string& path, Kind kind) {
    const std::string below = path.empty() ? path : path + ".";
    if (value.is_object()) {
        for (const auto& [key, item] : value.items()) {
            add_settings(item, below + key, kind);
        }
        return;
    }
    if (value.is_null() || path.empty()) {
        return;
    }
    if (value.is_array()) {
        for (std::size_t i = 0; i < value.size(); ++i) {
            add_settings(value[i], below + std::to_string(i), Kind::item);
        }
    }
    const auto [found, fresh] = names_.try_emplace(path);
    Named& named = found->second;
    if (!fresh && named.kind == Kind::fact) {
        return; // "name", "notes": what the list shows is meant
    }
    named.kind = kind;
    named.text = true;
    named.number = named.number || value.is_number();
    if (value.is_string()) {
        add_value(named, value.get<std::string>());
    }
}

RunNames::Meant RunNames::find(std::string_view text, Use use) const {
    const std::string wanted = lowered(text);
    Kind kind = Kind::item;
    std::vector<std::string> alike; // of the first kind that there is
    std::string of_other;
    for (const auto& [name, named] : names_) {
        const std::string known = lowered(name);
        const bool whole = known == wanted || known == wanted + ".type";
        if (whole && named.fits(use)) {
            return {name, {}};
        }
        if (!whole && !ends_with_part(known, wanted)) {
            continue;
        }
        if (!named.fits(use)) {
            of_other = of_other.empty() || whole ? name : of_other;
            continue;
        }
        if (named.kind < kind) {
            alike.clear();
            kind = named.kind;
        }
        if (named.kind == kind) {
            alike.push_back(name);
        }
    }
    if (alike.size() == 1) {
        return {alike.front(), {}};
    }
    if (!alike.empty()) {
        return {{}, shown(text) + " may be " + either(alike) + ": write more of it"};
    }
    if (!of_other.empty()) {
        return of_other_use(of_other, use);
    }
    const std::vector<std::string> near = nearest(text, use);
    return {{},
            "no run has " + shown(text) +
                (near.empty() ? std::string() : ": did you mean " + either(near) + "?")};
}

RunNames::Meant RunNames::of_other_use(const std::string& name, Use use) const {
    const Named& named = names_.at(name);
    if (use == Use::text) {
        return {{}, name + " is a number: write " + name + "<1, with <, <=, >, >= or ="};
    }
    return {{},
            name + " is a text: write " + name + ":" +
                (named.values.empty() ? "text" : *named.values.begin())};
}

std::vector<std::string> RunNames::nearest(std::string_view text, Use use) const {
    const std::string wanted = lowered(text);
    const int limit = std::max(1, static_cast<int>(wanted.size() + 1) / 3);
    constexpr std::size_t kLongest = 60; // of what somebody meant to be a name
    std::vector<std::pair<int, std::string>> near;
    for (const auto& [name, named] : names_) {
        if (!named.fits(use) || wanted.size() > kLongest) {
            continue;
        }
        const std::string known = lowered(name);
        int distance =
            std::min(edit_distance(wanted, known), edit_distance(wanted, last_part(known)));
        if (wanted.size() >= 3 && known.find(wanted) != std::string::npos) {
            distance = std::min(distance, 1);
        }
        if (distance <= limit) {
            near.emplace_back(distance * 4 + static_cast<int>(named.kind), name);
        }
    }
    std::sort(near.begin(), near.end());
    std::vector<std::string> out;
    for (const auto& [distance, name] : near) {
        if (out.size() < kMostNearNames) {
            out.push_back(name);
        }
    }
    return out;
}

std::vector<std::string> RunNames::beginning(std::string_view text) const {
    const std::string wanted = lowered(text);
    std::vector<std::pair<Kind, std::string>> found;
    for (const auto& [name, named] : names_) {
        if (has_part_beginning(lowered(name), wanted)) {
            found.emplace_back(named.kind, name);
        }
    }
    std::sort(found.begin(), found.end());
    std::vector<std::string> out;
    for (auto& [kind, name] : found) {
        out.push_back(std::move(name));
    }
    return out;
}

} // namespace weft::train
