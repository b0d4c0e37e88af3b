// SPDX-License-Identifier: GPL-3.0-or-later
// Samples as pictures and as text.
#pragma once

#include "ui/bridge/data/data_preview.h"
#include "widgets/views/token_view.h"

#include <QImage>

#include <span>
#include <utility>

namespace weft::ui {

/// The values that are drawn black and white: 0 and 1 where all lie within, else the least and the
/// largest there are.
std::pair<float, float> valueRange(std::span<const SampleView> samples);
/// An image [H,W,C]; of two or more than three channels the first, or the first three, are drawn.
QImage pictureOf(const SampleView& sample, const ir::Shape& shape, float low, float high);
/// A token as text, spaces and line breaks as signs; a part of a character as its bytes.
QString signOf(std::int32_t token, const tokenizer::Tokenizer& tokenizer);
/// Tokens as text; without a tokenizer as their numbers. Where only some are to be learnt, parted
/// into what is read, what is learnt and padding.
widgets::TokenRun runOf(const SampleView& sample, const tokenizer::Tokenizer* tokenizer);

} // namespace weft::ui
