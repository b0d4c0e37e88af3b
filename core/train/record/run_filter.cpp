// SPDX-License-Identifier: Apache-2.0
#include "core/train/record/run_filter.h"

#include "core/base/text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace weft::train {
namespace {

using config::Json;

constexpr std::string_view kSigns = "<>=";

bool contains(std::string_view text, const std::string& part) {
    return lowered(text).find(part) != std::string::npos;
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

/// What stands between blanks, or between quotation marks.
struct Token {
    std::string text;
    std::size_t begin = 0; // in the filter's text
    std::size_t end = 0;
    bool quoted = false; // from its beginning on: its colons and signs mean nothing

    bool begins_with_sign() const { return !quoted && kSigns.find(text.front()) != kSigns.npos; }
    /// A comparison that lacks its number, such as "best <".
    bool waits_for_number() const {
        return !quoted && kSigns.find(text.back()) != kSigns.npos &&
               kSigns.find(text[text.find_first_of(":<>=")]) != kSigns.npos;
    }
    bool is_name() const { return !quoted && text.find_first_of(":<>=") == std::string::npos; }
};

struct Tokens {
    std::vector<Token> list;
    bool open_quote = false;
};

Tokens tokens_of(std::string_view text) {
    Tokens out;
    Token token;
    const auto end_token = [&](std::size_t at) {
        token.end = at;
        if (!token.text.empty()) {
            out.list.push_back(token);
        }
        token = {};
        token.begin = at + 1;
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"') {
            token.quoted =
                token.quoted || (!out.open_quote && (token.text.empty() || token.text == "-"));
            out.open_quote = !out.open_quote;
        } else if (!out.open_quote && std::isspace(static_cast<unsigned char>(text[i])) != 0) {
            end_token(i);
        } else {
            token.text += text[i];
        }
    }
    end_token(text.size());
    return out;
}

/// Terms as they are without the blanks around signs: "best < 0.3" is one.
std::vector<Token> terms_of(const std::vector<Token>& tokens) {
    std::vector<Token> out;
    for (const Token& token : tokens) {
        const bool goes_on = !out.empty() && ((out.back().is_name() && token.begins_with_sign()) ||
                                              out.back().waits_for_number());
        if (goes_on) {
            out.back().text += token.text;
            out.back().end = token.end;
        } else {
            out.push_back(token);
        }
    }
    return out;
}

std::string with_quotes(const std::string& text) {
    return text.find(' ') == std::string::npos ? text : '"' + text + '"';
}

/// Texts of a key, of which something is written already.
std::vector<std::string> texts_of(std::string_view key, std::string_view begun,
                                  const RunNames& names) {
    std::vector<std::string> out;
    const RunNames::Meant meant = names.find(key, RunNames::Use::text);
    if (meant.problem.empty()) {
        for (const std::string& value : names.all().at(meant.name).values) {
            if (contains(value, lowered(begun))) {
                out.push_back(with_quotes(value));
            }
        }
    }
    return out;
}

} // namespace

const Json* setting_at(const Json& config, std::string_view path) {
    if (config.is_object()) {
        if (const auto found = config.find(path); found != config.end()) {
            return &*found;
        }
    }
    const std::size_t dot = path.find('.');
    const std::string_view part = path.substr(0, dot);
    const Json* item = nullptr;
    if (config.is_array()) {
        std::size_t index = 0;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), index);
        if (error == std::errc() && end == part.data() + part.size() && index < config.size()) {
            item = &config[index];
        }
    } else if (config.is_object()) {
        const auto found = config.find(part);
        item = found == config.end() ? nullptr : &*found;
    }
    return item == nullptr || dot == std::string_view::npos
               ? item
               : setting_at(*item, path.substr(dot + 1));
}

