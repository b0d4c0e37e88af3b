// SPDX-License-Identifier: Apache-2.0
// The two lines with which a training loop of one's own logs what Weft shows.
#pragma once

#include <span>
#include <string_view>

namespace weft::train {

struct LogRecipe {
    std::string_view program; // "PyTorch"
    std::string_view needs;   // a sentence
    std::string_view once;    // before the loop
    std::string_view each;    // at each step
};

/// They write TensorBoard event files into the folder logs/run1 and, unlike the writers' own
/// default, within two seconds. tests/unit/train/write_log_recipes.py has run them as they stand.
std::span<const LogRecipe> log_recipes();

} // namespace weft::train
