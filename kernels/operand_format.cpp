// SPDX-License-Identifier: Apache-2.0
#include "kernels/operand_format.h"

#include <algorithm>
#include <cmath>

namespace weft::kernels {
namespace {

const NumberFormat& format_named(std::string_view name) {
    for (const NumberFormat* format : {&kAsStored, &kTf32, &kE4m3, &kE5m2}) {
        if (name == format->name) {
            return *format;
        }
    }
    throw Failure{WEFT_BAD_ARGUMENT, "no number format is called '" + std::string(name) + "'"};
}

} // namespace

OperandFormats operand_formats(const Op& op) {
    const std::string_view text = op.text("operands");
    const std::size_t blank = text.find(' ');
    const NumberFormat& x = format_named(text.substr(0, blank));
    const NumberFormat& y =
        blank == std::string_view::npos ? x : format_named(text.substr(blank + 1));
    require(x.scaled == y.scaled && (x.scaled || &x == &y), "two such formats do not mix");
    require(!x.scaled || &x == &kE4m3 || &y == &kE4m3, "one of two 8-bit operands is e4m3");
    return {&x, &y};
}

int scale_exponent(const NumberFormat& format, double largest_size) {
    if (!(largest_size > 0) || std::isinf(largest_size)) {
        return 0;
    }
    int size = 0; // largest_size = fraction 2^size, 1/2 <= fraction < 1
    int room = 0;
    const double size_fraction = std::frexp(largest_size, &size);
    const double room_fraction = std::frexp(format.largest, &room);
    return std::clamp(room - size - (size_fraction > room_fraction ? 1 : 0), -126, 126);
}

} // namespace weft::kernels