FilterCompletion complete_filter(std::string_view text, std::size_t cursor, const RunNames& names) {
    FilterCompletion out{cursor, cursor, {}};
    const Tokens tokens = tokens_of(text);
    std::string_view begun;
    const Token* before = nullptr;
    for (const Token& token : tokens.list) {
        if (token.begin < cursor && cursor <= token.end) {
            out.begin = token.begin;
            out.end = token.end;
            begun = text.substr(token.begin, cursor - token.begin);
        } else if (token.end < cursor) {
            before = &token;
        }
    }
    if (begun.starts_with('-')) {
        begun.remove_prefix(1);
        ++out.begin;
    }
    if (begun.starts_with('"') || (before != nullptr && before->waits_for_number())) {
        return out;
    }
    const std::size_t sign = begun.find_first_of(":<>=");
    if (sign == std::string_view::npos) {
        out.end = std::min(out.end, text.find_first_of(":<>=", out.begin));
        for (std::string& name : names.beginning(begun)) {
            out.words.push_back(names.all().at(name).number ? std::move(name) : name + ":");
        }
    } else if (begun[sign] == ':') {
        const std::string_view written = begun.substr(sign + 1);
        out.begin += sign + 1;
        out.words = texts_of(begun.substr(0, sign),
                             written.substr(written.starts_with('"') ? 1 : 0), names);
    }
    return out;
}

RunFilter::RunFilter(std::string_view text, const RunNames& names) {
    const Tokens tokens = tokens_of(text);
    const std::vector<Token> terms = terms_of(tokens.list);
    for (const Token& term : terms) {
        const std::string word = term.quoted || terms.size() == 1 ? "" : lowered(term.text);
        if (word == "or") {
            say("or is not known: all terms must hold; \"or\" in quotation marks is a word");
        } else if (word != "and") {
            add(term.text, term.quoted, names);
        }
    }
    if (tokens.open_quote) {
        say("a quotation mark is missing");
    }
}

void RunFilter::say(std::string problem) {
    problem_ = problem_.empty() ? std::move(problem) : problem_;
}

void RunFilter::add(std::string_view text, bool quoted, const RunNames& names) {
    Term term;
    if (text.starts_with('-') && text.size() > 1) {
        term.negated = true;
        text.remove_prefix(1);
    }
    if (text == "-") {
        return;
    }
    const std::size_t sign = quoted ? std::string_view::npos : text.find_first_of(":<>=");
    if (sign == std::string_view::npos) {
        term.text = lowered(text);
        terms_.push_back(std::move(term));
    } else if (sign == 0) {
        say(shown(text) + ": a name is expected before the sign, such as best<0.3");
    } else if (text[sign] == ':') {
        term.key = std::string(text.substr(0, sign));
        add_text(std::move(term), text.substr(sign + 1), names);
    } else {
        term.key = std::string(text.substr(0, sign));
        add_number(std::move(term), text, sign, names);
    }
}

void RunFilter::add_text(Term term, std::string_view text, const RunNames& names) {
    term.kind = Kind::text;
    term.text = lowered(text);
    if (lowered(term.key) == "is") {
        if (term.text == "archived") {
            archived_ = !term.negated;
        } else {
            say("is:" + shown(text) + " is not known, but is:archived");
        }
        return;
    }
    RunNames::Meant meant = names.find(term.key, RunNames::Use::text);
    if (!meant.problem.empty()) {
        say(std::move(meant.problem));
        return;
    }
    term.key = std::move(meant.name);
    terms_.push_back(std::move(term));
}

void RunFilter::add_number(Term term, std::string_view text, std::size_t sign,
                           const RunNames& names) {
    std::string_view rest = text.substr(sign + 1);
    const bool or_equal = rest.starts_with('=');
    rest.remove_prefix(or_equal ? 1 : 0);
    term.kind = Kind::number;
    term.compare = text[sign] == '<'   ? (or_equal ? Compare::less_equal : Compare::less)
                   : text[sign] == '>' ? (or_equal ? Compare::greater_equal : Compare::greater)
                                       : Compare::equal;
    RunNames::Meant meant = names.find(term.key, RunNames::Use::number);
    if (!meant.problem.empty()) {
        say(std::move(meant.problem));
        return;
    }
    const std::optional<double> number = parse_number(rest);
    if (!number) {
        say(shown(text) + ": a number is expected after the sign, such as " + shown(term.key) +
            "<0.3");
        return;
    }
    term.key = std::move(meant.name);
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
