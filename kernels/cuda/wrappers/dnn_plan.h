// SPDX-License-Identifier: Apache-2.0
// Plans of cuDNN's graphs: parts of a graph, the GPU that a plan is for, and the choice of a plan.
// No GPU takes part in planning: one that is described in words does as well as the present one.
#pragma once

#include "kernels/cuda/wrappers/dnn.h"
#include "kernels/op.h"

#include <cudnn.h>

#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>

namespace weft::kernels::cuda {

/// Throws Failure with what cuDNN says.
void check_dnn(cudnnStatus_t status, const char* what);

/// Owns one of the library's descriptors.
class DnnPart {
public:
    explicit DnnPart(cudnnBackendDescriptorType_t type);
    DnnPart(DnnPart&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    DnnPart& operator=(DnnPart&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~DnnPart();

    cudnnBackendDescriptor_t handle() const { return handle_; }

    // Throw Failure. A part is used by others once it is finished.
    DnnPart& set(cudnnBackendAttributeName_t name, const DnnPart& value);
    DnnPart& set(cudnnBackendAttributeName_t name, std::span<const DnnPart> values);
    DnnPart& set(cudnnBackendAttributeName_t name, std::int64_t value);
    DnnPart& set(cudnnBackendAttributeName_t name, std::span<const std::int64_t> values);
    DnnPart& set(cudnnBackendAttributeName_t name, std::span<void* const> values);
    DnnPart& set(cudnnBackendAttributeName_t name, std::string_view value);
    DnnPart& set(cudnnBackendAttributeName_t name, bool value);
    DnnPart& set(cudnnBackendAttributeName_t name, float value);
    DnnPart& set(cudnnBackendAttributeName_t name, cudnnDataType_t value);
    DnnPart& set(cudnnBackendAttributeName_t name, cudnnConvolutionMode_t value);
    DnnPart& set(cudnnBackendAttributeName_t name, cudnnPointwiseMode_t value);
    DnnPart& set(cudnnBackendAttributeName_t name, cudnnReduceTensorOp_t value);
    DnnPart& set(cudnnBackendAttributeName_t name, cudnnBackendHeurMode_t value);
    DnnPart finished() &&;

private:
    DnnPart& set_all(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                     std::size_t count, const void* values);

    cudnnBackendDescriptor_t handle_ = nullptr;
};

cudnnDataType_t dnn_type(std::int32_t dtype);

/// Where the elements of an array are.
enum class DnnPlace {
    device,
    host,   // one number that a run hands over
    nowhere // within the plan
};

/// `number` names the array in a run.
DnnPart dnn_array(std::int64_t number, cudnnDataType_t type, std::span<const std::int64_t> dims,
                  std::span<const std::int64_t> strides, DnnPlace place = DnnPlace::device);

/// The GPU that plans are made for.
class DnnDevice {
public:
    /// The calling thread's.
    static const DnnDevice& present();
    /// One that cuDNN has described in JSON, here or elsewhere.
    explicit DnnDevice(std::string_view description);
    const DnnPart& part() const { return part_; }

private:
    explicit DnnDevice(int number);
    DnnPart part_;
};

struct DnnPlan {
    DnnPart config, plan;
    std::int64_t workspace_bytes;
};

/// What the library would rather do first, of what gives equal bits run after run, keeps f32 sums
/// in f32, refuses none of `refused` and needs at most so much workspace. Throws Failure:
/// UNSUPPORTED where there is none.
DnnPlan choose_plan(const DnnPart& graph, const DnnDevice& device,
                    std::initializer_list<cudnnBackendNumericalNote_t> refused,
                    std::int64_t most_workspace);

/// What `plan` makes for the calling thread's GPU. Making it may take the library a second, and
/// query is followed by prepare, so that plans are kept as long as the process, each by all that it
/// hangs on but the GPU.
std::shared_ptr<const DnnPlan> kept_plan(const std::vector<std::int64_t>& key,
                                         const std::function<DnnPlan(const DnnDevice&)>& plan);

/// Arrays 0 and 1 are the operands, 2 is the result. Throws Failure.
DnnPlan plan_convolution(const ConvolutionShape& shape, const DnnDevice& device);

// Which array of a run is which, dnn_attention.cpp says. Throw Failure.
DnnPlan plan_attention(const PlannedAttentionShape& shape, const DnnDevice& device);
DnnPlan plan_attention_grad(const PlannedAttentionShape& shape, const DnnDevice& device);

/// Runs a plan on the calling thread's GPU. Keeps what it told the library of the last run's
/// arrays, which are mostly those of the next.
class DnnExecution {
public:
    explicit DnnExecution(std::shared_ptr<const DnnPlan> plan);
    std::int64_t workspace_bytes() const { return plan_->workspace_bytes; }
    /// `arrays` by their numbers, from 0. Throws Failure.
    void run(weft_stream* stream, std::span<void* const> arrays, void* workspace);

private:
    std::shared_ptr<const DnnPlan> plan_;
    std::vector<std::int64_t> numbers_;
    std::vector<void*> told_; // with the workspace last
    std::optional<DnnPart> pack_;
};

} // namespace weft::kernels::cuda
