// SPDX-License-Identifier: Apache-2.0
// The filter of lists of runs. Terms are parted by blanks, with "and" between them or without, and
// all must hold:
//
//   word, "two words"   in the name, the folder or a tag
//   key:text            in what the key names: name, tag, state, model, data, parent, notes,
//                       source, or a setting (optimizer.type:adamw)
//   key < number        also <=, >, >=, = ; keys are best, loss, step, time, size, parameters, a
//                       metric (its last value), or a setting (learning_rate < 1e-3)
//   is:archived         archived runs too, which are hidden otherwise
//   -term               not
//
// Keys may be cut short in front (core/train/record/run_names.h). Upper and lower case are the
// same. Numbers may have a unit: 30s 5m 2h 3d (time), 10kB 5MB 2GB (size), 10k 5M 2G (counts). A
// run that has no such value does not match.
#pragma once

#include "core/train/record/run_names.h"

#include <string>
#include <string_view>
#include <vector>

namespace weft::train {

class RunFilter {
public:
    RunFilter() = default;
    RunFilter(std::string_view text, const RunNames& names);

    /// What is wrong with the text, as one sentence; empty: nothing. A filter with a problem
    /// matches by its other terms.
    const std::string& problem() const { return problem_; }
    bool matches(const RunSummary& run) const;

private:
    enum class Kind : std::uint8_t { word, text, number };
    enum class Compare : std::uint8_t { less, less_equal, greater, greater_equal, equal };
    struct Term {
        Kind kind = Kind::word;
        bool negated = false;
        std::string key;
        std::string text; // lower case
        Compare compare = Compare::less;
        double number = 0;
    };
    void add(std::string_view term, bool quoted, const RunNames& names);
    void add_text(Term term, std::string_view text, const RunNames& names);
    void add_number(Term term, std::string_view text, std::size_t sign, const RunNames& names);
    void say(std::string problem);
    bool holds(const Term& term, const RunSummary& run) const;

    std::vector<Term> terms_;
    bool archived_ = false;
    std::string problem_;
};

/// What can stand at a place of a filter's text: each of `words` instead of the bytes
/// [begin, end).
struct FilterCompletion {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::vector<std::string> words; // names, those of texts with their colon; or texts
};
FilterCompletion complete_filter(std::string_view text, std::size_t cursor, const RunNames& names);

/// The value at "optimizer.learning_rate" in a configuration; null when there is none. "groups.0"
/// counts into lists; a key may hold dots itself.
const config::Json* setting_at(const config::Json& config, std::string_view path);

} // namespace weft::train
