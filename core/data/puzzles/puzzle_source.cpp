// SPDX-License-Identifier: Apache-2.0
#include "core/data/puzzles/puzzle_source.h"

#include "core/base/check.h"
#include "core/base/crc32c.h"

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
    }

    const SampleInfo& info() const override { return samples_.info; }
    std::int64_t samples() const override {
        return static_cast<std::int64_t>(set_.groups.size()) - 1;
    }
    void read(std::int64_t index, std::span<std::byte> input,
              std::span<std::byte> target) const override {
        const std::int64_t board = set_.groups.at(static_cast<std::size_t>(index));
        write(set_.input(board), input, false);
        write(set_.label(board), target, true);
    }
    void read_in_epoch(std::int64_t index, std::int64_t epoch, std::span<std::byte> input,
                       std::span<std::byte> target) const override {
        SudokuDraws draws(stream_, static_cast<std::uint64_t>(epoch),
                          static_cast<std::uint64_t>(index) * kDrawsOfSample);
        const std::int64_t first = set_.groups.at(static_cast<std::size_t>(index));
        const std::int64_t end = set_.groups.at(static_cast<std::size_t>(index) + 1);
        const std::int64_t board = first + draws.below(static_cast<int>(end - first));
        if (!samples_.change) {
            write(set_.input(board), input, false);
            write(set_.label(board), target, true);
            return;
        }
        const BoardChange change = samples_.change(draws);
        write(change(set_.input(board)), input, false);
        write(change(set_.label(board)), target, true);
    }
    std::int32_t label(std::int64_t) const override { return -1; }
    std::string place_of(std::int64_t index) const override {
        return name_ + ", puzzle " + std::to_string(index + 1);
    }
    std::int64_t cache_bytes() const override { return set_.bytes(); }
    std::string fingerprint() const override { return fingerprint_; }

private:
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
    RandomStream stream_;
    std::string name_;
    std::string fingerprint_;
};

} // namespace

std::shared_ptr<const Source> puzzle_source(PuzzleSet set, PuzzleSamples samples,
                                            std::uint64_t seed, const std::filesystem::path& path) {
    return std::make_shared<PuzzleSource>(std::move(set), std::move(samples), seed, path);
}

} // namespace weft::data
