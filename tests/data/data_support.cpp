// SPDX-License-Identifier: Apache-2.0
#include "tests/data/data_support.h"

#include "core/base/check.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <fstream>

namespace weft::data::test {

std::filesystem::path Folder::write(const std::string& name, std::string_view content) const {
    const std::filesystem::path file = path() / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
    return file;
}

std::string idx_bytes(std::initializer_list<std::uint32_t> extents, const std::string& values) {
    std::string out{'\0', '\0', '\x08', static_cast<char>(extents.size())};
    for (const std::uint32_t extent : extents) {
        for (const int shift : {24, 16, 8, 0}) {
            out += static_cast<char>(extent >> shift & 0xff);
        }
    }
    return out + values;
}

std::string gzip_bytes(const std::string& content) {
    z_stream stream{};
    WEFT_CHECK(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK,
               "zlib starts");
    std::string out(deflateBound(&stream, content.size()) + 64, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
    stream.avail_in = static_cast<uInt>(content.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    WEFT_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib compresses");
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

config::Json normalised(const config::Json& section) {
    config::Checked checked = config::check_fields(section, data_fields(), "/data");
    const config::Diagnostics more = check_data(checked.value, "/data");
    checked.diagnostics.insert(checked.diagnostics.end(), more.begin(), more.end());
    WEFT_CHECK(checked.ok(), checked.ok() ? "" : to_text(checked.diagnostics.front()));
    return checked.value;
}

DataSet open(const config::Json& section, std::int64_t context, std::uint64_t seed) {
    return open_data(normalised(section), {{}, context, seed});
}

std::string peer(const std::string& name) {
    return std::string(WEFT_TEST_DATA) + "/peers/" + name;
}

std::vector<float> peer_row(int i) {
    std::vector<float> out(6);
    for (int k = 0; k < 6; ++k) {
        out[static_cast<std::size_t>(k)] = 0.5F * static_cast<float>(6 * i + k) - 3;
    }
    return out;
}

std::vector<float> floats(std::span<const std::byte> bytes) {
    std::vector<float> out(bytes.size() / sizeof(float));
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
}

std::vector<std::int32_t> integers(std::span<const std::byte> bytes) {
    std::vector<std::int32_t> out(bytes.size() / sizeof(std::int32_t));
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
}

std::vector<float> input_floats(const Source& source, std::int64_t index) {
    std::vector<std::byte> input(static_cast<std::size_t>(source.info().input.bytes()));
    source.read(index, input, {});
    return floats(input);
}

std::vector<std::int32_t> input_integers(const Source& source, std::int64_t index) {
    std::vector<std::byte> input(static_cast<std::size_t>(source.info().input.bytes()));
    source.read(index, input, {});
    return integers(input);
}

std::vector<std::int32_t> target_integers(const Source& source, std::int64_t index) {
    std::vector<std::byte> input(static_cast<std::size_t>(source.info().input.bytes()));
    std::vector<std::byte> target(static_cast<std::size_t>(source.info().target.bytes()));
    source.read(index, input, target);
    return integers(target);
}

bool noted(const DataSet& set, const std::string& text) {
    return std::any_of(set.notes.begin(), set.notes.end(), [&](const std::string& note) {
        return note.find(text) != std::string::npos;
    });
}

std::vector<SeenBatch> take(Loader& loader, int most) {
    std::vector<SeenBatch> out;
    for (int i = 0; i < most; ++i) {
        const Batch* batch = loader.next();
        if (batch == nullptr) {
            break;
        }
        out.push_back({floats(batch->inputs), integers(batch->targets), batch->weights,
                       batch->samples, batch->first_sample, batch->count, batch->after});
    }
    return out;
}

NumberSource::NumberSource(std::int64_t samples, std::function<std::int32_t(std::int64_t)> label)
    : samples_(samples), label_(std::move(label)) {
    info_.input = {ir::DType::f32, {1}};
    info_.target = {ir::DType::i32, {}};
    info_.classes = 10;
    info_.description = "numbers";
}

void NumberSource::read(std::int64_t index, std::span<std::byte> input,
                        std::span<std::byte> target) const {
    if (index == broken) {
        throw Error(ErrorKind::data, "numbers", "sample " + std::to_string(index) + " is broken");
    }
    if (index == damaged) {
        throw data::DamagedSample(Error(ErrorKind::data, place_of(index), "is damaged"));
    }
    const auto number = static_cast<float>(index);
    const std::int32_t label = label_(index);
    std::memcpy(input.data(), &number, sizeof(number));
    std::memcpy(target.data(), &label, sizeof(label));
}

} // namespace weft::data::test
