// SPDX-License-Identifier: Apache-2.0
// The file: samples in blocks, one after the other; a checksum of each block; the numbers of
// damaged samples; the key; a tail of fixed size that says where these lie, with a checksum of them
// all.
#include "core/data/kept_samples.h"

#include "core/base/check.h"
#include "core/base/crc32c.h"
#include "core/base/machine.h"
#include "core/base/on_threads.h"
#include "core/base/stage_meter.h"
#include "core/base/text.h"
#include "core/data/files/named_files.h"
#include "core/data/text/encode_text.h"
#include "core/data/views.h"
#include "core/store/local_copy.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <mutex>
#include <numeric>
#include <optional>

namespace weft::data {
namespace {

namespace fs = std::filesystem;
using config::Json;

constexpr std::uint64_t kKeptMagic = 0x3130'5350'4d53'4657; // "WFSMPS01"
constexpr std::int64_t kKeptBlockBytes = std::int64_t{1} << 20;
constexpr std::int64_t kSpareDiskBytes = std::int64_t{64} << 20;
constexpr auto kSettledAfter = std::chrono::seconds(2);

struct KeptTail {
    std::uint64_t magic = kKeptMagic;
    std::int64_t samples = 0, row_bytes = 0, blocks = 0, damaged = 0, key_bytes = 0;
    std::uint32_t crc = 0; // of all behind the samples, this field 0
    std::uint32_t unused = 0;
};

template <class T>
std::span<std::byte> mutable_bytes(std::vector<T>& values) {
    return std::as_writable_bytes(std::span(values));
}

/// How samples lie in the file.
class KeptLayout {
public:
    KeptLayout(const Source& source, bool pixels) : pixels_(pixels) {
        const SampleInfo& info = source.info();
        input_ = info.input.bytes();
        kept_input_ = pixels ? info.input.shape.elements() : input_;
        target_ = info.target.bytes();
        const std::span<const std::int64_t> own = source.blocks();
        starts_.assign(own.begin(), own.end());
        const std::int64_t rows = std::max<std::int64_t>(1, kKeptBlockBytes / row());
        for (std::int64_t first = 0; own.empty() && first < source.samples(); first += rows) {
            starts_.push_back(first);
        }
        if (own.empty()) {
            starts_.push_back(source.samples());
        }
    }

    std::int64_t row() const { return kept_input_ + target_; }
    std::size_t blocks() const { return starts_.size() - 1; }
    std::int64_t samples() const { return starts_.back(); }
    std::int64_t first_of(std::size_t block) const { return starts_[block]; }
    std::int64_t rows_of(std::size_t block) const { return starts_[block + 1] - starts_[block]; }
    std::size_t block_of(std::int64_t sample) const {
        const auto after = std::upper_bound(starts_.begin(), starts_.end(), sample);
        return static_cast<std::size_t>(after - starts_.begin() - 1);
    }

    void pack(std::span<const std::byte> input, std::span<const std::byte> target,
              std::byte* out) const {
        if (pixels_) {
            for (std::int64_t i = 0; i < kept_input_; ++i) {
                float value = 0;
                std::memcpy(&value, input.data() + i * 4, sizeof value);
                const auto pixel = static_cast<std::uint8_t>(std::lround(value * 255.0F));
                WEFT_CHECK(value_of(pixel) == value, "images are made of pixels");
                out[i] = static_cast<std::byte>(pixel);
            }
        } else {
            std::copy(input.begin(), input.end(), out);
        }
        std::copy(target.begin(), target.end(), out + kept_input_);
    }
    void unpack(const std::byte* kept, std::span<std::byte> input,
                std::span<std::byte> target) const {
        if (pixels_) {
            for (std::int64_t i = 0; i < kept_input_; ++i) {
                const float value = value_of(static_cast<std::uint8_t>(kept[i]));
                std::memcpy(input.data() + i * 4, &value, sizeof value);
            }
        } else {
            std::copy_n(kept, input_, input.begin());
        }
        if (!target.empty()) {
            std::copy_n(kept + kept_input_, target_, target.begin());
        }
    }

private:
    static float value_of(std::uint8_t pixel) { return static_cast<float>(pixel) / 255.0F; }

    bool pixels_;
    std::int64_t input_ = 0, kept_input_ = 0, target_ = 0;
    std::vector<std::int64_t> starts_; // of blocks, and the end
};

/// What lies behind the samples.
struct KeptTables {
    std::vector<std::uint32_t> sums;   // of blocks
    std::vector<std::int64_t> damaged; // samples, in their order
    std::string key;
    KeptTail tail;

