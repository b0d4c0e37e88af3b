// SPDX-License-Identifier: Apache-2.0
#include "core/exec/trial/op_trial.h"

#include "core/exec/open_device.h"
#include "core/exec/trial/trial_watch.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace weft::exec {
namespace {

constexpr std::int64_t kAddressUnit = 256;

std::int64_t rounded_up(std::int64_t bytes) {
    return (bytes + kAddressUnit - 1) / kAddressUnit * kAddressUnit;
}

/// Where the operands of one op lie in an arena.
struct OperandPlaces {
    std::vector<std::int64_t> inputs, outputs;
    std::int64_t workspace = 0;
    std::int64_t workspace_bytes = 0;
    std::int64_t end = 0;

    OperandPlaces(const ir::Program& program, const ir::Op& op, std::int64_t scratch_bytes)
        : workspace_bytes(scratch_bytes) {
        const auto place = [&](std::int64_t bytes) {
            return std::exchange(end, end + rounded_up(bytes));
        };
        for (const ir::ValueId input : op.inputs) {
            inputs.push_back(place(program.type(input).bytes()));
        }
        for (const ir::ValueId output : op.outputs) {
            outputs.push_back(place(program.type(output).bytes()));
        }
        workspace = place(scratch_bytes);
    }
};

void upload_bytes(OpenDevice& device, std::int64_t offset, std::span<const std::byte> bytes) {
    if (bytes.empty()) {
        return;
    }
    const std::span<std::byte> staged = device.staging(std::ssize(bytes));
    std::copy(bytes.begin(), bytes.end(), staged.begin());
    device.upload(offset, staged);
    device.recycle(staged);
}

void upload_poison(OpenDevice& device, std::int64_t offset, std::int64_t bytes) {
    upload_bytes(device, offset,
                 std::vector<std::byte>(static_cast<std::size_t>(bytes), std::byte{0xff}));
}

std::vector<std::byte> download_bytes(OpenDevice& device, std::int64_t offset, std::int64_t bytes) {
    const std::span<std::byte> staged = device.staging(bytes);
    device.download(staged, offset);
    std::vector<std::byte> out(staged.begin(), staged.end());
    device.recycle(staged);
    return out;
}

/// A call of a kernel on operands in an arena.
class Trial {
public:
    Trial(const Compute& compute, int place, const ir::Program& program, const ir::Op& op,
          std::span<const Tensor* const> inputs, const Kernel& kernel, TrialWatch& watch)
        : program_(program), op_(op), inputs_(inputs), kernel_(kernel),
          places_(program, op, kernel.workspace_bytes()), device_(compute, place, places_.end) {
        device_.take(places_.end);
        device_.set_watch(&watch);
        for (const std::int64_t offset : places_.inputs) {
            in_.push_back(device_.data() + offset);
        }
        for (const std::int64_t offset : places_.outputs) {
            out_.push_back(device_.data() + offset);
        }
    }

    std::vector<Tensor> run_queued() {
        fill();
        queue();
        return results();
    }

    std::vector<Tensor> run_replayed() {
        fill();
        device_.finish();
        const weft_platform& platform = device_.platform();
        weft_graph* graph = nullptr;
        device_.check(platform.begin_graph(device_.computation()), "beginning a graph");
        try {
            queue();
        } catch (...) {
            platform.end_graph(device_.computation(), &graph);
            platform.drop_graph(graph);
            throw;
        }
        device_.check(platform.end_graph(device_.computation(), &graph), "making a graph");
        const std::unique_ptr<weft_graph, void (*)(weft_graph*)> owned(graph, platform.drop_graph);
        device_.check(platform.replay(graph, device_.computation()), "playing a graph");
        return results();
    }

private:
    void fill() {
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            upload_bytes(device_, places_.inputs[i], inputs_[i]->data);
        }
        for (std::size_t i = 0; i < places_.outputs.size(); ++i) {
            upload_poison(device_, places_.outputs[i], program_.type(op_.outputs[i]).bytes());
        }
        upload_poison(device_, places_.workspace, places_.workspace_bytes);
    }

    void queue() {
        kernel_.run(in_.data(), out_.data(), device_.data() + places_.workspace,
                    device_.computation());
    }

    std::vector<Tensor> results() {
        std::vector<Tensor> out;
        for (std::size_t i = 0; i < places_.outputs.size(); ++i) {
            Tensor& one = out.emplace_back(program_.type(op_.outputs[i]));
            one.data = download_bytes(device_, places_.outputs[i], one.type.bytes());
        }
        return out;
    }

    const ir::Program& program_;
    const ir::Op& op_;
    std::span<const Tensor* const> inputs_;
    const Kernel& kernel_;
    const OperandPlaces places_;
    OpenDevice device_;
    std::vector<const void*> in_;
    std::vector<void*> out_;
};

} // namespace

OpTrial::OpTrial(const Compute& compute, int place, double patience_s)
    : compute_(compute), place_(place), patience_s_(patience_s),
      entered_(std::make_unique<OpenDevice>(compute, place, kAddressUnit)) {}

OpTrial::~OpTrial() = default;

Tried OpTrial::run(const ir::Program& program, const ir::Op& op,
                   std::span<const Tensor* const> inputs) {
    entered_->enter();
    const KernelDesc call(program, op);
    const Kernel kernel(call, choose_backend(call, compute_.backends));
    TrialWatch watch(kernel.name(), patience_s_);
    try {
        Trial trial(compute_, place_, program, op, inputs, kernel, watch);
        Tried out{kernel.name(), trial.run_queued(), {}};
        out.replayed = trial.run_replayed();
        return out;
    } catch (const Error&) {
        if (watch.gave_up()) {
            abandon(std::move(entered_));
        }
        throw;
    }
}

} // namespace weft::exec
