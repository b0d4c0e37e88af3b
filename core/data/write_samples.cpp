// SPDX-License-Identifier: Apache-2.0
#include "core/data/write_samples.h"

#include "core/base/file.h"
#include "core/base/hdf5_file.h"
#include "core/base/machine.h"
#include "core/base/on_threads.h"
#include "core/base/text.h"
#include "core/data/formats/format.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace weft::data {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kWriteBlockBytes = 8 << 20;
constexpr std::int64_t kSamplesAtOnce = 256; // of a thread

struct PartToWrite {
    std::string name;
    std::shared_ptr<const Source> source;

    std::int64_t input_bytes() const { return source->info().input.bytes(); }
    std::int64_t target_bytes() const { return source->info().target.bytes(); }
};

/// Before what a network reads: no transforms, no validation part.
config::Json plain(config::Json section) {
    section["validation"] = nullptr;
    section["transforms"] = config::Json::array();
    return section;
}

/// What is made on the fly is opened without a list of all its samples.
std::vector<PartToWrite> parts_of(const config::Json& section, const OpenContext& context) {
    std::vector<PartToWrite> out;
    const config::Json& train = section.at("train");
    if (train.at("type") == "synthetic") {
        Notes ignored;
        out.push_back({"train", format_of(train).open(train, context, Part::train, ignored)});
        return out;
    }
    const DataSet data = open_data(section, context);
    out.push_back({"train", data.train});
    if (data.test != nullptr) {
        out.push_back({"test", data.test});
    }
    return out;
}

Hdf5Type stored_as(const ir::Type& type) {
    return type.dtype == ir::DType::i32 ? Hdf5Type::i32 : Hdf5Type::f32;
}

std::vector<std::int64_t> shape_of(const ir::Type& type, std::int64_t samples) {
    std::vector<std::int64_t> shape = {samples};
    const auto extents = type.shape.span();
    shape.insert(shape.end(), extents.begin(), extents.end());
    return shape;
}

void refuse_what_is_there(const fs::path& to) {
    std::error_code ignored;
    if (fs::exists(to, ignored)) {
        throw Error(ErrorKind::usage, to.string(), "is there already",
                    "Name a new file, or remove this one.");
    }
}

void refuse_tokens(const std::vector<PartToWrite>& parts) {
    for (const PartToWrite& part : parts) {
        if (part.source->info().input.dtype == ir::DType::i32) {
            throw Error(ErrorKind::usage, part.name,
                        "its samples are tokens, and HDF5 files are read as images or features",
                        "Keep texts as they are: they are read without a copy of their windows.");
        }
    }
}

void require_room(std::int64_t bytes, const fs::path& to) {
    const std::int64_t free = disk_free_bytes(to);
    if (bytes > free) {
        throw Error(ErrorKind::runtime, to.string(),
                    "the samples take " + format_bytes(bytes) + ", and " + format_bytes(free) +
                        " are free there",
                    "Write fewer samples, or to another disk.");
    }
}

/// In the units of the data.
void unscale(const TargetScale& scale, std::span<std::byte> targets) {
    for (std::size_t i = 0; i < scale.mean.size(); ++i) {
        float value = 0;
        std::memcpy(&value, targets.data() + i * sizeof value, sizeof value);
        value = static_cast<float>(static_cast<double>(value) * scale.scale[i] + scale.mean[i]);
        std::memcpy(targets.data() + i * sizeof value, &value, sizeof value);
    }
}

/// What one thread reads at once: the blocks of a source that streams. The end comes last.
std::vector<std::int64_t> pieces_of(const Source& source) {
    const std::span<const std::int64_t> blocks = source.blocks();
    std::vector<std::int64_t> out(blocks.begin(), blocks.end());
    if (out.empty()) {
        for (std::int64_t first = 0; first < source.samples(); first += kSamplesAtOnce) {
            out.push_back(first);
        }
        out.push_back(source.samples());
    }
    return out;
}

class PartWriter {
public:
    PartWriter(const PartToWrite& part, File& file, std::int64_t inputs_at, std::int64_t targets_at)
        : part_(part), scale_(part.source->target_scale()), pieces_(pieces_of(*part.source)),
          file_(file), inputs_at_(inputs_at), targets_at_(targets_at) {}