    std::uint32_t checksum() const {
        KeptTail bare = tail;
        bare.crc = 0;
        std::uint32_t crc = crc32c(std::as_bytes(std::span(sums)));
        crc = crc32c(std::as_bytes(std::span(damaged)), crc);
        crc = crc32c(key, crc);
        return crc32c(std::as_bytes(std::span(&bare, 1)), crc);
    }
    std::int64_t bytes() const {
        return static_cast<std::int64_t>(sums.size() * sizeof(sums[0]) +
                                         damaged.size() * sizeof(damaged[0]) + key.size() +
                                         sizeof(KeptTail));
    }
};

KeptTables empty_tables(const KeptLayout& rows, const std::string& key) {
    KeptTables out;
    out.sums.resize(rows.blocks());
    out.key = key;
    out.tail.samples = rows.samples();
    out.tail.row_bytes = rows.row();
    out.tail.blocks = static_cast<std::int64_t>(rows.blocks());
    out.tail.key_bytes = static_cast<std::int64_t>(key.size());
    return out;
}

/// The tables of a whole file with this key; nothing where there is none.
std::optional<KeptTables> read_tables(const Path& path, const KeptLayout& rows,
                                      const std::string& key) {
    std::error_code absent;
    if (!fs::is_regular_file(path, absent)) {
        return std::nullopt;
    }
    const File file(path, File::Mode::read, ErrorKind::data);
    KeptTables out = empty_tables(rows, key);
    const KeptTail wanted = out.tail;
    std::int64_t at = wanted.samples * wanted.row_bytes;
    const std::int64_t size = file.size();
    if (size < at + out.bytes()) {
        return std::nullopt;
    }
    // As many as there is room for: the tail must say the same.
    out.damaged.resize(static_cast<std::size_t>(size - at - out.bytes()) / sizeof(std::int64_t));
    if (size != at + out.bytes()) {
        return std::nullopt;
    }
    const auto take = [&](std::span<std::byte> bytes) {
        file.read_at(bytes, at);
        at += static_cast<std::int64_t>(bytes.size());
    };
    take(mutable_bytes(out.sums));
    take(mutable_bytes(out.damaged));
    take(std::as_writable_bytes(std::span(out.key)));
    take(std::as_writable_bytes(std::span(&out.tail, 1)));
    const bool same = out.tail.magic == wanted.magic && out.tail.samples == wanted.samples &&
                      out.tail.row_bytes == wanted.row_bytes && out.tail.blocks == wanted.blocks &&
                      out.tail.damaged == std::ssize(out.damaged) &&
                      out.tail.key_bytes == wanted.key_bytes && out.key == key;
    return same && out.tail.crc == out.checksum() ? std::optional(std::move(out)) : std::nullopt;
}

class KeptSource final : public SourceOver {
public:
    KeptSource(std::shared_ptr<const Source> source, KeptLayout rows, KeptTables tables,
               const Path& path)
        : SourceOver(std::move(source)), rows_(std::move(rows)), tables_(std::move(tables)),
          file_(path, File::Mode::read, ErrorKind::data), checked_(rows_.blocks()) {}

    void read(std::int64_t index, std::span<std::byte> input,
              std::span<std::byte> target) const override {
        WEFT_CHECK(index >= 0 && index < samples(), "sample index within the source");
        if (is_damaged(index)) { // it may have been mended
            source().read(index, input, target);
            return;
        }
        std::vector<std::byte> kept;
        read_kept(index, 1, kept);
        rows_.unpack(kept.data(), input, target);
    }

    void read_run(std::int64_t first, std::optional<std::int64_t> epoch,
                  const RowsOut& out) const override {
        if (source().blocks().empty()) {
            return Source::read_run(first, epoch, out);
        }
        const auto count = static_cast<std::int64_t>(out.places.size());
        WEFT_CHECK(tables_.damaged.empty(), "what streams has no damaged samples");
        read_kept(first, count, out.scratch);
        const auto input_bytes = static_cast<std::size_t>(info().input.bytes());
        const auto target_bytes = static_cast<std::size_t>(info().target.bytes());
        for (std::size_t i = 0; i < out.places.size(); ++i) {
            rows_.unpack(out.scratch.data() + static_cast<std::int64_t>(i) * rows_.row(),
                         out.inputs.subspan(out.places[i] * input_bytes, input_bytes),
                         out.targets.subspan(out.places[i] * target_bytes, target_bytes));
        }
    }

private:
    bool is_damaged(std::int64_t index) const {
        return std::binary_search(tables_.damaged.begin(), tables_.damaged.end(), index);
    }

