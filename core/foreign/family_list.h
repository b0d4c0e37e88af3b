// SPDX-License-Identifier: Apache-2.0
// Every family of models of other programs. To add one: a record in a file of families/, a
// declaration and a line here, a row in tests/unit/foreign. Of several with the same names the
// first is taken where a file does not say which it is.
#pragma once

#include "core/foreign/family.h"

#include <array>

namespace weft::foreign {

extern const Family kGpt2Family;
extern const Family kLlamaFamily;
extern const Family kMistralFamily;
extern const Family kQwen2Family;
extern const Family kVitFamily;
extern const Family kTimmVitFamily;
extern const Family kResnetFamily;
extern const Family kTorchvisionResnetFamily;
extern const Family kTimmResnetFamily;

inline constexpr std::array kFamilies = {
    &kGpt2Family,      &kLlamaFamily,   &kQwen2Family,  &kMistralFamily,
    &kVitFamily,       &kTimmVitFamily, &kResnetFamily, &kTorchvisionResnetFamily,
    &kTimmResnetFamily};

/// The family of a config.json; null when there is none.
const Family* family_of(std::string_view model_type);
/// The family with whose names a model of ours is written. Throws weft::Error{usage}: there is
/// none, or it cannot hold a model with these settings.
const Family& family_for(std::string_view as, const Json& model);

} // namespace weft::foreign
