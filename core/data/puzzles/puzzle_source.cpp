// SPDX-License-Identifier: Apache-2.0
#include "core/data/puzzles/puzzle_source.h"

#include "core/base/check.h"
#include "core/base/crc32c.h"
#include "core/base/text.h"

#include <algorithm>
#include <cstring>

namespace weft::data {
namespace {

constexpr std::uint64_t kDrawsOfSample = 64; // numbers that a sample takes of its epoch's stream

class PuzzleSource final : public Source {
public:
    PuzzleSource(PuzzleSet set, PuzzleSamples samples, std::uint64_t seed,
                 const std::filesystem::path& path)
        : set_(std::move(set)), samples_(std::move(samples)),
          stream_(seed, "data." + samples_.kind + ".change"), name_(path.filename().string()) {
        const auto bytes = [](const std::vector<std::uint8_t>& all) {
            return std::as_bytes(std::span(all));
        };
        fingerprint_ = samples_.kind + " " + std::to_string(set_.boards()) + " boards of " +
                       std::to_string(set_.cells) + ", " +
                       std::to_string(crc32c(bytes(set_.inputs))) + " " +
                       std::to_string(crc32c(bytes(set_.labels)));
        if (!set_.kinds.empty()) {
            fingerprint_ += " " + std::to_string(crc32c(std::as_bytes(std::span(set_.kinds))));
        }
        for (std::size_t group = 0; !set_.puzzles.empty() && group + 1 < set_.groups.size();
             ++group) {
            const std::size_t puzzle = puzzle_at(set_.groups[group]);
            first_.push_back(samples_here_);
            samples_here_ += set_.puzzles[puzzle + 1] - set_.puzzles[puzzle];
        }
    }

    const SampleInfo& info() const override { return samples_.info; }
    std::int64_t samples() const override {
        return first_.empty() ? static_cast<std::int64_t>(set_.groups.size()) - 1 : samples_here_;
    }
    void read(std::int64_t index, std::span<std::byte> input,
              std::span<std::byte> target) const override {
        const Place place = place_at(index);
        const std::int64_t board =
            set_.groups.at(static_cast<std::size_t>(place.group)) + place.example;
        write_input(board, set_.input(board), input);
        write(set_.label(board), target, true);
    }
    void read_in_epoch(std::int64_t index, std::int64_t epoch, std::span<std::byte> input,
                       std::span<std::byte> target) const override {
        SudokuDraws draws(stream_, static_cast<std::uint64_t>(epoch),
                          static_cast<std::uint64_t>(index) * kDrawsOfSample);
        const std::int64_t board = any_form(place_at(index), draws);
        if (!samples_.change) {
            write_input(board, set_.input(board), input);
            write(set_.label(board), target, true);
            return;
        }
        const BoardChange change = samples_.change(draws);
        write_input(board, change(set_.input(board)), input);
        write(change(set_.label(board)), target, true);
    }
    std::int32_t label(std::int64_t) const override { return -1; }
    std::string place_of(std::int64_t index) const override {
        return name_ + ", puzzle " + std::to_string(index + 1);
    }
    std::int64_t cache_bytes() const override { return set_.bytes(); }
    std::string fingerprint() const override { return fingerprint_; }

private:
    /// A sample by its group, and which board of a puzzle it is.
    struct Place {
        std::int64_t group, example;
    };

    Place place_at(std::int64_t index) const {
        WEFT_CHECK(index >= 0 && index < samples(), "a sample that there is");
        if (first_.empty()) {
            return {index, 0};
        }
        const auto behind = std::upper_bound(first_.begin(), first_.end(), index);
        return {behind - first_.begin() - 1, index - *(behind - 1)};
    }

    std::size_t puzzle_at(std::int64_t board) const {
        return static_cast<std::size_t>(
            std::lower_bound(set_.puzzles.begin(), set_.puzzles.end(), board) -
            set_.puzzles.begin());
    }

    std::int64_t any_form(const Place& place, SudokuDraws& draws) const {
        const std::int64_t first = set_.groups.at(static_cast<std::size_t>(place.group));
        const std::int64_t end = set_.groups.at(static_cast<std::size_t>(place.group) + 1);
        if (first_.empty()) {
            return first + draws.below(static_cast<int>(end - first));
        }
        const std::size_t puzzle =
            puzzle_at(first) + static_cast<std::size_t>(draws.below(
                                   static_cast<int>(puzzle_at(end) - puzzle_at(first))));
        const std::int64_t begin = set_.puzzles[puzzle];
        return begin + place.example % (set_.puzzles[puzzle + 1] - begin);
    }

    void write_input(std::int64_t board, std::span<const std::uint8_t> cells,
                     std::span<std::byte> to) const {
        if (!set_.kinds.empty()) {
            const std::int32_t kind = set_.kinds[static_cast<std::size_t>(board)];
            std::memcpy(to.data(), &kind, sizeof kind);
            to = to.subspan(sizeof kind);
        }
        write(cells, to, false);
    }

    void write(std::span<const std::uint8_t> cells, std::span<std::byte> to, bool label) const {
        if (to.empty()) {
            return;
        }
        WEFT_CHECK(to.size() == cells.size() * sizeof(std::int32_t), "a sample has its size");
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const bool ignored = label && cells[i] == set_.ignored;
            const std::int32_t value = ignored ? -1 : static_cast<std::int32_t>(cells[i]);
            std::memcpy(to.data() + i * sizeof value, &value, sizeof value);
        }
    }

    PuzzleSet set_;
    PuzzleSamples samples_;
    std::vector<std::int64_t> first_; // sample of each group; empty: it is the group
    std::int64_t samples_here_ = 0;
    RandomStream stream_;
    std::string name_;
    std::string fingerprint_;
};

} // namespace

SampleInfo told_apart(SampleInfo info, const PuzzleSet& set) {
    if (!set.kinds.empty()) {
        info.identifiers = set.identifiers;
        info.input.shape = {info.input.shape[0] + 1};
        info.description += " of " + format_thousands(set.identifiers - 1) + " kinds";
    }
    return info;
}

std::shared_ptr<const Source> puzzle_source(PuzzleSet set, PuzzleSamples samples,
                                            std::uint64_t seed, const std::filesystem::path& path) {
    return std::make_shared<PuzzleSource>(std::move(set), std::move(samples), seed, path);
}

} // namespace weft::data