    /// Samples of one block.
    void read_kept(std::int64_t first, std::int64_t count, std::vector<std::byte>& out) const {
        const InStage reading(Stage::read);
        const std::size_t block = rows_.block_of(first);
        const std::int64_t before = first - rows_.first_of(block);
        if (checked_[block].load(std::memory_order_relaxed)) {
            out.resize(static_cast<std::size_t>(count * rows_.row()));
            file_.read_at(out, first * rows_.row());
            return;
        }
        out.resize(static_cast<std::size_t>(rows_.rows_of(block) * rows_.row()));
        file_.read_at(out, rows_.first_of(block) * rows_.row());
        if (crc32c(out) != tables_.sums[block]) {
            throw Error(ErrorKind::data, file_.path().string(),
                        "the samples that were kept from " +
                            format_thousands(rows_.first_of(block)) + " on are damaged",
                        "Delete the file: it is written again.");
        }
        checked_[block].store(true, std::memory_order_relaxed);
        out.erase(out.begin(), out.begin() + before * rows_.row());
        out.resize(static_cast<std::size_t>(count * rows_.row()));
    }

    KeptLayout rows_;
    KeptTables tables_;
    File file_;
    mutable std::vector<std::atomic<bool>> checked_; // blocks whose checksum was right
};

/// Reads the samples of a block and puts them one after the other; those that are damaged are
/// zeros.
std::vector<std::byte> packed_block(const Source& source, const KeptLayout& rows, std::size_t block,
                                    std::vector<std::int64_t>& damaged) {
    const std::int64_t first = rows.first_of(block);
    const auto count = static_cast<std::size_t>(rows.rows_of(block));
    const auto input_bytes = static_cast<std::size_t>(source.info().input.bytes());
    const auto target_bytes = static_cast<std::size_t>(source.info().target.bytes());
    std::vector<std::byte> out(count * static_cast<std::size_t>(rows.row()));
    const bool at_once = !source.blocks().empty();
    const std::size_t held = at_once ? count : 1;
    std::vector<std::byte> inputs(held * input_bytes);
    std::vector<std::byte> targets(held * target_bytes);
    if (at_once) {
        std::vector<std::uint32_t> places(count);
        std::iota(places.begin(), places.end(), 0U);
        std::vector<std::byte> scratch;
        source.read_run(first, std::nullopt, {places, inputs, targets, scratch});
    }
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = at_once ? i : 0;
        const std::int64_t index = first + static_cast<std::int64_t>(i);
        try {
            if (!at_once) {
                source.read(index, inputs, targets);
            }
        } catch (const DamagedSample&) {
            damaged.push_back(index);
            continue;
        }
        rows.pack(std::span(inputs).subspan(at * input_bytes, input_bytes),
                  std::span(targets).subspan(at * target_bytes, target_bytes),
                  out.data() + static_cast<std::int64_t>(i) * rows.row());
    }
    return out;
}

void require_disk(const Path& path, std::int64_t bytes) {
    const std::int64_t free = disk_free_bytes(path);
    if (free < bytes + kSpareDiskBytes) {
        throw Error(ErrorKind::data, path.parent_path().string(),
                    "the decoded samples would take " + format_bytes(bytes) + "; there are " +
                        format_bytes(free) + " free",
                    "Make room, set XDG_CACHE_HOME to a larger disk, or data.cache to auto.");
    }
}

KeptTables write_samples_to(const Path& path, const Source& source, const KeptLayout& rows,
                            const KeptSamples& how, const OpenContext& context) {
    KeptTables tables = empty_tables(rows, how.key);
    const std::int64_t bytes = rows.samples() * rows.row();
    make_directories(path.parent_path());
    remove_stray_part(path);
    require_disk(path, bytes + tables.bytes());
    FileReplacement replacement(path, ErrorKind::data);
    File& part = replacement.part();
    part.resize(bytes);
    OpeningWatch watch(context, {.name = path.filename().string(),
                                 .unit = "samples decoded and kept",
                                 .total = rows.samples()});
    std::atomic<bool> goes_on = true;
    std::mutex mutex; // of tables.damaged
    for_each_on(read_machine().usable_cores, rows.blocks(), [&](std::size_t block) {
        if (!goes_on) {
            return;
        }
        std::vector<std::int64_t> damaged;
        const std::vector<std::byte> packed = packed_block(source, rows, block, damaged);
        tables.sums[block] = crc32c(packed);
        part.write_at(packed, rows.first_of(block) * rows.row());
        for (std::int64_t i = 0; i < rows.rows_of(block); ++i) {
            goes_on = watch.add_one() && goes_on;
        }
        const std::lock_guard lock(mutex);
        tables.damaged.insert(tables.damaged.end(), damaged.begin(), damaged.end());
    });
    end_if_stopped(context.stop);
    std::sort(tables.damaged.begin(), tables.damaged.end());
    tables.tail.damaged = std::ssize(tables.damaged);
    tables.tail.crc = tables.checksum();
    std::int64_t at = bytes;
    const auto put = [&](std::span<const std::byte> piece) {
        part.write_at(piece, at);
        at += static_cast<std::int64_t>(piece.size());
    };
    put(mutable_bytes(tables.sums));
    put(mutable_bytes(tables.damaged));
    put(std::as_bytes(std::span(tables.key)));
    put(std::as_bytes(std::span(&tables.tail, 1)));
    replacement.commit();
    return tables;
}

/// "SIZE TIME" of a file; of all files below a folder, by their names, as one checksum. `newest`
/// grows to the latest change.
std::string stamp_text(const Path& path, fs::file_time_type& newest) {
    const auto stamp = [&](const fs::directory_entry& file) {
        newest = std::max(newest, file.last_write_time());
        return std::to_string(file.file_size()) + " " +
               std::to_string(file.last_write_time().time_since_epoch().count());
    };
    const fs::directory_entry entry(path);
    if (!entry.is_directory()) {
        return stamp(entry);
    }
    std::vector<std::string> lines;
    const auto all = fs::directory_options::follow_directory_symlink;
    for (const fs::directory_entry& file : fs::recursive_directory_iterator(path, all)) {
        if (file.is_regular_file()) {
            lines.push_back(file.path().lexically_relative(path).string() + " " + stamp(file));
        }
    }
    std::sort(lines.begin(), lines.end());
    return std::to_string(lines.size()) + " files, crc32c " +
           std::to_string(crc32c(join(lines, "\n")));
}

std::string file_name_of(const KeptSamples& how) {
    constexpr std::uint64_t kPrime = 0x100000001b3; // FNV-1a
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : how.key) {
        hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
    }
    std::string digits;
    for (int shift = 60; shift >= 0; shift -= 4) {
        digits += "0123456789abcdef"[hash >> shift & 15];
    }
    return how.part + "-" + digits + ".samples";
}

} // namespace

