// SPDX-License-Identifier: Apache-2.0
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/exec/trial/op_trial.h"
#include "core/train/self_test/case_values.h"
#include "core/train/self_test/cases.h"
#include "core/train/self_test/self_test.h"

namespace weft::train {
namespace {

constexpr std::uint64_t kSeed = 20;

/// What is wrong with results of an op; empty: nothing.
std::string wrong_results(const ir::Op& op, const std::vector<exec::Tensor>& results,
                          exec::Interpreter& right) {
    for (std::size_t i = 0; i < results.size(); ++i) {
        const Difference found =
            difference(results[i], right.at(0, op.outputs[i]), op.attributes.has("operands"));
        if (!found.ok()) {
            return (results.size() > 1 ? "result " + std::to_string(i) + ", " : "") +
                   to_text(found);
        }
    }
    return {};
}

/// Each op gets right inputs, so that the wrong one is named and not those after it.
std::string try_case(const SelfTestCase& one, exec::OpTrial& device) {
    const ir::Program& program = one.program;
    exec::Interpreter right(program, {});
    for (const ir::Port& port : program.arguments) {
        right.at(0, port.value) = case_argument(program, port, kSeed);
    }
    for (const ir::Op& op : program.body.ops) {
        right.run(op);
        std::vector<const exec::Tensor*> inputs;
        for (const ir::ValueId input : op.inputs) {
            inputs.push_back(&right.at(0, input));
        }
        const exec::Tried tried = device.run(program, op, inputs);
        const std::string named = one.name + ", " + op.kind.text() + " by '" + tried.kernel + "'";
        std::string wrong = wrong_results(op, tried.queued, right);
        if (!wrong.empty()) {
            return named + ": " + wrong;
        }
        wrong = wrong_results(op, tried.replayed, right);
        if (!wrong.empty()) {
            return named + ", played back from a graph: " + wrong;
        }
    }
    return {};
}

} // namespace

SelfTestResult test_ops(const exec::Compute& compute, int place, double patience_s) {
    const SystemClock clock;
    const double start_s = clock.steady_s();
    SelfTestResult out;
    exec::OpTrial device(compute, place, patience_s);
    for (const SelfTestCase& one : self_test_cases()) {
        try {
            out.failure = try_case(one, device);
        } catch (const Error& fault) {
            if (!one.everywhere && fault.kind() == ErrorKind::runtime) {
                continue; // no kernel, and no plan will have it either
            }
            throw Error(fault.kind(), "self-test, " + one.name + ", " + fault.where(), fault.text(),
                        fault.hint());
        }
        ++out.cases;
        if (!out.failure.empty()) {
            break;
        }
    }
    out.passed = out.failure.empty();
    out.seconds = clock.steady_s() - start_s;
    return out;
}

} // namespace weft::train
