// SPDX-License-Identifier: Apache-2.0
// Every data format. To add one: a record in a file of this folder, a declaration and a line here,
// and a row in tests/data.
#pragma once

#include "core/data/formats/format.h"

#include <array>

namespace weft::data {

extern const FormatDef kIdxFormat;
extern const FormatDef kTextFormat;
extern const FormatDef kSyntheticFormat;

inline constexpr std::array kFormats = {&kIdxFormat, &kTextFormat, &kSyntheticFormat};

} // namespace weft::data
