// SPDX-License-Identifier: Apache-2.0
// The cases of the self-test: for each family of ops a small program, as text.
//
// F in a type stands for f32, bf16 and f16 in turn. How the name of an argument begins says what is
// in it:
//   "noise"     numbers in [-1, 1)        "positive"  numbers in [0.5, 1.5)
//   "below N"   whole numbers in [0, N)   "random"    a random key
//   "at N"      N everywhere
#pragma once

#include "core/ir/program.h"

#include <string>
#include <vector>

namespace weft::train {

struct SelfTestCase {
    std::string name; // "attention in bf16"
    ir::Program program;
    bool everywhere = true; // else a GPU may have no kernels for it
};

/// Every case in each of its element types. Reads about a hundred short texts.
std::vector<SelfTestCase> self_test_cases();

/// Changes with every case.
std::uint32_t self_test_edition();

} // namespace weft::train
