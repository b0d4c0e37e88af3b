// SPDX-License-Identifier: Apache-2.0
// Every data format. To add one: a record in a file of this folder, a declaration and a line here,
// and a row in tests/data. Files are recognised as the first format that knows them.
#pragma once

#include "core/data/formats/format.h"

#include <array>

namespace weft::data {

extern const FormatDef kArcFormat;
extern const FormatDef kMazeFormat;
extern const FormatDef kSudokuFormat;
extern const FormatDef kIdxFormat;
extern const FormatDef kImagesFormat;
extern const FormatDef kNpyFormat;
extern const FormatDef kHdf5Format;
extern const FormatDef kChatFormat;
extern const FormatDef kJsonlFormat;
extern const FormatDef kCsvFormat;
extern const FormatDef kTokensFormat;
extern const FormatDef kTextFormat;
extern const FormatDef kSyntheticFormat;

inline constexpr std::array kFormats = {
    &kArcFormat,    &kMazeFormat, &kSudokuFormat,   &kIdxFormat,   &kImagesFormat,
    &kNpyFormat,    &kHdf5Format, &kChatFormat,     &kJsonlFormat, &kCsvFormat,
    &kTokensFormat, &kTextFormat, &kSyntheticFormat};

} // namespace weft::data
