// SPDX-License-Identifier: Apache-2.0
// What the data tests share: files made by hand, sections, samples as numbers.
#pragma once

#include "core/data/loader.h"
#include "tests/support/error_of.h"
#include "tests/support/weft_test.h"

#include <QTemporaryDir>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::data::test {

using weft::test::error_of;

/// A folder that goes with the test.
class Folder {
public:
    std::filesystem::path path() const { return dir_.path().toStdString(); }
    std::filesystem::path write(const std::string& name, std::string_view content) const;

private:
    QTemporaryDir dir_;
};

/// The bytes of an idx file: {0, 0, 8, rank}, extents as big-endian 32-bit numbers, values.
std::string idx_bytes(std::initializer_list<std::uint32_t> extents, const std::string& values);
/// RFC 1952, by zlib.
std::string gzip_bytes(const std::string& content);

/// The "data" section with defaults, as the configuration reader delivers it. Fails the test binary
/// when `section` has a mistake.
config::Json normalised(const config::Json& section);
DataSet open(const config::Json& section, std::int64_t context = 0, std::uint64_t seed = 0);

/// A file of peers/, written by other programs.
std::string peer(const std::string& name);
/// What make_peers.py wrote into row i: 0.5 (6 i + k) - 3. Where a row is [3, 2], k counts its
/// elements in order.
std::vector<float> peer_row(int i);

std::vector<float> floats(std::span<const std::byte> bytes);
std::vector<std::int32_t> integers(std::span<const std::byte> bytes);
std::vector<float> input_floats(const Source& source, std::int64_t index);
std::vector<std::int32_t> input_integers(const Source& source, std::int64_t index);
std::vector<std::int32_t> target_integers(const Source& source, std::int64_t index);

/// Whether one of the notes holds a text.
bool noted(const DataSet& set, const std::string& text);

/// What a batch showed.
struct SeenBatch {
    std::vector<float> inputs;
    std::vector<std::int32_t> targets;
    std::vector<float> weights;
    std::int64_t samples, first_sample;
    double count;
    Cursor after;
    bool operator==(const SeenBatch&) const = default;
};
/// So many batches, or all that there are.
std::vector<SeenBatch> take(Loader& loader, int most);

/// A source whose sample i is the number i and whose label is given by a function.
class NumberSource final : public Source {
public:
    NumberSource(std::int64_t samples, std::function<std::int32_t(std::int64_t)> label);
    const SampleInfo& info() const override { return info_; }
    std::int64_t samples() const override { return samples_; }
    void read(std::int64_t index, std::span<std::byte> input,
              std::span<std::byte> target) const override;
    std::int32_t label(std::int64_t index) const override { return label_(index); }
    std::int64_t cache_bytes() const override { return 0; }
    std::string fingerprint() const override { return "numbers"; }
    std::span<const std::int64_t> blocks() const override { return starts; }

    /// Sample at which read throws; -1: none.
    std::int64_t broken = -1;
    /// Sample that is damaged; -1: none.
    std::int64_t damaged = -1;
    /// Source::blocks.
    std::vector<std::int64_t> starts;

private:
    std::int64_t samples_;
    std::function<std::int32_t(std::int64_t)> label_;
    SampleInfo info_;
};

} // namespace weft::data::test
