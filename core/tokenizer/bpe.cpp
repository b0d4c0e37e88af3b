// SPDX-License-Identifier: Apache-2.0
#include "core/tokenizer/bpe.h"

#include <algorithm>
#include <queue>

namespace weft::tokenizer {

Bpe::Bpe(const std::array<Token, 256>& bytes, const std::vector<Merge>& merges) : bytes_(bytes) {
    ranks_.reserve(merges.size());
    for (std::size_t i = 0; i < merges.size(); ++i) {
        ranks_.try_emplace(key(merges[i].left, merges[i].right),
                           Rank{static_cast<std::int32_t>(i), merges[i].result});
    }
}

void Bpe::encode(std::string_view piece, std::vector<Token>& out) const {
    std::vector<Token> tokens;
    tokens.reserve(piece.size());
    for (const char c : piece) {
        tokens.push_back(bytes_[static_cast<unsigned char>(c)]);
    }
    merge(tokens);
    out.insert(out.end(), tokens.begin(), tokens.end());
}

void Bpe::merge(std::vector<Token>& tokens) const {
    // Tokens are a list: a merged one takes the place of its left part.
    struct Place {
        int before, after;
        bool gone = false;
    };
    struct Candidate {
        std::int32_t rank;
        int place; // of the left one
        Token left, right, result;
        bool operator>(const Candidate& other) const {
            return std::pair(rank, place) > std::pair(other.rank, other.place);
        }
    };
    const int count = static_cast<int>(tokens.size());
    std::vector<Place> places;
    places.reserve(tokens.size());
    for (int i = 0; i < count; ++i) {
        places.push_back({i - 1, i + 1 < count ? i + 1 : -1});
    }
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
    const auto at = [&](int place) -> Place& { return places[static_cast<std::size_t>(place)]; };
    const auto token = [&](int place) -> Token& { return tokens[static_cast<std::size_t>(place)]; };
    const auto offer = [&](int left) {
        const int right = left < 0 ? -1 : at(left).after;
        if (right < 0) {
            return;
        }
        const auto found = ranks_.find(key(token(left), token(right)));
        if (found != ranks_.end()) {
            queue.push({found->second.rank, left, token(left), token(right), found->second.result});
        }
    };
    for (int i = 0; i + 1 < count; ++i) {
        offer(i);
    }
    while (!queue.empty()) {
        const Candidate best = queue.top();
        queue.pop();
        const int right = at(best.place).after;
        if (at(best.place).gone || right < 0 || token(best.place) != best.left ||
            token(right) != best.right) {
            continue; // one of them was merged otherwise
        }
        token(best.place) = best.result;
        at(right).gone = true;
        at(best.place).after = at(right).after;
        if (at(right).after >= 0) {
            at(at(right).after).before = best.place;
        }
        offer(at(best.place).before);
        offer(best.place);
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (!places[i].gone) {
            tokens[kept++] = tokens[i];
        }
    }
    tokens.resize(kept);
}

} // namespace weft::tokenizer
