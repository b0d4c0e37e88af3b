// SPDX-License-Identifier: Apache-2.0
// Writes the source of every elementwise kernel that the emulated models and the self-test need:
// write_model_groups <file>.
#include "core/base/error.h"
#include "core/exec/kernel_call.h"
#include "core/train/self_test/cases.h"
#include "kernels/op.h"
#include "tests/e2e/emulated/emulated_plan.h"
#include "tests/kernels/groups/group_file.h"

#include <cstdio>
#include <mutex>

using namespace weft;

namespace {

test::GroupFile file;
std::mutex file_mutex; // plans are made in several threads

/// Says yes to every op and remembers the elementwise ones.
weft_status remember(const weft_op_desc* op, weft_query* result) {
    const std::lock_guard lock(file_mutex);
    try {
        file.add(*op);
    } catch (const kernels::Failure& failure) {
        return kernels::fail(failure.status, failure.text.c_str());
    }
    *result = {0, "remembered"};
    return WEFT_OK;
}
const weft_backend kRemembering{"cuda", remember, nullptr, nullptr, nullptr, weft_last_error};

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "write_model_groups <file>\n");
        return 2;
    }
    try {
        for (const test::EmulatedModel& model : test::emulated_models()) {
            test::plan_for(test::config_of(model), {&kRemembering});
        }
        for (const train::SelfTestCase& one : train::self_test_cases()) {
            for (const ir::Op& op : one.program.body.ops) {
                file.add(exec::KernelDesc(one.program, op).desc());
            }
        }
    } catch (const Error& fault) {
        std::fprintf(stderr, "%s: %s\n", fault.where().c_str(), fault.text().c_str());
        return 1;
    }
    return file.write(argv[1]) ? 0 : 1;
}