    void write(OpeningWatch& watch, std::int64_t before) {
        const std::int64_t row = part_.input_bytes() + part_.target_bytes();
        const std::int64_t most = kWriteBlockBytes / std::max<std::int64_t>(1, row);
        std::size_t end = 0;
        for (std::size_t begin = 0; begin + 1 < pieces_.size(); begin = end) {
            end = begin + 1;
            while (end + 1 < pieces_.size() && pieces_[end + 1] - pieces_[begin] <= most) {
                ++end;
            }
            const std::int64_t first = pieces_[begin];
            const std::int64_t count = pieces_[end] - first;
            inputs_.resize(static_cast<std::size_t>(count * part_.input_bytes()));
            targets_.resize(static_cast<std::size_t>(count * part_.target_bytes()));
            fill(begin, end);
            file_.write_at(inputs_, inputs_at_ + first * part_.input_bytes());
            file_.write_at(targets_, targets_at_ + first * part_.target_bytes());
            watch.reached(before + first + count);
        }
    }

private:
    void fill(std::size_t begin, std::size_t end) {
        const int threads = std::max(1, read_machine().usable_cores);
        for_each_on(threads, end - begin, [&](std::size_t piece) {
            const std::int64_t first = pieces_[begin + piece];
            const auto row = static_cast<std::uint32_t>(first - pieces_[begin]);
            std::vector<std::uint32_t> places(
                static_cast<std::size_t>(pieces_[begin + piece + 1] - first));
            std::iota(places.begin(), places.end(), row);
            std::vector<std::byte> scratch;
            part_.source->read_run(first, std::nullopt, {places, inputs_, targets_, scratch});
            const auto target_bytes = static_cast<std::size_t>(part_.target_bytes());
            for (const std::uint32_t place : places) {
                unscale(scale_, std::span(targets_).subspan(place * target_bytes, target_bytes));
            }
        });
    }

    const PartToWrite& part_;
    const TargetScale scale_;
    const std::vector<std::int64_t> pieces_;
    File& file_;
    std::int64_t inputs_at_, targets_at_;
    std::vector<std::byte> inputs_, targets_;
};

/// Beside the file that it becomes; gone with this unless it did. One process at a time writes it.
class PartFile {
public:
    explicit PartFile(const fs::path& to) : right_(to), to_(to), path_(to.string() + ".samples") {
        remove_tree(path_); // of a process that was killed
    }
    ~PartFile() {
        std::error_code ignored;
        fs::remove(path_, ignored);
    }
    PartFile(const PartFile&) = delete;
    PartFile& operator=(const PartFile&) = delete;

    const fs::path& path() const { return path_; }
    void finish(File& file) {
        file.sync();
        file.close();
        rename_durably(path_, to_);
    }

private:
    FileReplacement right_;
    fs::path to_, path_;
};

} // namespace

WrittenSamples write_samples(const config::Json& data_section, const OpenContext& context,
                             const fs::path& to) {
    refuse_what_is_there(to); // before anything is opened
    const std::vector<PartToWrite> parts = parts_of(plain(checked_section(data_section)), context);
    refuse_tokens(parts);
    std::vector<Hdf5Spec> specs;
    WrittenSamples out;
    for (const PartToWrite& part : parts) {
        const SampleInfo& info = part.source->info();
        const std::int64_t samples = part.source->samples();
        specs.push_back({"x_" + part.name, stored_as(info.input), shape_of(info.input, samples)});
        specs.push_back({"y_" + part.name, stored_as(info.target), shape_of(info.target, samples)});
        out.bytes += samples * (part.input_bytes() + part.target_bytes());
        (part.name == "train" ? out.train : out.test) = samples;
    }
    require_room(out.bytes, to);
    PartFile beside(to);
    refuse_what_is_there(to);
    const std::vector<Hdf5Dataset> placed = create_hdf5(beside.path(), specs);
    File file(beside.path(), File::Mode::read_write);
    OpeningWatch watch(
        context,
        {.name = to.filename().string(), .unit = "samples written", .total = out.train + out.test});
    std::int64_t before = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        PartWriter(parts[i], file, placed[2 * i].offset, placed[2 * i + 1].offset)
            .write(watch, before);
        before += parts[i].source->samples();
    }
    out.bytes = file.size();
    beside.finish(file);
    return out;
}

} // namespace weft::data
