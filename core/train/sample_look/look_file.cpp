// SPDX-License-Identifier: Apache-2.0
#include "core/train/sample_look/look_file.h"

#include "core/checkpoint/export.h"

#include <cstring>
#include <map>

namespace weft::train {
namespace {

std::vector<std::byte> raw_bytes(const void* data, std::size_t bytes) {
    const auto* const from = static_cast<const std::byte*>(data);
    return {from, from + bytes};
}

template <class Value>
std::vector<std::byte> bytes_of(const std::vector<Value>& values) {
    return raw_bytes(values.data(), values.size() * sizeof(Value));
}

std::vector<std::byte> all_heads(const AttentionLook& look) {
    std::vector<std::byte> out;
    for (std::int64_t head = 0; head < look.heads; ++head) {
        const std::vector<std::byte> one = bytes_of(look.weights(head));
        out.insert(out.end(), one.begin(), one.end());
    }
    return out;
}

} // namespace

void write_look(const SampleLook& look, const std::filesystem::path& file) {
    std::vector<checkpoint::ArrayToWrite> arrays;
    if (look.tokens.empty()) {
        arrays.push_back({"sample", look.input, [&look] { return look.sample; }});
    } else {
        arrays.push_back({"tokens", {ir::DType::i32, {std::ssize(look.tokens)}}, [&look] {
                              return bytes_of(look.tokens);
                          }});
    }
    for (const LayerLook& layer : look.layers) {
        arrays.push_back({"layers/" + layer.layer, {ir::DType::f32, layer.shape}, [&layer] {
                              return bytes_of(layer.values);
                          }});
    }
    std::map<std::string, int> times;
    for (const AttentionLook& one : look.attention) {
        const int time = ++times[one.layer];
        arrays.push_back({"attention/" + one.layer + (time > 1 ? "#" + std::to_string(time) : ""),
                          {ir::DType::f32, {one.heads, one.queries, one.keys}},
                          [&one] { return all_heads(one); }});
    }
    checkpoint::export_npz(arrays, file);
}

} // namespace weft::train
