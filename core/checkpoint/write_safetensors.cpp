// SPDX-License-Identifier: Apache-2.0
#include "core/base/check.h"
#include "core/base/file.h"
#include "core/checkpoint/safetensors.h"

#include <algorithm>
#include <cstring>

namespace weft::checkpoint {
namespace {

constexpr std::size_t kHeaderAlign = 8;

const char* safetensors_type(ir::DType dtype) {
    switch (dtype) {
    case ir::DType::f32: return "F32";
    case ir::DType::bf16: return "BF16";
    case ir::DType::f16: return "F16";
    case ir::DType::f64: return "F64";
    case ir::DType::i32: return "I32";
    case ir::DType::i64: return "I64";
    case ir::DType::u8: return "U8";
    }
    return "";
}

std::string safetensors_header(const std::vector<ArrayToWrite>& arrays,
                               const std::map<std::string, std::string>& metadata) {
    Json header = Json::object();
    header["__metadata__"] = metadata;
    std::int64_t at = 0;
    for (const ArrayToWrite& array : arrays) {
        Json& entry = header[array.name];
        entry["dtype"] = safetensors_type(array.type.dtype);
        entry["shape"] =
            std::vector<std::int64_t>(array.type.shape.begin(), array.type.shape.end());
        entry["data_offsets"] = {at, at + array.type.bytes()};
        at += array.type.bytes();
    }
    std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
    text.resize((text.size() + kHeaderAlign - 1) / kHeaderAlign * kHeaderAlign, ' ');
    return text;
}

std::string_view text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

} // namespace

void write_safetensors(const std::filesystem::path& file, std::vector<ArrayToWrite> arrays,
                       const std::map<std::string, std::string>& metadata,
                       const Progress& progress) {
    // Wider elements first: then every array begins at a multiple of its element.
    std::stable_sort(arrays.begin(), arrays.end(),
                     [](const ArrayToWrite& a, const ArrayToWrite& b) {
                         return ir::dtype_bytes(a.type.dtype) > ir::dtype_bytes(b.type.dtype);
                     });
    std::int64_t total = 0;
    for (const ArrayToWrite& array : arrays) {
        total += array.type.bytes();
    }
    const std::string header = safetensors_header(arrays, metadata);
    const auto length = static_cast<std::uint64_t>(header.size());
    FileReplacement out(file, ErrorKind::checkpoint);
    out.part().write(text_of(std::as_bytes(std::span(&length, 1))));
    out.part().write(header);
    std::int64_t done = 0;
    for (const ArrayToWrite& array : arrays) {
        const std::vector<std::byte> bytes = array.bytes();
        WEFT_CHECK(static_cast<std::int64_t>(bytes.size()) == array.type.bytes(),
                   "an array has the bytes of its type: " + array.name);
        out.part().write(text_of(bytes));
        done += array.type.bytes();
        if (progress) {
            progress(total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 1);
        }
    }
    out.commit();
}

} // namespace weft::checkpoint
