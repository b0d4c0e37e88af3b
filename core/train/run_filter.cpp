// SPDX-License-Identifier: Apache-2.0
#include "core/train/run_filter.h"

#include "core/base/text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace weft::train {
namespace {

using config::Json;

std::string lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](char c) {
        return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    });
    return out;
}

bool contains(std::string_view text, const std::string& part) {
    return lower(text).find(part) != std::string::npos;
}

bool any_tag(const RunSummary& run, const std::string& part) {
    return std::any_of(run.annotations.tags.begin(), run.annotations.tags.end(),
                       [&](const std::string& tag) { return contains(tag, part); });
}

struct Unit {
    std::string_view name;
    double factor;
};
// "m" is a minute and "M" a million: units keep their case.
constexpr Unit kTimeUnits[] = {{"", 1},     {"s", 1},    {"m", 60},   {"h", 3600}, {"d", 86400},
                               {"k", 1e3},  {"M", 1e6},  {"G", 1e9},  {"B", 1},    {"kB", 1e3},
                               {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}};

std::optional<double> parse_number(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) {
        return std::nullopt;
    }
    const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    for (const Unit& known : kTimeUnits) {
        if (unit == known.name) {
            return value * known.factor;
        }
    }
    return std::nullopt;
}

std::string_view source_name(RunSource source) {
    return source == RunSource::weft     ? "weft"
           : source == RunSource::events ? "events"
                                         : "tensorboard";
}

std::string value_text(const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

/// None: the run has nothing of this name.
std::optional<std::string> text_value(const RunSummary& run, const std::string& key) {
    if (key == "name") {
        return run.info.name + " " + run.folder.filename().string();
    }
    if (key == "state") {
        return run.state;
    }
    if (key == "model") {
        return run.info.model;
    }
    if (key == "data") {
        return run.info.data;
    }
    if (key == "parent") {
        return run.info.parent;
    }
    if (key == "notes") {
        return run.annotations.notes;
    }
    if (key == "source") {
        return std::string(source_name(run.source));
    }
    const Json* setting = setting_at(run.config, key);
    return setting != nullptr ? std::optional(value_text(*setting)) : std::nullopt;
}

std::optional<double> number_value(const RunSummary& run, const std::string& key) {
    if (key == "best") {
        return run.best_value;
    }
    if (key == "loss") {
        return run.loss_curve.empty() ? std::nullopt : std::optional(run.last_loss);
    }
    if (key == "step") {
        return static_cast<double>(run.step);
    }
    if (key == "time") {
        return run.seconds;
    }
    if (key == "size") {
        return static_cast<double>(run.bytes);
    }
    if (key == "parameters") {
        return static_cast<double>(run.info.parameters);
    }
    if (const MetricSummary* metric = run.metric(key)) {
        return metric->last;
    }
    const Json* setting = setting_at(run.config, key);
    return setting != nullptr && setting->is_number() ? std::optional(setting->get<double>())
                                                      : std::nullopt;
}

} // namespace

const Json* setting_at(const Json& config, std::string_view path) {
    const Json* at = &config;
    for (const std::string& part : split(path, '.')) {
        if (at->is_array()) {
            std::size_t index = 0;
            const auto [end, error] =
                std::from_chars(part.data(), part.data() + part.size(), index);
            if (error != std::errc() || end != part.data() + part.size() || index >= at->size()) {
                return nullptr;
            }
            at = &(*at)[index];
            continue;
        }
        const auto found = at->is_object() ? at->find(part) : at->end();
        if (!at->is_object() || found == at->end()) {
            return nullptr;
        }
        at = &*found;
    }
    return at;
}

RunFilter::RunFilter(std::string_view text) {
    std::string term;
    bool quoted = false;
    bool was_quoted = false; // the whole term: its colons and signs mean nothing
    for (const char c : text) {
        if (c == '"') {
            was_quoted = was_quoted || (!quoted && (term.empty() || term == "-"));
            quoted = !quoted;
        } else if (!quoted && std::isspace(static_cast<unsigned char>(c)) != 0) {
            add(term, was_quoted);
            term.clear();
            was_quoted = false;
        } else {
            term += c;
        }
    }
    add(term, was_quoted);
    if (quoted && problem_.empty()) {
        problem_ = "a quotation mark is missing";
    }
}

void RunFilter::add(std::string_view text, bool quoted) {
    Term term;
    if (text.starts_with('-') && text.size() > 1) {
        term.negated = true;
        text.remove_prefix(1);
    }
    if (text.empty() || text == "-") {
        return;
    }
    const std::size_t sign = quoted ? std::string_view::npos : text.find_first_of(":<>=");
    if (sign == std::string_view::npos || sign == 0) {
        term.text = lower(text);
        terms_.push_back(std::move(term));
        return;
    }
    term.key = std::string(text.substr(0, sign));
    std::string_view rest = text.substr(sign + 1);
    if (text[sign] == ':') {
        if (term.key == "is" && lower(rest) == "archived" && !term.negated) {
            archived_ = true;
            return;
        }
        term.kind = Kind::text;
        term.text = lower(rest);
        terms_.push_back(std::move(term));
        return;
    }
    const bool or_equal = rest.starts_with('=');
    if (or_equal) {
        rest.remove_prefix(1);
    }
    term.kind = Kind::number;
    term.compare = text[sign] == '<'   ? (or_equal ? Compare::less_equal : Compare::less)
                   : text[sign] == '>' ? (or_equal ? Compare::greater_equal : Compare::greater)
                                       : Compare::equal;
    const std::optional<double> number = parse_number(rest);
    if (!number) {
        if (problem_.empty()) {
            problem_ = shown(text) + ": a number is expected after the sign, such as " +
                       shown(term.key) + "<0.3";
        }
        return;
    }
    term.number = *number;
    terms_.push_back(std::move(term));
}

bool RunFilter::matches(const RunSummary& run) const {
    return (archived_ || !run.annotations.archived) &&
           std::all_of(terms_.begin(), terms_.end(),
                       [&](const Term& term) { return holds(term, run) != term.negated; });
}

bool RunFilter::holds(const Term& term, const RunSummary& run) const {
    if (term.kind == Kind::word) {
        return contains(run.info.name, term.text) ||
               contains(run.folder.filename().string(), term.text) || any_tag(run, term.text);
    }
    if (term.kind == Kind::text) {
        if (term.key == "tag") {
            return any_tag(run, term.text);
        }
        const auto value = text_value(run, term.key);
        return value && contains(*value, term.text);
    }
    const auto value = number_value(run, term.key);
    if (!value) {
        return false;
    }
    switch (term.compare) {
    case Compare::less: return *value < term.number;
    case Compare::less_equal: return *value <= term.number;
    case Compare::greater: return *value > term.number;
    case Compare::greater_equal: return *value >= term.number;
    case Compare::equal: return *value == term.number;
    }
    return false;
}

} // namespace weft::train
