// SPDX-License-Identifier: Apache-2.0
#include "core/train/record/step_line.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace weft::train {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// How many characters of `text` are a number of JSON (RFC 8259, section 6), whose grammar is
/// narrower than that of from_chars; 0 when it begins with none.
std::size_t json_number_length(std::string_view text) {
    std::size_t at = text.starts_with('-') ? 1 : 0;
    const auto digits = [&] {
        const std::size_t from = at;
        while (at < text.size() && is_digit(text[at])) {
            ++at;
        }
        return at - from;
    };
    const std::size_t first = at;
    const std::size_t whole = digits();
    if (whole == 0 || (whole > 1 && text[first] == '0')) {
        return 0;
    }
    if (at < text.size() && text[at] == '.') {
        ++at;
        if (digits() == 0) {
            return 0;
        }
    }
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        ++at;
        at += at < text.size() && (text[at] == '+' || text[at] == '-') ? 1 : 0;
        if (digits() == 0) {
            return 0;
        }
    }
    return at;
}

/// Every read says whether it was what is plain; the first that was not ends the reading.
class Scanner {
public:
    explicit Scanner(std::string_view text) : rest_(text) {}

    bool take(char wanted) {
        skip_blanks();
        const bool there = rest_.starts_with(wanted);
        rest_.remove_prefix(there ? 1 : 0);
        return there;
    }

    bool text(std::string_view& into) {
        if (!take('"')) {
            return false;
        }
        std::size_t end = 0;
        while (end < rest_.size() && rest_[end] != '"') {
            const char c = rest_[end++];
            if (c == '\\' || c < 0x20 || c > 0x7e) { // also where char is signed
                return false;
            }
        }
        if (end == rest_.size()) {
            return false;
        }
        into = rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        return true;
    }

    bool key(std::string_view& into) { return text(into) && take(':'); }

    /// This text, as it stands.
    bool take(std::string_view wanted) {
        const bool there = rest_.starts_with(wanted);
        rest_.remove_prefix(there ? wanted.size() : 0);
        return there;
    }

    template <class Number>
    bool number(Number& into) {
        skip_blanks();
        const std::size_t length = json_number_length(rest_);
        const std::string_view token = rest_.substr(0, length);
        if (length == 0 || token == "-0") { // a whole number there, without a sign
            return false;
        }
        const char* end = token.data() + token.size();
        const auto [stop, error] = std::from_chars(token.data(), end, into);
        rest_.remove_prefix(length);
        return error == std::errc() && stop == end; // a fraction is no plain whole number
    }

    bool number(std::optional<double>& into) {
        double value = 0;
        const bool read = number(value);
        into = value;
        return read;
    }

    bool at_end() {
        skip_blanks();
        return rest_.empty();
    }

private:
    void skip_blanks() {
        while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t' ||
                                  rest_.front() == '\r' || rest_.front() == '\n')) {
            rest_.remove_prefix(1);
        }
    }

    std::string_view rest_;
};

bool next_metrics(Scanner& in, Metrics& into) {
    if (!into.empty() || !in.take('{')) {
        return false;
    }
    if (in.take('}')) {
        return true;
    }
    do {
        std::string_view name;
        double value = 0;
        if (!in.key(name) || !in.number(value)) {
            return false;
        }
        const bool twice = std::any_of(into.begin(), into.end(),
                                       [&](const auto& known) { return known.first == name; });
        if (twice) {
            return false;
        }
        into.emplace_back(std::string(name), value);
    } while (in.take(','));
    return in.take('}');
}

struct Key {
    std::string_view quoted; // as it is written, without spaces
    bool (*read)(Scanner& in, Event& event, StepEvent& step);

    std::string_view name() const { return quoted.substr(1, quoted.size() - 3); }
};

template <auto member>
bool read_number(Scanner& in, Event&, StepEvent& step) {
    return in.number(step.*member);
}

/// In the order of `to_line`.
constexpr std::array kKeys = {
    Key{R"("seq":)", [](Scanner& in, Event& event, StepEvent&) { return in.number(event.seq); }},
    Key{R"("time":)", [](Scanner& in, Event& event, StepEvent&) { return in.number(event.time); }},
    Key{R"("step":)", read_number<&StepEvent::step>},
    Key{R"("epoch":)", read_number<&StepEvent::epoch>},
    Key{R"("loss":)", read_number<&StepEvent::loss>},
    Key{R"("learning_rate":)", read_number<&StepEvent::learning_rate>},
    Key{R"("grad_norm":)", read_number<&StepEvent::grad_norm>},
    Key{R"("samples_per_s":)", read_number<&StepEvent::samples_per_s>},
    Key{R"("tokens_per_s":)", read_number<&StepEvent::tokens_per_s>},
    Key{R"("step_ms":)", read_number<&StepEvent::step_ms>},
    Key{R"("data_wait_ms":)", read_number<&StepEvent::data_wait_ms>},
    Key{R"("memory_bytes":)", read_number<&StepEvent::memory_bytes>},
    Key{R"("mfu":)", read_number<&StepEvent::mfu>},
    Key{R"("metrics":)",
        [](Scanner& in, Event&, StepEvent& step) { return next_metrics(in, step.metrics); }},
};

/// The key that comes next, mostly one of the first from `expected` on; null when it is none of
/// them.
const Key* next_key(Scanner& in, std::size_t expected) {
    for (std::size_t i = expected; i < std::min(expected + 2, kKeys.size()); ++i) {
        if (in.take(kKeys[i].quoted)) {
            return &kKeys[i];
        }
    }
    std::string_view name;
    if (!in.key(name)) {
        return nullptr;
    }
    const auto found = std::find_if(kKeys.begin(), kKeys.end(),
                                    [&](const Key& key) { return key.name() == name; });
    return found == kKeys.end() ? nullptr : &*found;
}

} // namespace

std::optional<Event> parse_step_line(std::string_view line) {
    Scanner in(line);
    std::string_view key;
    std::string_view kind;
    if (!in.take('{') || !in.key(key) || key != "event" || !in.text(kind) || kind != "step") {
        return std::nullopt;
    }
    Event event;
    StepEvent step;
    std::size_t expected = 0;
    while (in.take(',')) {
        const Key* next = next_key(in, expected);
        if (next == nullptr || !next->read(in, event, step)) {
            return std::nullopt;
        }
        expected = static_cast<std::size_t>(next - kKeys.data()) + 1;
    }
    if (!in.take('}') || !in.at_end()) {
        return std::nullopt;
    }
    event.payload = std::move(step);
    return event;
}

} // namespace weft::train
