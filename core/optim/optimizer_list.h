// SPDX-License-Identifier: Apache-2.0
// Every optimizer. To add one: a record in a file of this folder, a declaration and a line here, a row
// in tests/optim.
#pragma once

#include "core/optim/optimizer_def.h"

#include <array>

namespace weft::optim {

extern const OptimizerDef kSgd;
extern const OptimizerDef kAdam;
extern const OptimizerDef kAdamW;
extern const OptimizerDef kAdamW8bit;
extern const OptimizerDef kNadam;
extern const OptimizerDef kRadam;
extern const OptimizerDef kLamb;
extern const OptimizerDef kLion;
extern const OptimizerDef kRmsprop;
extern const OptimizerDef kAdagrad;
extern const OptimizerDef kMuon;
extern const OptimizerDef kAdafactor;
extern const OptimizerDef kScheduleFree;
extern const OptimizerDef kAdamAtan2;
extern const OptimizerDef kSignSgd;

inline constexpr std::array kOptimizers = {
    &kSgd,     &kAdam, &kAdamW,     &kNadam,        &kRadam,     &kLamb,    &kLion,     &kRmsprop,
    &kAdagrad, &kMuon, &kAdafactor, &kScheduleFree, &kAdamAtan2, &kSignSgd, &kAdamW8bit};

/// The record of an optimizer type; null when there is none.
const OptimizerDef* find_optimizer(std::string_view name);

/// The "optimizer" setting: every record with learning_rate and groups.
config::Field optimizer_field(const config::Field& lr_schedule);

} // namespace weft::optim
