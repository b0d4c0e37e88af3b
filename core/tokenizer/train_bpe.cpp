// SPDX-License-Identifier: Apache-2.0
#include "core/tokenizer/train_bpe.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/field.h"
#include "core/tokenizer/bpe.h"
#include "core/tokenizer/byte_alphabet.h"
#include "core/tokenizer/split_text.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <unordered_set>

namespace weft::tokenizer {
namespace {

using config::Json;
using Pair = std::pair<Token, Token>;

constexpr std::int64_t kSaidEvery = 256; // merges

std::uint64_t key_of(const Pair& pair) {
    return static_cast<std::uint64_t>(pair.first) << 32 | static_cast<std::uint32_t>(pair.second);
}

/// A piece of the corpus, how often it came, and its tokens by now.
struct Word {
    std::vector<Token> tokens;
    std::int64_t count = 0;
};

struct PairUse {
    std::int64_t count = 0;
    std::unordered_set<std::uint32_t> words;
};

struct Ranked {
    std::int64_t count = 0;
    Pair pair;
    bool operator<(const Ranked& other) const { // the largest is merged first
        return count != other.count ? count < other.count : pair > other.pair;
    }
};

/// As the library tokenizers writes it.
std::string document_of(Json added, Json vocabulary, Json merges) {
    const Json byte_level = {{"type", "ByteLevel"},
                             {"add_prefix_space", false},
                             {"trim_offsets", true},
                             {"use_regex", true}};
    const Json out = {{"version", "1.0"},
                      {"truncation", nullptr},
                      {"padding", nullptr},
                      {"added_tokens", std::move(added)},
                      {"normalizer", nullptr},
                      {"pre_tokenizer", byte_level},
                      {"post_processor", nullptr},
                      {"decoder", byte_level},
                      {"model",
                       {{"type", "BPE"},
                        {"dropout", nullptr},
                        {"unk_token", nullptr},
                        {"continuing_subword_prefix", nullptr},
                        {"end_of_word_suffix", nullptr},
                        {"fuse_unk", false},
                        {"byte_fallback", false},
                        {"ignore_merges", false},
                        {"vocab", std::move(vocabulary)},
                        {"merges", std::move(merges)}}}};
    return out.dump(1) + "\n";
}

class Trainer {
public:
    explicit Trainer(const TrainOptions& options) : options_(options) {
        for (const std::string& added : options.added) {
            tokens_.push_back(added);
        }
        // Bytes in the order of the characters that stand for them.
        std::array<std::size_t, 256> order{};
        std::iota(order.begin(), order.end(), 0);
        const auto& characters = characters_of_bytes();
        std::sort(order.begin(), order.end(),
                  [&](std::size_t a, std::size_t b) { return characters[a] < characters[b]; });
        for (const std::size_t byte : order) {
            bytes_[byte] = static_cast<Token>(tokens_.size());
            tokens_.emplace_back(1, static_cast<char>(byte));
        }
        if (options.size < std::ssize(tokens_)) {
            throw Error(ErrorKind::usage, "size",
                        "a vocabulary of " + format_thousands(options.size) +
                            " does not hold the 256 bytes" +
                            (options.added.empty() ? "" : " and the added tokens"),
                        "Give at least " + format_thousands(std::ssize(tokens_)) + ".");
        }
    }

    void count(std::string_view text) {
        pattern_.split(text, [&](std::string_view piece, bool) { ++pieces_[std::string(piece)]; });
    }

    void learn(const std::stop_token& stop, const std::function<void(std::int64_t)>& progress) {
        take_words();
        while (std::ssize(tokens_) < options_.size && !queue_.empty()) {
            Ranked best = queue_.top();
            queue_.pop();
            PairUse& use = pairs_[key_of(best.pair)];
            if (best.count != use.count) {
                best.count = use.count;
                queue_.push(best);
                continue;
            }
            if (best.count < std::max<std::int64_t>(1, options_.fewest)) {
                break;
            }
            if (stop.stop_requested()) {
                throw Error(ErrorKind::runtime, "tokenizer", "learning was stopped");
            }
            merge(best.pair, use);
            if (progress && std::ssize(merges_) % kSaidEvery == 0) {
                progress(std::ssize(tokens_));
            }
        }
    }

