// SPDX-License-Identifier: Apache-2.0
// Who may include whom. A folder may always include itself; everything that is not listed is
// forbidden.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::test {

struct Arrows {
    std::string_view folder;
    std::vector<std::string_view> may_include; // path prefixes
};

/// Base < config, ir < ops < passes and their like < plan < compile < exec < profile < train <
/// launch < programs.
inline const std::vector<Arrows>& allowed_arrows() {
    static const std::vector<std::string_view> kFirst = {"core/base/"};
    static const std::vector<std::string_view> kOps = {"core/base/", "core/config/", "core/ir/",
                                                       "kernels/weft_kernels.h"};
    static const std::vector<std::string_view> kOnIr = {"core/base/", "core/ir/"};
    static const std::vector<std::string_view> kOnOps = {"core/base/", "core/config/", "core/ir/",
                                                         "core/ops/", "kernels/weft_kernels.h"};
    static const std::vector<std::string_view> kStages = {"core/base/", "core/ir/", "core/ops/",
                                                          "core/pipeline/"};
    static const std::vector<std::string_view> kPlan = {
        "core/base/",     "core/config/", "core/ir/",       "core/ops/",
        "core/autodiff/", "core/passes/", "core/sharding/", "core/memory/",
        "core/cost/",     "core/nn/",     "core/optim/",    "kernels/weft_kernels.h"};
    static const std::vector<std::string_view> kCompile = {
        "core/base/", "core/config/", "core/ir/", "core/ops/", "core/autodiff/", "core/passes/",
        "core/sharding/", "core/memory/", "core/cost/", "core/nn/", "core/optim/", "core/pipeline/",
        "core/stages/", "core/plan/", "core/data/", "core/store/address.h",
        // Constants are folded with the interpreter, and kernels are asked for their workspace.
        "core/exec/kernel_call.h", "core/exec/interpreter.h", "kernels/weft_kernels.h"};
    static const std::vector<std::string_view> kAdvise = {
        "core/base/",     "core/config/", "core/ir/",   "core/passes/",
        "core/sharding/", "core/cost/",   "core/nn/",   "core/optim/",
        "core/pipeline/", "core/plan/",   "core/data/", "core/compile/"};
    static const std::vector<std::string_view> kExec = {"core/base/",
                                                        "core/config/",
                                                        "core/ir/",
                                                        "core/ops/",
                                                        "core/autodiff/",
                                                        "core/passes/",
                                                        "core/sharding/",
                                                        "core/memory/",
                                                        "core/cost/",
                                                        "core/nn/",
                                                        "core/optim/",
                                                        "core/pipeline/",
                                                        "core/plan/",
                                                        "core/compile/",
                                                        "kernels/weft_kernels.h",
                                                        "kernels/weft_device.h",
                                                        "kernels/weft_collectives.h"};
    // An array on disk has an element type: dtype and shape, no more of the program language.
    static const std::vector<std::string_view> kData = {
        "core/base/", "core/config/", "core/tokenizer/", "core/ir/type.h", "core/store/"};
    // What communicates stands on what is moved, not on why.
    static const std::vector<std::string_view> kComm = {"core/base/", "core/ir/type.h"};
    static const std::vector<std::string_view> kCheckpoint = {
        "core/base/", "core/config/", "core/ir/type.h", "core/sharding/", "core/store/"};
    // A tensor of another program has a type, and its model is one of ours.
    static const std::vector<std::string_view> kForeign = {
        "core/base/", "core/config/",     "core/tokenizer/",  "core/ir/type.h",
        "core/nn/",   "core/checkpoint/", "core/onnx_import/"};
    // Times of a plan's calls beside what they were predicted to take; nothing of training.
    static const std::vector<std::string_view> kProfile = {"core/base/",
                                                           "core/config/",
                                                           "core/ir/",
                                                           "core/ops/",
                                                           "core/cost/",
                                                           "core/plan/",
                                                           "core/compile/predict.h",
                                                           "core/exec/executor.h"};
    static const std::vector<std::string_view> kEngine = {
        "core/", "kernels/weft_kernels.h", "kernels/weft_module.h", "kernels/weft_health.h"};
    // What runs are queued and what became of them: their configurations and records, no sessions.
    static const std::vector<std::string_view> kQueue = {"core/base/",
                                                         "core/config/",
                                                         "core/checkpoint/goal.h",
                                                         "core/compile/config/",
                                                         "core/compile/mesh/mesh_config.h",
                                                         "core/train/record/"};
    // Summaries of runs and the table of their settings; no files, no sessions.
    static const std::vector<std::string_view> kCompare = {
        "core/base/", "core/config/", "core/compile/config/", "core/train/record/"};
    // Runs of other machines: their records, sockets and checkpoints; no sessions.
    static const std::vector<std::string_view> kHosts = {
        "core/base/",   "core/config/",        "core/checkpoint/checkpoint.h",
        "core/launch/", "core/train/control/", "core/train/record/"};
    static const std::vector<Arrows> kTable = {
        {"core/base/", {}},
        {"core/config/", kFirst},
        {"core/ir/", kFirst},
        {"core/store/", kFirst},
        {"core/tokenizer/", {"core/base/", "core/config/"}},
        {"core/ops/", kOps},
        {"core/onnx/", kOnIr},
        {"core/onnx_import/", kOnOps},
        {"core/autodiff/", kOnOps},
        {"core/passes/", kOnOps},
        {"core/sharding/", kOnOps},
        {"core/memory/", kOnOps},
        {"core/cost/", kOnOps},
        {"core/nn/", kOnOps},
        {"core/optim/", kOnOps},
        {"core/pipeline/", kFirst},
        {"core/stages/", kStages},
        {"core/plan/", kPlan},
        {"core/data/", kData},
        {"core/compile/", kCompile},
        {"core/advise/", kAdvise},
        {"core/exec/comm/", kComm}, // before the folder that it is in: the first match counts
        {"core/exec/", kExec},
        {"core/transports/", {"core/exec/comm/transport.h"}},
        {"core/profile/", kProfile},
        {"core/checkpoint/", kCheckpoint},
        {"core/foreign/", kForeign},
        {"core/train/", kEngine}, // but not core/launch: see kForbidden
        {"core/launch/", {"core/base/", "core/config/"}},
        {"core/queue/", kQueue},
        {"core/compare/", kCompare},
        {"core/hosts/", kHosts},
        {"kernels/", {}},
        {"widgets/", {}},
        {"ui/", {"core/", "widgets/"}},
        {"app/cli/", {"core/"}},
        {"app/studio/", {"core/", "ui/"}},
        {"app/allocation.cpp", {"kernels/weft_kernels.h"}},
    };
    return kTable;
}

/// Plain arithmetic for all of the engine: bits of numbers, and the generator of random ones.
inline const std::vector<std::string_view>& common_headers() {
    static const std::vector<std::string_view> kCommon = {"kernels/numbers.h", "kernels/philox.h"};
    return kCommon;
}

/// Forbidden although a broader entry above allows it.
inline const std::vector<Arrows>& forbidden_arrows() {
    static const std::vector<Arrows> kForbidden = {
        {"core/train/", {"core/launch/", "core/queue/"}}};
    return kForbidden;
}

} // namespace weft::test
