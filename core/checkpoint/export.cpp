// SPDX-License-Identifier: Apache-2.0
// Format: APPNOTE.TXT 6.3.9 (zip) sections 4.3 and 4.5.3; NumPy NEP 1 (npy version 1.0).
#include "core/checkpoint/export.h"

#include "core/base/file.h"
#include "core/base/npy.h"
#include "core/base/text.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <zlib.h>

namespace weft::checkpoint {
namespace {

namespace fs = std::filesystem;

/// A file under another name until all of it is there; removed when anything fails.
class NewFile {
public:
    explicit NewFile(const fs::path& target) : file_(target, ErrorKind::checkpoint) {}

    void write(std::string_view text) {
        file_.part().write(text);
        at_ += text.size();
    }
    void write(std::span<const std::byte> bytes) {
        write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    }
    std::uint64_t at() const { return at_; }
    void finish() { file_.commit(); }

private:
    FileReplacement file_;
    std::uint64_t at_ = 0;
};

template <typename T>
std::string little_endian(T value) {
    std::string out(sizeof value, '\0');
    std::memcpy(out.data(), &value, sizeof value);
    return out;
}

/// How far an archive is.
class Report {
public:
    Report(const Progress& progress, const std::vector<ArrayToWrite>& arrays)
        : progress_(progress) {
        for (const ArrayToWrite& array : arrays) {
            total_ += array.type.bytes();
        }
    }
    void add(std::int64_t bytes) {
        done_ += bytes;
        if (progress_) {
            progress_(total_ > 0 ? static_cast<double>(done_) / static_cast<double>(total_) : 1);
        }
    }

private:
    const Progress& progress_;
    std::int64_t total_ = 0;
    std::int64_t done_ = 0;
};

std::map<std::string, std::string> facts_about(const Manifest& manifest) {
    std::map<std::string, std::string> out{{"format", "weft"},
                                           {"step", std::to_string(manifest.record.step)},
                                           {"metrics", manifest.record.metrics.dump()}};
    if (const auto model = manifest.record.config.find("model");
        model != manifest.record.config.end()) {
        out["model"] = model->dump();
    }
    return out;
}

/// As NumPy writes it; bf16 is widened.
std::string_view npy_type(ir::DType dtype) {
    switch (dtype) {
    case ir::DType::bf16:
    case ir::DType::f32: return "<f4";
    case ir::DType::f16: return "<f2";
    case ir::DType::f64: return "<f8";
    case ir::DType::i32: return "<i4";
    case ir::DType::i64: return "<i8";
    case ir::DType::u8: return "|u1";
    }
    return "";
}

std::vector<std::byte> widened(const std::vector<std::byte>& halves) {
    std::vector<std::byte> out(halves.size() * 2);
    for (std::size_t i = 0; i + 1 < halves.size(); i += 2) {
        std::memcpy(out.data() + 2 * i + 2, halves.data() + i, 2); // the upper half of an f32
    }
    return out;
}

struct ZipEntry {
    std::string name;
    std::uint32_t crc = 0;
    std::uint64_t bytes = 0;
    std::uint64_t offset = 0;
};

constexpr std::uint32_t kInExtra = 0xffffffff; // the 64-bit value is in the extra field
constexpr std::uint16_t kVersion = 45;         // zip64
constexpr std::uint16_t kUtf8Names = 0x800;
constexpr std::uint16_t kFirstDay = 0x21; // 1 January 1980: equal arrays give equal files

/// What local and central headers have in common.
std::string zip_facts(const ZipEntry& entry, std::size_t extra_bytes) {
    return little_endian(kVersion) + little_endian(kUtf8Names) +
           little_endian(std::uint16_t{0}) + // stored
           little_endian(std::uint16_t{0}) + little_endian(kFirstDay) + little_endian(entry.crc) +
           little_endian(kInExtra) + little_endian(kInExtra) +
           little_endian(static_cast<std::uint16_t>(entry.name.size())) +
           little_endian(static_cast<std::uint16_t>(extra_bytes));
}

std::string extra_field(std::initializer_list<std::uint64_t> values) {
    std::string out = little_endian(std::uint16_t{1}) +
                      little_endian(static_cast<std::uint16_t>(8 * values.size()));
    for (const std::uint64_t value : values) {
        out += little_endian(value);
    }
    return out;
}

std::string local_header(const ZipEntry& entry) {
    const std::string extra = extra_field({entry.bytes, entry.bytes});
    return little_endian(std::uint32_t{0x04034b50}) + zip_facts(entry, extra.size()) + entry.name +
           extra;
}

std::string central_header(const ZipEntry& entry) {
    const std::string extra = extra_field({entry.bytes, entry.bytes, entry.offset});
    return little_endian(std::uint32_t{0x02014b50}) + little_endian(kVersion) +
           zip_facts(entry, extra.size()) + little_endian(std::uint16_t{0}) + // comment
           little_endian(std::uint16_t{0}) + little_endian(std::uint16_t{0}) +
           little_endian(std::uint32_t{0}) + little_endian(kInExtra) + entry.name + extra;
}

std::string end_of_archive(std::uint64_t count, std::uint64_t offset, std::uint64_t bytes) {
    const std::string record = little_endian(std::uint32_t{0x06064b50}) +
                               little_endian(std::uint64_t{44}) + little_endian(kVersion) +
                               little_endian(kVersion) + little_endian(std::uint32_t{0}) +
                               little_endian(std::uint32_t{0}) + little_endian(count) +
                               little_endian(count) + little_endian(bytes) + little_endian(offset);
    const std::string locator = little_endian(std::uint32_t{0x07064b50}) +
                                little_endian(std::uint32_t{0}) + little_endian(offset + bytes) +
                                little_endian(std::uint32_t{1});
    const auto short_count = static_cast<std::uint16_t>(std::min<std::uint64_t>(count, 0xffff));
    return record + locator + little_endian(std::uint32_t{0x06054b50}) +
           little_endian(std::uint16_t{0}) + little_endian(std::uint16_t{0}) +
           little_endian(short_count) + little_endian(short_count) + little_endian(kInExtra) +
           little_endian(kInExtra) + little_endian(std::uint16_t{0});
}

std::uint32_t crc_of(std::string_view head, std::span<const std::byte> bytes) {
    uLong crc = crc32_z(0, reinterpret_cast<const Bytef*>(head.data()), head.size());
    if (!bytes.empty()) { // without data zlib would begin anew
        crc = crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
    }
    return static_cast<std::uint32_t>(crc);
}

} // namespace

std::vector<ArrayToWrite> exported(const Manifest& manifest, ExportWhat what) {
    std::vector<ArrayToWrite> out;
    for (const TensorInfo& tensor : manifest.tensors) {
        if (what == ExportWhat::everything || tensor.kind != "optimizer") {
            out.push_back({tensor.name, tensor.type,
                           [&manifest, &tensor] { return read_tensor(manifest, tensor); }});
        }
    }
    std::sort(out.begin(), out.end(),
              [](const ArrayToWrite& a, const ArrayToWrite& b) { return a.name < b.name; });
    return out;
}

void export_safetensors(const Manifest& manifest, std::vector<ArrayToWrite> arrays,
                        const fs::path& file, const Progress& progress) {
    write_safetensors(file, std::move(arrays), facts_about(manifest), progress);
}

void export_npz(const std::vector<ArrayToWrite>& arrays, const fs::path& file,
                const Progress& progress) {
    NewFile out(file);
    Report report(progress, arrays);
    std::vector<ZipEntry> entries;
    for (const ArrayToWrite& array : arrays) {
        std::vector<std::byte> bytes = array.bytes();
        if (array.type.dtype == ir::DType::bf16) {
            bytes = widened(bytes);
        }
        const std::string head = npy_beginning(npy_type(array.type.dtype), array.type.shape.span());
        const ZipEntry& entry = entries.emplace_back(ZipEntry{
            array.name + ".npy", crc_of(head, bytes), head.size() + bytes.size(), out.at()});
        out.write(local_header(entry));
        out.write(head);
        out.write(bytes);
        report.add(array.type.bytes());
    }
    const std::uint64_t directory = out.at();
    for (const ZipEntry& entry : entries) {
        out.write(central_header(entry));
    }
    out.write(end_of_archive(entries.size(), directory, out.at() - directory));
    out.finish();
}

} // namespace weft::checkpoint
