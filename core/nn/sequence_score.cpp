// SPDX-License-Identifier: Apache-2.0
// Metrics of a whole set of sequences.
#include "core/nn/set_score.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::nn {
namespace {

using Symbols = std::vector<std::int32_t>;

/// Symbols to insert, delete or replace to make one of the other (Levenshtein 1966).
std::int64_t edits_between(const Symbols& one, const Symbols& other) {
    std::vector<std::int64_t> row(other.size() + 1);
    for (std::size_t j = 0; j < row.size(); ++j) {
        row[j] = static_cast<std::int64_t>(j);
    }
    for (std::size_t i = 0; i < one.size(); ++i) {
        std::int64_t diagonal = row[0]++;
        for (std::size_t j = 1; j < row.size(); ++j) {
            const std::int64_t replaced = diagonal + (one[i] == other[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row.back();
}

class Edits : public SetScore {
public:
    explicit Edits(const ScoredTargets& targets) : symbols_(targets.places) {}

    void add(std::span<const float> row) override {
        const std::size_t positions = row.size() - static_cast<std::size_t>(symbols_);
        const Symbols read = symbols_of_path(row.first(positions));
        Symbols real;
        for (const float symbol : row.subspan(positions)) {
            if (symbol < 1) {
                break;
            }
            real.push_back(static_cast<std::int32_t>(symbol));
        }
        edits_ += edits_between(read, real);
        all_ += std::ssize(real);
    }

    double value() const override {
        return all_ > 0 ? static_cast<double>(edits_) / static_cast<double>(all_)
                        : std::numeric_limits<double>::quiet_NaN();
    }

private:
    std::int64_t symbols_; // places of a target
    std::int64_t edits_ = 0, all_ = 0;
};

bool is_of_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
}

/// Runs of letters and digits, and every other character that is no space.
std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < text.size();) {
        std::size_t end = i + 1;
        while (is_of_word(text[i]) && end < text.size() && is_of_word(text[end])) {
            ++end;
        }
        if (std::isspace(static_cast<unsigned char>(text[i])) == 0) {
            out.emplace_back(text.substr(i, end - i));
        }
        i = end;
    }
    return out;
}

// Papineni et al. 2002, of a corpus with a reference each: the geometric mean of clipped precisions
// of runs of 1 to 4 words, times exp(1 - real / found) where what is found is shorter.
class Bleu : public SetScore {
public:
    explicit Bleu(const ScoredTargets& targets) : text_(targets.text) {}

    void add(std::span<const float> row) override {
        compare(words(row.first(row.size() / 2)), words(row.last(row.size() / 2)));
    }

    double value() const override {
        if (real_words_ == 0) {
            return std::numeric_limits<double>::quiet_NaN();
        }
        double logs = 0;
        for (const Runs& runs : runs_) {
            if (runs.shared == 0) {
                return 0;
            }
            logs += std::log(static_cast<double>(runs.shared) / static_cast<double>(runs.all));
        }
        const double shorter =
            1 - static_cast<double>(real_words_) / static_cast<double>(found_words_);
        return std::exp(logs / static_cast<double>(runs_.size()) + std::min(0.0, shorter));
    }

private:
    using Words = std::vector<std::string>;
    struct Runs {
        std::int64_t shared = 0, all = 0;
    };

    Words words(std::span<const float> row) const {
        Symbols tokens;
        for (const float token : row) {
            if (token >= 0) {
                tokens.push_back(static_cast<std::int32_t>(token));
            }
        }
        if (text_) {
            return words_of(text_(tokens));
        }
        Words out;
        for (const std::int32_t token : tokens) {
            out.push_back(std::to_string(token));
        }
        return out;
    }

    static std::map<Words, std::int64_t> runs_of(const Words& words, std::size_t length) {
        std::map<Words, std::int64_t> out;
        for (std::size_t i = 0; i + length <= words.size(); ++i) {
            const auto first = words.begin() + static_cast<std::ptrdiff_t>(i);
            ++out[Words(first, first + static_cast<std::ptrdiff_t>(length))];
        }
        return out;
    }

    void compare(const Words& found, const Words& real) {
        found_words_ += std::ssize(found);
        real_words_ += std::ssize(real);
        for (std::size_t length = 1; length <= runs_.size(); ++length) {
            const auto there = runs_of(real, length);
            for (const auto& [run, times] : runs_of(found, length)) {
                const auto at = there.find(run);
                runs_[length - 1].all += times;
                runs_[length - 1].shared += at == there.end() ? 0 : std::min(times, at->second);
            }
        }
    }

    TextOf text_;
    std::array<Runs, 4> runs_{};
    std::int64_t found_words_ = 0, real_words_ = 0;
};

} // namespace

std::vector<std::int32_t> symbols_of_path(std::span<const float> path) {
    std::vector<std::int32_t> out;
    float before = 0;
    for (const float symbol : path) {
        if (symbol != before && symbol > 0) {
            out.push_back(static_cast<std::int32_t>(symbol));
        }
        before = symbol;
    }
    return out;
}

std::unique_ptr<SetScore> score_edits(const ScoredTargets& targets) {
    return std::make_unique<Edits>(targets);
}

std::unique_ptr<SetScore> score_bleu(const ScoredTargets& targets) {
    return std::make_unique<Bleu>(targets);
}

} // namespace weft::nn
