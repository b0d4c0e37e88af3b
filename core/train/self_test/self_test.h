// SPDX-License-Identifier: Apache-2.0
// Whether devices compute and exchange rightly: a small case of each family of ops, and of each
// collective, against the reference. Code that was never on such a chip must not train wrongly in
// silence.
#pragma once

#include "core/exec/compute.h"

#include <string>

namespace weft::train {

struct SelfTestResult {
    bool passed = false;
    int cases = 0; // that ran
    double seconds = 0;
    std::string failure; // "softmax in bf16: element 7 is ..."
};

/// An op or an exchange of a case that takes longer never ends.
constexpr double kTrialPatience_s = 30;

/// Every case on the device at that place, each as a call on a stream and out of a graph. A wrong
/// result ends it. Throws weft::Error where the device fails otherwise, or does not end an op.
SelfTestResult test_ops(const exec::Compute& compute, int place,
                        double patience_s = kTrialPatience_s);

/// Every collective between all devices. Throws weft::Error likewise.
SelfTestResult test_exchanges(const exec::Compute& compute, double patience_s = kTrialPatience_s);

} // namespace weft::train