    std::string document() const {
        Json vocabulary = Json::object();
        for (std::size_t i = options_.added.size(); i < tokens_.size(); ++i) {
            vocabulary[written_bytes(tokens_[i])] = i;
        }
        Json merges = Json::array();
        for (const Merge& merge : merges_) {
            merges.push_back({written(merge.left), written(merge.right)});
        }
        Json added = Json::array();
        for (std::size_t i = 0; i < options_.added.size(); ++i) {
            vocabulary[options_.added[i]] = i;
            added.push_back({{"id", i},
                             {"content", options_.added[i]},
                             {"single_word", false},
                             {"lstrip", false},
                             {"rstrip", false},
                             {"normalized", false},
                             {"special", true}});
        }
        return document_of(std::move(added), std::move(vocabulary), std::move(merges));
    }

private:
    std::string written(Token token) const {
        return written_bytes(tokens_[static_cast<std::size_t>(token)]);
    }

    void take_words() {
        std::vector<std::pair<std::string, std::int64_t>> sorted(pieces_.begin(), pieces_.end());
        pieces_.clear();
        std::sort(sorted.begin(), sorted.end());
        for (const auto& [piece, count] : sorted) {
            Word& word = words_.emplace_back();
            word.count = count;
            for (const char c : piece) {
                word.tokens.push_back(bytes_[static_cast<unsigned char>(c)]);
            }
            for (std::size_t i = 0; i + 1 < word.tokens.size(); ++i) {
                PairUse& use = pairs_[key_of({word.tokens[i], word.tokens[i + 1]})];
                use.count += count;
                use.words.insert(static_cast<std::uint32_t>(words_.size() - 1));
            }
        }
        for (const auto& [key, use] : pairs_) {
            queue_.push({use.count, {static_cast<Token>(key >> 32), static_cast<Token>(key)}});
        }
    }

    void merge(const Pair& pair, const PairUse& use) {
        const std::string bytes = tokens_[static_cast<std::size_t>(pair.first)] +
                                  tokens_[static_cast<std::size_t>(pair.second)];
        const auto [known, is_new] = made_.try_emplace(bytes, static_cast<Token>(tokens_.size()));
        if (is_new) {
            tokens_.push_back(bytes);
        }
        merges_.push_back({pair.first, pair.second, known->second});
        std::unordered_set<std::uint64_t> grown;
        const std::unordered_set<std::uint32_t> places = use.words; // pairs_ grows below
        for (const std::uint32_t place : places) {
            merge_in(place, pair, known->second, grown);
        }
        for (const std::uint64_t key : grown) {
            queue_.push(
                {pairs_[key].count, {static_cast<Token>(key >> 32), static_cast<Token>(key)}});
        }
    }

    void merge_in(std::uint32_t place, const Pair& pair, Token result,
                  std::unordered_set<std::uint64_t>& grown) {
        Word& word = words_[place];
        std::vector<Token>& tokens = word.tokens;
        const auto add = [&](Token left, Token right, std::int64_t sign) {
            PairUse& use = pairs_[key_of({left, right})];
            use.count += sign * word.count;
            if (sign > 0) {
                use.words.insert(place);
                grown.insert(key_of({left, right}));
            }
        };
        std::size_t kept = 0;
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            const bool here =
                tokens[i] == pair.first && i + 1 < tokens.size() && tokens[i + 1] == pair.second;
            if (!here) {
                tokens[kept++] = tokens[i];
                continue;
            }
            if (kept > 0) {
                add(tokens[kept - 1], pair.first, -1);
                add(tokens[kept - 1], result, 1);
            }
            if (i + 2 < tokens.size()) {
                add(pair.second, tokens[i + 2], -1);
                add(result, tokens[i + 2], 1);
            }
            tokens[kept++] = result;
            ++i;
        }
        tokens.resize(kept);
    }

    const TrainOptions& options_;
    const Pattern pattern_{kGpt2Pattern, "tokenizer"};
    std::unordered_map<std::string, std::int64_t> pieces_;
    std::vector<Word> words_;
    std::unordered_map<std::uint64_t, PairUse> pairs_;
    std::priority_queue<Ranked> queue_;
    std::array<Token, 256> bytes_{};
    std::vector<std::string> tokens_; // by number
    std::unordered_map<std::string, Token> made_;
    std::vector<Merge> merges_;
};

} // namespace

std::shared_ptr<const Tokenizer>
train_bpe(const TrainOptions& options, const std::function<bool(std::string& text)>& next,
          const std::stop_token& stop, const std::function<void(std::int64_t tokens)>& progress) {
    Trainer trainer(options);
    for (std::string text; next(text); text.clear()) {
        trainer.count(text);
    }
    trainer.learn(stop, progress);
    return read_tokenizer(trainer.document(), "the tokenizer that was learnt");
}

std::string byte_document() {
    Json vocabulary = Json::object();
    for (int byte = 0; byte < 256; ++byte) {
        vocabulary[written_bytes(std::string(1, static_cast<char>(byte)))] = byte;
    }
    return document_of(Json::array(), std::move(vocabulary), Json::array());
}

} // namespace weft::tokenizer