Path kept_samples_folder() {
    return store::copies_folder().parent_path() / "samples";
}

std::string key_of_samples(const Json& section, const OpenContext& context,
                           const std::string& part) {
    Json key = {{"part", part}, {"seed", context.seed}, {"context", context.sequence_length}};
    fs::file_time_type newest = fs::file_time_type::min();
    const auto add_file = [&](const Path& path) {
        try {
            key["files"][path.string()] = stamp_text(path, newest);
        } catch (const fs::filesystem_error& fault) {
            throw Error(ErrorKind::data, path.string(), fault.code().message(),
                        "Make it readable, or set data.cache to auto.");
        }
    };
    // What is left out is learnt nothing from: means of a table depend on it.
    if (const Json& corrections = section.at("corrections"); corrections.is_string()) {
        add_file(resolve(context.base_dir, corrections.get<std::string>()));
    }
    for (const char* name : {"train", "validation", "test"}) {
        const Json& settings = section.at(name);
        key[name] = settings;
        if (!settings.is_object() || !settings.contains("type")) {
            continue;
        }
        for (const NamedFile& file : named_files(settings, context.base_dir)) {
            add_file(file.path);
        }
    }
    if (context.tokenizer != nullptr) {
        key["tokenizer"] = tokenizer_mark(context);
    }
    const bool settled = newest < fs::file_time_type::clock::now() - kSettledAfter;
    return settled ? key.dump(-1, ' ', false, Json::error_handler_t::replace) : "";
}

std::shared_ptr<const Source> kept_on_disk(std::shared_ptr<const Source> source,
                                           const KeptSamples& how, const OpenContext& context,
                                           Notes& notes) {
    if (how.key.empty()) {
        notes.push_back("samples of " + how.part +
                        " are not kept on disk this time: their files were written just now");
        return source;
    }
    const KeptLayout rows(*source, how.pixels);
    const Path path = how.folder / file_name_of(how);
    auto tables = read_tables(path, rows, how.key);
    const bool known = tables.has_value();
    if (!known) {
        tables = write_samples_to(path, *source, rows, how, context);
    }
    notes.push_back(Note::decision(
        "samples of " + how.part + (known ? " are" : " were decoded and are") + " kept in " +
        path.string() + ", " + format_bytes(rows.samples() * rows.row() + tables->bytes()) +
        ": it may be deleted when nothing uses it"));
    return std::make_shared<KeptSource>(std::move(source), rows, std::move(*tables), path);
}

} // namespace weft::data
