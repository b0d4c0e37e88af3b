// SPDX-License-Identifier: Apache-2.0
// Numbers that nothing can be learnt from as they are: told in words before they are trained on.
#pragma once

#include "core/base/text.h"
#include "core/config/pointer.h"

#include <cmath>
#include <string>

namespace weft::data {

/// No measurement is larger; beside one that is, all others have the same distance from the mean.
inline constexpr double kLargestNumber = 1e30;
/// Inputs that are not standardised: layers begin with weights that are made for numbers around 1.
inline constexpr double kLargestPlainInput = 1000;

/// What there is to say of numbers whose largest one, by its size, is this; empty: nothing.
/// `what`: "inputs of X.npy".
inline std::string wild_finding(const std::string& what, double largest, bool standardised) {
    const std::string reach = what + " reach " + config::number_text(largest);
    if (std::abs(largest) > kLargestNumber) {
        return reach +
               ": beside such a number all others look the same, and nothing is learnt from "
               "them. Correct it in the file, or leave it out";
    }
    return standardised || !(std::abs(largest) > kLargestPlainInput)
               ? std::string()
               : reach + " and go in as they are: networks hardly learn from numbers above " +
                     format_thousands(static_cast<std::int64_t>(kLargestPlainInput)) +
                     ". Set data.train.scale to standardize";
}

} // namespace weft::data
