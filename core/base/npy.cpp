// SPDX-License-Identifier: Apache-2.0
#include "core/base/npy.h"

namespace weft {

std::string npy_beginning(std::string_view type, std::span<const std::int64_t> shape) {
    constexpr std::size_t kAlignment = 64;
    constexpr std::size_t kBefore = 10; // magic, version, length
    std::string text = "{'descr': '" + std::string(type) + "', 'fortran_order': False, 'shape': (";
    for (const std::int64_t extent : shape) {
        text += std::to_string(extent) + ", ";
    }
    text += "), }";
    const std::size_t size = (kBefore + text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
    text.resize(size - kBefore - 1, ' ');
    text += '\n';
    std::string out("\x93NUMPY\x01\x00", 8);
    out += static_cast<char>(text.size() & 0xffU);
    out += static_cast<char>(text.size() >> 8U);
    return out + text;
}

} // namespace weft
